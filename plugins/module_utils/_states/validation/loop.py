# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Watch, walk, ask, write, until every state on every node has a final result.

One thread: watch events and answers make nodes dirty, dirty nodes are walked, what they ask for and
the patches that they need go out in parallel batches. A node that nothing happened to costs
nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Protocol

from ..._cluster.api_client.api_errors import NotFound
from ..._cluster.api_client.client import Client
from ..._cluster.api_client.watch import WatchHub
from ..._nodes.facts import NodeFacts
from ..._nodes.grouping import Grouping
from ..._proofs.catalog import KINDS
from ..._proofs.kinds.workload import QUEUED, SAMPLED, UNSEEN_S
from ..._proofs.queries import Query, RemovePod, StartPod
from ..._proofs.snapshot import ClusterSnapshot
from ..._verdicts.verdict import Outcome, Verdict
from ..on_nodes.strays import Strays
from . import node_marks
from .answers import Answers
from .label_writer import LabelWriter
from .mirror import ClusterMirror
from .node_marks import NodeFindings, NodeMarks
from .phases import BROKEN, Phase, Result, StatePlan
from .progress import Progress
from .walk import Walker, WalkSettings

TICK_S = 0.25
SETTLED_ROUNDS = 4
REFUSED_AGAIN_S = 5.0
CLUSTER = ""


@dataclass(frozen=True)
class _Refusal:
    """The API server does not take a node's labels: since when, and when they are sent again."""

    since: float
    again_at: float


@dataclass(frozen=True)
class ProofScope:
    """What is proven, and where.

    members: which nodes are the recipe's. grouping: by what they are told apart. complete: plans are
    all states of the recipe.
    """

    plans: Sequence[StatePlan]
    members: Strays
    settings: WalkSettings
    grouping: Grouping
    complete: bool


@dataclass(frozen=True)
class WriteAccess:
    """What a run may do to the cluster.

    allowed: start pods and set marks; without it the run only looks. guard: keeps the run's lock
    where it is held, before_write takes it. withdraw: whether the gates of a node that is broken go.
    """

    allowed: bool
    guard: Callable[[], None]
    before_write: Callable[[], None]
    withdraw: Callable[[str], bool]


class ChangeHook(Protocol):
    """What changes the cluster while its nodes are walked, by what was found so far."""

    def announce(self, walker: Walker) -> None:
        """Before the first look: tell the walker what it cannot see."""

    def act(self, walker: Walker) -> Set[str]:
        """Do what is due; returns the nodes that have to be looked at again for it."""

    def marks_of(self, node: NodeFacts, before: NodeMarks) -> NodeMarks:
        """What a node is to carry that the walker is told to hold."""

    def is_over(self) -> bool | None:
        """Whether the run may end, None where that is for the results to say."""


