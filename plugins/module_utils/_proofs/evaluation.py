# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a proof may look at, and how it asks for more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from .._cluster.api_objects.objects import ObjectKey
from .._nodes.facts import NodeFacts
from .._nodes.taint_ownership import ControllerTaint
from .feeds import Feed, Watched
from .queries import Query, QueryResult
from .snapshot import ClusterSnapshot

S = TypeVar("S")

REFUSED_MAX_AGE_S = 5.0


class PlannedState(Protocol):
    """What is known of a proof's state before nodes are looked at (StatePlan of
    _states/validation/phases.py is one)."""

    @property
    def name(self) -> str: ...

    @property
    def workloads(self) -> tuple[ObjectKey, ...]: ...

    def why_no_image(self, group: str) -> str | None: ...

    def daemonsets_for(self, group: str) -> tuple[ObjectKey, ...]: ...

    def is_wanted(self, daemonset: ObjectKey, node: NodeFacts) -> bool: ...

    def why_unwanted(self, daemonset: ObjectKey, node: NodeFacts) -> str: ...


@dataclass(frozen=True)
class Siblings:
    """The nodes that prove a state for all of their group: the first so many of those on which it may
    be proven, the proven ones before others; whether it is, on any; those of them on which it will
    not be proven in this run."""

    names: tuple[str, ...] = ()
    proven: bool = False
    given_up: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ProofTarget:
    """What a proof is about: a node, or the cluster where node is None. group: the finest that the
    node is of. subject: what is deployed there, and on top of what. runnable_since: when the
    state's requirements began to hold, in seconds since the epoch."""

    node: NodeFacts | None
    group: str
    subject: str
    runnable_since: float

    @property
    def name(self) -> str:
        """The node's, "" for the cluster."""
        return self.node.name if self.node else ""


@dataclass(frozen=True)
class ProofView:
    """What all proofs see that are evaluated at one moment. namespace: the recipe's. started: when
    the run began, now: this moment, in seconds since the epoch. slots: how many more validation pods
    each state may run. controller_taints: which are not for a person to take off. acts: what proofs
    want to have done is done, and they are looked at again; without it this is a look alone. by_nodes:
    whether nodes set their gates themselves."""

    snapshot: ClusterSnapshot
    namespace: str
    started: float
    now: float
    slots: Mapping[str, int]
    controller_taints: Sequence[ControllerTaint] = ()
    acts: bool = True
    by_nodes: bool = False


@dataclass
class Observation(Generic[S]):
    """One look at one proof of a state, the one of that index.

    settings are the kind's own, from the recipe. wants collects the questions, again_at the next
    moment (seconds since the epoch) at which looking again may help.
    """

    plan: PlannedState
    index: int
    settings: S
    target: ProofTarget
    view: ProofView
    siblings: Callable[[int], Siblings] = lambda _count: Siblings()
    wants: list[Query] = field(default_factory=list, init=False)
    again_at: float | None = field(default=None, init=False)

    @property
    def node(self) -> NodeFacts:
        """The node, of a proof that is about nodes: others have none to ask for."""
        if self.target.node is None:
            raise LookupError(f"a proof of state {self.plan.name} is about the cluster")
        return self.target.node

    @property
    def snapshot(self) -> ClusterSnapshot:
        """What is known of the cluster."""
        return self.view.snapshot

    @property
    def now(self) -> float:
        """This moment, in seconds since the epoch."""
        return self.view.now

    def query(self, question: Query, max_age: float | None = None) -> QueryResult | None:
        """The last answer, or None where there is none yet. The question goes out where there is
        none, and again where the answer is older than max_age (seconds), or a while after it was
        refused; until the next one comes, the last one stays valid."""
        answer = self.snapshot.answers.get(question)
        if answer is not None and answer.error:
            max_age = min(max_age or REFUSED_MAX_AGE_S, REFUSED_MAX_AGE_S)
        if answer is not None and max_age is not None:
            self.wake_at(answer.at + max_age)
        if answer is None or (max_age is not None and self.now - answer.at >= max_age):
            self.wants.append(question)
        return answer

    def watched(self, what: Watched) -> Feed:
        """What is known of objects that the kind of proof declares to watch."""
        return self.snapshot.feed(what).read_by(what.name, self.target.name)

    def wake_at(self, moment: float) -> None:
        """Ask for another look at the latest then, even if nothing in the cluster changes."""
        self.again_at = moment if self.again_at is None else min(self.again_at, moment)
