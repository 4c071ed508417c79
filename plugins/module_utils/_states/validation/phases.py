# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of validation: phases, results, and what is known of one state before nodes are looked
at."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache

from ..._cluster.api_objects.objects import ObjectKey
from ..._nodes.facts import NodeFacts
from ..._nodes.groups import NodeGroup
from ..._nodes.node_affinity import NodeAffinity
from ..._proofs.proof import Proof
from ..._verdicts.verdict import Verdict


class Phase(str, Enum):
    """The result of one state on one node (or on the cluster).

    FAILED and DEGRADED (which was proven before) have a cause of their own, BLOCKED stands on a
    state that has one. VANISHED: the node has lost the labels of the hardware, and nothing of what
    it had is given up yet. STARTING, LEAVING: it does not hold on a node that a controller, and not
    a run, still brings up, or takes away: no failure.
    """

    READY = "ready"
    WAITING = "waiting"
    BLOCKED = "blocked"
    DEGRADED = "degraded"
    FAILED = "failed"
    UNKNOWN = "unknown"
    VANISHED = "vanished"
    STARTING = "starting"
    LEAVING = "leaving"


# What will not become ready in this run, for a reason that is known.
BROKEN = frozenset((Phase.FAILED, Phase.DEGRADED, Phase.BLOCKED))
# What says nothing for or against a state: its marks stay as they are.
UNTOLD = frozenset((Phase.UNKNOWN, Phase.VANISHED, Phase.STARTING, Phase.LEAVING))


# The nodes of a group have the same subjects, mostly.
@lru_cache(maxsize=1024)
def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class PlannedGroups:
    """What of a state differs between groups of nodes, by the ids of the finest ones.

    hashes: of what is rendered for a group ("" for a state of the cluster). daemonsets: those whose
    pods serve its nodes ("": every node). proofs: the indices of those that count there; all where
    a group is not named. own: the id of the state's own group that it is a part of. off: where the
    state is disabled. without_image: why it has no image. affinities: of DaemonSets whose authors want
    them on some of these nodes only.
    """

    hashes: Mapping[str, str] = field(default_factory=dict)
    daemonsets: Mapping[str, tuple[ObjectKey, ...]] = field(default_factory=dict)
    proofs: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
    off: frozenset[str] = frozenset()
    without_image: Mapping[str, str] = field(default_factory=dict)
    affinities: Mapping[ObjectKey, NodeAffinity] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class StatePlan:
    """One state as validation sees it.

    requires lists the states that must be ready before, disabled ones resolved away. timeout: in
    seconds. workloads are Deployments, StatefulSets and Jobs, which serve no node. gated: another
    state's pods wait for this state's node label. unlocks: that label is what pods that the cluster
    itself starts wait for, so it is worth a write of its own. per_node: it is looked at on each
    node, else on the cluster. rows: the groups that a person reads about, the state's own, or
    kernels for a state of the cluster. left_out: why nothing of it can be deployed although another
    state requires it ("": something can be).
    """

    name: str
    requires: tuple[str, ...]
    proofs: tuple[Proof, ...]
    timeout: float
    groups: PlannedGroups
    workloads: tuple[ObjectKey, ...]
    gated: bool
    unlocks: bool
    per_node: bool
    left_out: str = ""
    rows: tuple[NodeGroup, ...] = ()

    def proofs_for(self, group: str) -> list[tuple[int, Proof]]:
        """The proofs that count on a node of this group, with their index among all."""
        counted = self.groups.proofs.get(group, range(len(self.proofs)))
        return [(index, self.proofs[index]) for index in counted]

    def own_group(self, group: str) -> str:
        """The id of the state's own group of which a finest one is a part."""
        return self.groups.own.get(group, group)

    def why_no_image(self, group: str) -> str | None:
        """Why no image was found or built for the nodes of this group; None where there is one, or
        none is needed."""
        return self.groups.without_image.get(group)

    def subject(self, group: str, proven: Mapping[str, str]) -> str:
        """What a proof on a node of this group is about: what is deployed, and on top of what it
        was proven.

        proven maps states to the subjects of their own proofs on that node. So a new driver has to
        be validated again, although nothing of its validation has changed.
        """
        own = self.groups.hashes.get(group) or self.groups.hashes.get("", "")
        if not self.requires:
            return own
        return _digest("|".join([own, *(proven.get(required, "") for required in self.requires)]))

    @property
    def pod_owners(self) -> set[ObjectKey]:
        """All its DaemonSets and workloads, whatever they serve."""
        return {*self.workloads, *(key for keys in self.groups.daemonsets.values() for key in keys)}

    def daemonsets_for(self, group: str) -> tuple[ObjectKey, ...]:
        """The DaemonSets that should have a pod on a node of this group."""
        if group in self.groups.off:
            return ()
        everywhere = self.groups.daemonsets.get("", ())
        return self.groups.daemonsets.get(group, ()) + everywhere if group else everywhere

    def is_wanted(self, daemonset: ObjectKey, node: NodeFacts) -> bool:
        """Whether the author of a DaemonSet wants it on a node. While NFD's labels are those of
        another kernel, they say nothing of that."""
        affinity = self.groups.affinities.get(daemonset)
        return (
            affinity is None or node.system.in_transition or affinity.takes(node.labels, node.name)
        )

    def why_unwanted(self, daemonset: ObjectKey, node: NodeFacts) -> str:
        """Why the author of a DaemonSet does not want it on a node, in words; "" where they do."""
        if self.is_wanted(daemonset, node):
            return ""
        return self.groups.affinities[daemonset].why_not(node.labels, node.name)

    def serves(self, group: str, node: NodeFacts) -> bool:
        """Whether there is something of the state on a node of this group: all of its DaemonSets may
        be for others."""
        daemonsets = self.daemonsets_for(group) if self.groups.affinities else ()
        return not daemonsets or any(self.is_wanted(key, node) for key in daemonsets)