class Loop:
    """One validation run. hook: None where nothing is to be changed meanwhile."""

    def __init__(
        self,
        client: Client,
        scope: ProofScope,
        access: WriteAccess,
        answers: Answers,
        writer: LabelWriter,
        progress: Progress,
        clock: Callable[[], float],
    ) -> None:
        self.client = client
        self.scope = scope
        self.access = access
        self.answers = answers
        self.writer = writer
        self.progress = progress
        self.clock = clock
        self.hook: ChangeHook | None = None
        self.snapshot = ClusterSnapshot()
        plans, settings = scope.plans, scope.settings
        self.mirror = ClusterMirror(
            client,
            self.snapshot,
            plans,
            scope.members,
            settings.recipe,
            settings.namespace,
            scope.grouping,
        )
        self.walker = Walker(plans, settings, self.snapshot, clock())
        self._due: dict[str, float] = {}
        self._refusals: dict[str, _Refusal] = {}
        self._first_summaries: dict[str, str | None] = {}
        self._started: dict[StartPod, float] = {}
        self._waiting: dict[str, set[tuple[str, str]]] = {QUEUED: set(), SAMPLED: set()}
        self._cluster_plans = [plan for plan in plans if not plan.per_node]
        self._node_plans = [plan for plan in plans if plan.per_node]

    @property
    def results(self) -> Mapping[tuple[str, str], Result]:
        """The result of each (node, state); the node is "" for a state of the cluster."""
        return self.walker.results

    @property
    def left(self) -> list[str]:
        """The nodes that were there when the run began, or came during it, and are not at its end."""
        return self.mirror.left

    def changed_summaries(self) -> Iterator[tuple[NodeFacts, str | None, str | None]]:
        """The nodes whose summary label this run has changed, with its value before and after; but for
        those where somebody had taken it off, which tells nothing of the node."""
        for name, before in self._first_summaries.items():
            node = self.snapshot.nodes.get(name)
            after = self.writer.summary_of(node) if node else before
            put_back = (before, after) == (None, node_marks.READY) and self._lacks_no_proof(name)
            if node and after != before and not put_back:
                yield node, before, after

    def _lacks_no_proof(self, name: str) -> bool:
        """Whether all proofs of a node were noted there before this run."""
        written = self.writer.changed.get(name, {"metadata": {}})["metadata"]
        return any(plan.proofs for plan in self._node_plans) and "annotations" not in written

    def check_quickly(self, nodes: Sequence[NodeFacts]) -> bool:
        """The quick look, by nodes and the workloads' own counts: whether everything is ready, so
        nothing is left."""
        self.mirror.take_nodes(nodes)
        self.mirror.list_workloads()
        self.mirror.read_feeds()
        queries = self._walk({CLUSTER, *self.snapshot.nodes})
        if any(not _writes(query) for query in queries):
            self._walk(self._answer(queries))
        settled = all(result.phase is Phase.READY for result in self.results.values())
        if settled:
            self._write_marks(final=lambda _name: True)
        return settled and not self.walker.unmarked

    def run(self, *, wait: bool) -> None:
        """Watch until every result is final; without wait, until everything has been looked at."""
        self.walker.memory.clear()
        self.walker.results.clear()
        hub = WatchHub(self.client)
        try:
            self.mirror.watch(hub)
            if self.hook:
                self.hook.announce(self.walker)
            dirty = {CLUSTER, *self.snapshot.nodes}
            settled = 0
            while True:
                self._forget_departed()
                queries = self._walk(dirty)
                self._write_marks(self._node_is_final)
                dirty = self._answer(queries)
                if self.hook:
                    dirty |= self.hook.act(self.walker)
                settled = settled + 1 if wait and self._is_over() else 0
                # What is final may still be asked about, such as a last log line, but not for ever.
                if settled >= SETTLED_ROUNDS or (not dirty and (settled or not wait)):
                    break
                if self.access.allowed:
                    self.access.guard()
                self.progress.show(self.scope.plans, self.results, self.clock(), self.left)
                dirty |= self.mirror.take_events(hub, 0.0 if dirty else TICK_S)
                self._forget_seen()
                dirty |= self._overdue() | {CLUSTER}
            self.progress.close(self.scope.plans, self.results, self.clock(), self.left)
            self._write_marks(final=lambda _name: True, last=True)
        finally:
            hub.close()

    def _walk(self, dirty: set[str]) -> dict[Query, set[str]]:
        """Look at dirty nodes; returns what they ask, with who asked."""
        now = self.clock()
        queries: dict[Query, set[str]] = defaultdict(set)
        slots = self._slots()
        self.walker.slots = slots
        # Who asked, or was due, may have left since.
        names = sorted(dirty & {CLUSTER, *self.snapshot.nodes})
        if CLUSTER in dirty and len(dirty) > 1:
            # Nodes may stand on the cluster's states, and these on what nodes have: once more, by
            # what is known now.
            names.append(CLUSTER)
        for name in names:
            if name == CLUSTER:
                walks = [self.walker.walk_cluster(plan, now) for plan in self._cluster_plans]
            else:
                walks = [self._walk_node(name, now)]
            self._due.pop(name, None)
            for walk in walks:
                if walk.again_at is not None:
                    self._due[name] = min(walk.again_at, self._due.get(name, walk.again_at))
                for query in walk.wants:
                    if isinstance(query, StartPod):
                        slots[query.state] -= 1
                    queries[query].add(name)
        return queries

    def _walk_node(self, name: str, now: float) -> Any:
        node, group = self.snapshot.nodes[name], self.snapshot.groups[name]
        self.writer.seen(node)
        before = self.writer.marks_of(node)
        if name in self.walker.unmarked and self._refusals[name].again_at <= now:
            del self.walker.unmarked[name]
        walk = self.walker.walk(node, group, before.proofs, frozenset(before.gates), now)
        self._note_waits(name)
        if name in self.walker.unmarked:
            return walk
        if self.hook and name in self.walker.held:
            self.writer.want(name, before, self.hook.marks_of(node, before))
            return walk
        results = {plan.name: self.results[(name, plan.name)] for plan in self._node_plans}
        broken = any(result.phase in BROKEN for result in results.values())
        found = NodeFindings(
            node,
            results,
            now=now,
            withdraw=broken and self.access.withdraw(name),
            first_summary=self._first_summaries.setdefault(name, before.summary),
        )
        complete = self.scope.complete
        after = node_marks.wanted(before, self._node_plans, found, complete=complete)
        after.facts = self.scope.grouping.facts_of(node)
        self.writer.want(name, before, after)
        if complete and all(r.phase is Phase.READY for r in results.values()):
            self.writer.open(node)
        return walk

    def _note_waits(self, name: str) -> None:
        """For what a node waits that others decide, by what was remembered of the look at it."""
        for plan in self._node_plans:
            key = name, plan.name
            for reason, waiting in self._waiting.items():
                if self.walker.memory[key].waits == reason:
                    waiting.add(key)
                else:
                    waiting.discard(key)

    def _slots(self) -> dict[str, int]:
        """How many more validation pods each state may run at once."""
        slots = {}
        for plan in self._node_plans:
            pods = [KINDS[proof.kind].pod_of(proof) for proof in plan.proofs]
            limits = [pod.at_once(len(self.snapshot.nodes)) for pod in pods if pod]
            if limits:
                running = self.snapshot.running_validators(plan.name) + self._unseen(plan.name)
                slots[plan.name] = min(limits) - running
        return slots

    def _unseen(self, state: str) -> int:
        """Validation pods that were started and whose event has not come yet."""
        recent, nodes = self.clock() - UNSEEN_S, self.snapshot.nodes
        return sum(
            query.state == state and at > recent and query.node in nodes
            for query, at in self._started.items()
        )

    def _forget_seen(self) -> None:
        """A validation pod that was seen is made again at once should it go."""
        for query in [query for query in self._started if query.name in self.snapshot.validators]:
            del self._started[query]
            self.snapshot.answers.pop(query, None)

    def _answer(self, queries: Mapping[Query, set[str]]) -> set[str]:
        """Do what is asked; returns who asked, since they have to be looked at again."""
        allowed = {
            query: who
            for query, who in queries.items()
            if self.access.allowed or not _writes(query)
        }
        if not allowed:
            return set()
        if any(_writes(query) for query in allowed):
            self.access.before_write()
        answers = self.snapshot.answers
        for query, answer in self.answers.fetch(list(allowed), self.clock).items():
            answers[query] = answer.after(answers.get(query))
            if isinstance(query, StartPod) and not answer.error:
                self._started[query] = answer.at
        return set().union(*allowed.values()) & {CLUSTER, *self.snapshot.nodes}

    def _overdue(self) -> set[str]:
        """Nodes whose time has come, those of whose group another one was found for them, and as many of
        those that wait for a free place as there are."""
        now = self.clock()
        due = {name for name, moment in self._due.items() if moment <= now}
        if sampled := self._waiting[SAMPLED]:
            groups, others = self.snapshot.groups, self.walker.take_other_siblings()
            due.update(name for name, state in sampled if (state, groups.get(name)) in others)
        queued = self._waiting[QUEUED]
        places = self._slots() if queued else {}
        for name, state in sorted(queued):
            if places.get(state, 0) > 0:
                places[state] -= 1
                due.add(name)
        return due & {CLUSTER, *self.snapshot.nodes}

    def _write_marks(self, final: Callable[[str], bool], *, last: bool = False) -> None:
        """Send the marks that are due. What is refused for a node is that node's result; last: with
        one more try."""
        if last:
            again = set(self.walker.unmarked)
            self.walker.unmarked.clear()
            self._walk(again)
        now = self.clock()
        refused = self.writer.flush(final)
        for name in self._refusals.keys() - self.walker.unmarked.keys() - refused.keys():
            del self._refusals[name]
        for name, error in refused.items():
            if isinstance(error, NotFound):
                self.mirror.forget(name)
                continue
            since = self._refusals[name].since if name in self._refusals else now
            self._refusals[name] = _Refusal(since, now + REFUSED_AGAIN_S)
            self.walker.unmarked[name] = Verdict(
                Outcome.BLOCKED, "LabelsRefused", str(error), since, heals=not last
            )
        self._forget_departed()
        self._walk(set(refused))
        for name in refused.keys() & self._refusals.keys():
            self._due[name] = self._refusals[name].again_at

    def _forget_departed(self) -> None:
        for name in self.mirror.take_departed():
            self.walker.forget(name)
            self.writer.forget(name)
            for known in (self._due, self._refusals, self._first_summaries):
                known.pop(name, None)
            for waiting in self._waiting.values():
                waiting -= {(name, plan.name) for plan in self._node_plans}

    def _node_is_final(self, name: str) -> bool:
        return all(self.results[(name, plan.name)].final for plan in self._node_plans)

    def _is_over(self) -> bool:
        over = self.hook.is_over() if self.hook else None
        return all(result.final for result in self.results.values()) if over is None else over


def _writes(query: Query) -> bool:
    return isinstance(query, (StartPod, RemovePod))