@dataclass(frozen=True)
class Result:
    """One state on one node: since and the texts are what a person reads in the table.

    cause: the state in which the reason lies, "" where that is this one. subject is what a proof
    has to be about now, holds whether the node's proof of before still is. unwanted: ready, since
    nothing of the state is wanted on the node: nothing was proven.
    """

    state: str
    phase: Phase
    reason: str = ""
    message: str = ""
    cause: str = ""
    since: float = 0.0
    final: bool = False
    proven: bool = False
    restart_pending: bool = False
    subject: str = ""
    holds: bool = False
    unwanted: bool = False

    @property
    def root(self) -> str:
        """The state that has to be mended for this one to become ready."""
        return self.cause or self.state


@dataclass(frozen=True)
class ProofRecord:
    """A validation that passed, as kept in the node's annotation. hash is its subject (see
    StatePlan)."""

    hash: str
    kernel: str
    boot: str
    time: str

    def holds(self, wanted: str, kernel: str, boot: str) -> bool:
        """Whether this proof is still about what is deployed, on this kernel, since this boot."""
        return (self.hash, self.kernel, self.boot) == (wanted, kernel, boot)


@dataclass
class Memory:
    """What validation remembers of one state on one node between two looks, in seconds since the
    epoch.

    outlasted: whether the trouble has lasted longer than failure_grace. waits: the reason of the last
    look, also where the result goes on telling of a trouble. on_the_way_since: since when it does
    not hold on a node that starts or leaves.
    """

    runnable_since: float | None = None
    trouble_since: float | None = None
    trouble: Verdict | None = None
    outlasted: bool = False
    reason: str = ""
    reason_since: float = 0.0
    proven: bool = False
    waits: str = ""
    on_the_way_since: float | None = None

    def forget_trouble(self) -> None:
        """The next trouble has all of failure_grace to pass again."""
        self.trouble = self.trouble_since = None
        self.outlasted = False
