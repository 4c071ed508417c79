# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Walk one node through the states, in the order of their requirements. Pure.

A state behind one that is not ready is blocked by it, and stale if it once held there. One whose
requirements are ready is proven, kind by kind, by what the snapshot says now; a proof of before holds
while hash, kernel and boot are the same. What is not proven waits until its time is up, and a failure
counts when it has lasted. A walk asks nothing itself: it returns the results of a node, and the
queries that others send before they walk it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..._cluster.api_objects.labels import AGENT_CONFIGURATION, fact_label
from ..._nodes.facts import NodeFacts
from ..._nodes.groups import odd_fact
from ..._nodes.taint_ownership import (
    CONTROLLER_TAINTS,
    ControllerTaint,
    NodeTransition,
    transition_of,
)
from ..._proofs.catalog import KINDS
from ..._proofs.declaration import Scope
from ..._proofs.evaluation import Observation, ProofTarget, ProofView, Siblings
from ..._proofs.kinds.rollout import RESTART_PENDING
from ..._proofs.proof import Proof
from ..._proofs.snapshot import ClusterSnapshot
from ..._verdicts.verdict import PASSED, Outcome, Verdict
from ..staging import ProvenOn
from .phases import BROKEN, UNTOLD, Memory, Phase, ProofRecord, Result, StatePlan
from .record_memory import NOTHING_BEFORE, RecordMemory
from .verdict_results import result_of, result_on_the_way
from .walk_step import Walk, WalkStep

NOT_READY = "NodeNotReady"
RESTART_TEXT = "the driver changed; its pod keeps running the version before until it is restarted (playbook upgrade)"


@dataclass(frozen=True)
class WalkSettings:
    """What a person may set: times in seconds; timeout overrides the states' own where it is given.
    by_nodes: whether nodes say themselves what is proven on them. controller_taints: what tells that
    a node starts or leaves. facets: by what objects differ from node to node. acts: see ProofView.
    record_memory: what is known from before."""

    recipe: str
    namespace: str
    failure_grace: float = 30.0
    timeout: float | None = None
    by_nodes: bool = False
    controller_taints: tuple[ControllerTaint, ...] = CONTROLLER_TAINTS
    facets: frozenset[str] = frozenset({"kernel"})
    acts: bool = True
    record_memory: RecordMemory = NOTHING_BEFORE


class Walker:
    """Everything that stays the same, or is remembered, while nodes are walked.

    started: when the run began. slots: how many more validation pods each state may run. unapplied:
    what to say of a (state, group) whose objects are not in the cluster yet. unmarked: what to say
    of a node that could not be given its labels, so that nothing counts which was found there;
    held: of one whose pods are being taken away.
    """

    def __init__(
        self,
        plans: Sequence[StatePlan],
        settings: WalkSettings,
        snapshot: ClusterSnapshot,
        started: float,
    ) -> None:
        self.plans = plans
        self.settings = settings
        self.snapshot = snapshot
        self.started = started
        self.memory: dict[tuple[str, str], Memory] = {}
        self.results: dict[tuple[str, str], Result] = {}
        self.slots: dict[str, int] = {}
        self.unapplied: dict[tuple[str, str], Verdict] = {}
        self.unmarked: dict[str, Verdict] = {}
        self.held: dict[str, Verdict] = {}
        self._transitions: dict[str, tuple[NodeFacts, NodeTransition | None]] = {}
        self._siblings: dict[tuple[str, str, int], Siblings] = {}
        self._other_siblings: set[tuple[str, str]] = set()

    def forget(self, node: str) -> None:
        """Drop what is known of a node that left."""
        self.unmarked.pop(node, None)
        self.held.pop(node, None)
        self._transitions.pop(node, None)
        for plan in self.plans:
            self.results.pop((node, plan.name), None)
            self.memory.pop((node, plan.name), None)

    def walk(
        self,
        node: NodeFacts,
        group: str,
        records: Mapping[str, ProofRecord],
        gates: frozenset[str],
        now: float,
    ) -> Walk:
        """Look at every state on one node, in the order of their requirements.

        records are the proofs in the node's annotation, gates the names of the states whose gate
        label it carries.
        """
        walk, view = Walk(), self._view(now)
        subjects = {state: record.hash for state, record in records.items()}
        for plan in self.plans:
            if not plan.per_node:
                continue
            record = records.get(plan.name)
            memory = self._memory(node, plan.name)
            # A regress takes proof and gate away, which does not undo that it once worked.
            memory.proven = memory.proven or record is not None or plan.name in gates
            subject = plan.subject(group, subjects)
            unmet = self._unmet(plan, node.name)
            step = WalkStep(
                plan,
                memory,
                walk,
                view,
                subject,
                proven=memory.proven and node.name not in self.unmarked,
                holds=record is not None and _holds(record, subject, node, is_behind=bool(unmet)),
            )
            result = self._behind(step, unmet) if unmet else self._on_node(step, node, group)
            if result.phase is Phase.READY and not result.restart_pending:
                subjects[plan.name] = result.subject
            self.results[(node.name, plan.name)] = result
            self._tell_siblings(plan.name, group, node.name, result)
        return walk

    def _view(self, now: float) -> ProofView:
        """What all proofs of one walk see."""
        return ProofView(
            snapshot=self.snapshot,
            namespace=self.settings.namespace,
            started=self.started,
            now=now,
            slots=self.slots,
            controller_taints=self.settings.controller_taints,
            acts=self.settings.acts,
            by_nodes=self.settings.by_nodes,
        )

    def walk_cluster(self, plan: StatePlan, now: float) -> Walk:
        """Look at a state that serves no node."""
        walk = Walk()
        memory = self._memory(None, plan.name)
        step = WalkStep(plan, memory, walk, self._view(now))
        if unmet := self._unmet_on_cluster(plan):
            result = self._behind(step, unmet)
        else:
            target = ProofTarget(None, "", "", now)
            verdict = self._unapplied(plan, "") or self._prove(step, target)
            result = self._judge(step, verdict)
        self.results[("", plan.name)] = result
        return walk

    def is_proven(
        self,
        states: Sequence[str],
        group: str,
        of: str = "",
        *,
        on: ProvenOn = ProvenOn.FIRST,
    ) -> bool:
        """Whether one node of a group ("": any), at least, has proven all these states, or the
        cluster has.

        of: the state whose group it is, since states are made for groups of their own. on: on which
        of its nodes. Where there is no node at all, nothing is proven; a group without nodes, of
        several, has nothing left to prove.
        """
        if all(self._ready(state, "") for state in states):
            return True
        nodes = self._staying(self._served(self.members(of, group), states), states)
        if on is ProvenOn.ALL_THAT_CAN and not all(
            self._ended(state, node) for node in nodes for state in states
        ):
            return False
        enough = all if on is ProvenOn.ALL else any
        return bool(self.snapshot.groups) and enough(
            all(self._ready(state, node) or self._ready(state, "") for state in states)
            for node in nodes
        )

    def members(self, state: str, group: str) -> list[str]:
        """The nodes of a group of a state ("": all)."""
        own = next((plan.groups.own for plan in self.plans if plan.name == state), {})
        return [
            node
            for node, finest in self.snapshot.groups.items()
            if group in ("", own.get(finest, finest))
        ]

    def _served(self, nodes: list[str], states: Sequence[str]) -> list[str]:
        """Those of the nodes that have something of all these states: the others prove nothing. All,
        where none has."""
        plans = [plan for plan in self.plans if plan.name in states and plan.groups.affinities]
        groups, facts = self.snapshot.groups, self.snapshot.nodes
        served = [
            node for node in nodes if all(plan.serves(groups[node], facts[node]) for plan in plans)
        ]
        return served or nodes

    def _staying(self, nodes: list[str], states: Sequence[str]) -> list[str]:
        """Those of the nodes that do not leave, all where each does: what leaves proves nothing any
        more, and nobody waits for it."""
        going = {
            name
            for (name, state), result in self.results.items()
            if state in states and result.phase is Phase.LEAVING
        }
        return [name for name in nodes if name not in going] or nodes

    def _memory(self, node: NodeFacts | None, state: str) -> Memory:
        """Of a state on a node, or on the cluster; the first time what the last run has left."""
        key = (node.name if node else "", state)
        if key not in self.memory:
            self.memory[key] = self.settings.record_memory.memory(node, state)
        return self.memory[key]

    def _on_node(self, step: WalkStep, node: NodeFacts, group: str) -> Result:
        """A state whose requirements hold."""
        since = step.memory.runnable_since = step.memory.runnable_since or step.now
        vanished = self.snapshot.vanished.get(node.name)
        if vanished:
            result = step.final(Phase.VANISHED, "HardwareVanished", vanished.text)
            return replace(result, since=vanished.since)
        verdict = self._unprovable(step.plan, node, group) or self._unapplied(step.plan, group)
        about_node = verdict is None or verdict.reason == NOT_READY
        transition = self._transition(node) if about_node else None
        if verdict is None:
            verdict = self._prove(step, ProofTarget(node, group, step.subject, since))
        if transition is None or verdict.passed:
            return self._judge(step, verdict)
        return result_on_the_way(step, verdict, transition, self._timeout(step.plan))

    def _transition(self, node: NodeFacts) -> NodeTransition | None:
        """Whether a controller brings a node up, or takes it away; found out once for each change of
        the node."""
        facts, known = self._transitions.get(node.name, (None, None))
        if facts is not node:
            known = transition_of(node, self.settings.controller_taints)
            self._transitions[node.name] = (node, known)
        return known

    def _unprovable(self, plan: StatePlan, node: NodeFacts, group: str) -> Verdict | None:
        """Why nothing can be said of a node now, whatever its state; None where it can."""
        if said := self.held.get(node.name) or self.unmarked.get(node.name):
            return said
        if not node.readiness.ready:
            return Verdict(Outcome.BLOCKED, NOT_READY, node.readiness.why_not, node.readiness.since)
        if self._has_agent(node) and not self.settings.by_nodes:
            text = "the node's agent is about to leave, and its labels with it; a run puts them back then"
            return Verdict(Outcome.PENDING, "NodeAgentLeaves", text)
        if group not in plan.groups.hashes:
            # Nothing was rendered for it: without this, a state without objects there would count
            # as proven.
            if odd := odd_fact(node.system, self.settings.facets):
                text = f"nothing is deployed for the node, since its {odd}"
                return Verdict(Outcome.BLOCKED, "OddNode", text)
            text = (
                "its kernel, pool or container runtime appeared during this run, and nothing was deployed for it yet"
                f" (group {group})"
            )
            return Verdict(Outcome.BLOCKED, "NewGroup", text)
        return None

    def _has_agent(self, node: NodeFacts) -> bool:
        return fact_label(self.settings.recipe, AGENT_CONFIGURATION) in node.labels

    def _unapplied(self, plan: StatePlan, group: str) -> Verdict | None:
        """Why a state cannot be proven, or not yet: its objects were left out, are still to come,
        or were refused."""
        if plan.left_out:
            return Verdict(Outcome.TROUBLE, "LeftOut", plan.left_out, ran=True, heals=False)
        return self.unapplied.get((plan.name, plan.own_group(group))) or self.unapplied.get(
            (plan.name, "")
        )

    def _unmet(self, plan: StatePlan, node: str) -> Result | None:
        """The required state that keeps this one from being looked at on a node: one that is
        broken, if there is."""
        return _decisive([self._required(required, node) for required in plan.requires])

    def _required(self, state: str, node: str) -> Result:
        found = self.results.get((node, state)) or self.results.get(("", state))
        return found or Result(state, Phase.WAITING, "NotLooked", "it has not been looked at yet")

    def _unmet_on_cluster(self, plan: StatePlan) -> Result | None:
        """A state of the cluster waits until one node, at least, has each required state."""
        return _decisive([self._best(required) for required in plan.requires])

    def _best(self, state: str) -> Result:
        """How a state stands on the node where it stands best; where there is no node, it waits for
        one to come."""
        found = [result for (_node, name), result in self.results.items() if name == state]
        found = [result for result in found if not result.unwanted] or found
        nobody = Result(state, Phase.WAITING, "NoNodes", "no node has the hardware", final=True)
        return max(
            found,
            key=_closeness,
            default=Result(state, Phase.READY) if self.snapshot.nodes else nobody,
        )

    def _prove(self, step: WalkStep, target: ProofTarget) -> Verdict:
        """Evaluate the proofs in order; the first one that does not pass decides."""
        said = PASSED
        for index, proof in step.plan.proofs_for(target.group):
            kind = KINDS[proof.kind]
            if not self._is_asked(step, proof, target):
                continue
            if kind.pod_of(proof) and self._is_leaving(target.node):
                text = "no validation pod is started on a node that leaves"
                return Verdict(Outcome.PENDING, "NodeLeaves", text)
            observation = Observation(
                plan=step.plan,
                index=index,
                settings=kind.settings_of(proof, target.group, target.name),
                target=target,
                view=step.view,
                siblings=partial(self._siblings_of, step.plan, target.group),
            )
            verdict = kind.evaluate(observation)
            step.walk.take(observation)
            if not verdict.passed:
                return verdict
            if verdict.reason == RESTART_PENDING:
                said = Verdict(Outcome.PASS, RESTART_PENDING, RESTART_TEXT)
            elif verdict.message and said is PASSED:
                said = verdict
        return said

    @staticmethod
    def _is_asked(step: WalkStep, proof: Proof, target: ProofTarget) -> bool:
        """Whether a proof has something to say of a target that it has not said before."""
        kind = KINDS[proof.kind]
        if not kind.counts_on(proof, target) or (step.holds and not kind.observed):
            return False
        is_served = target.node is None or step.plan.serves(target.group, target.node)
        return is_served or kind.scope_of(proof) is not Scope.NODE

    def _judge(self, step: WalkStep, verdict: Verdict) -> Result:
        grace, timeout = self.settings.failure_grace, self._timeout(step.plan)
        return result_of(step, verdict, grace=grace, timeout=timeout)

    def _timeout(self, plan: StatePlan) -> float:
        """How long a state may take, in seconds."""
        return plan.timeout if self.settings.timeout is None else self.settings.timeout

    def take_other_siblings(self) -> set[tuple[str, str]]:
        """The (state, group) whose nodes were told of other siblings than they have now."""
        plans = {plan.name: plan for plan in self.plans}
        found, self._other_siblings = self._other_siblings, set()
        for (state, group, count), known in self._siblings.items():
            if known != self._find_siblings(plans[state], group, count):
                found.add((state, group))
        for key in list(self._siblings):
            if key[:2] in found:
                del self._siblings[key]
        return found

    def _siblings_of(self, plan: StatePlan, group: str, count: int) -> Siblings:
        """The first nodes of a group that prove a state for it, so many. Each node of it asks, so they
        are found once; where there are fewer, others may have yet to be looked at."""
        key = plan.name, group, count
        known = self._siblings.get(key)
        if known is None or len(known.names) < count:
            self._siblings[key] = self._find_siblings(plan, group, count)
            if known not in (None, self._siblings[key]):
                self._other_siblings.add(key[:2])
        return self._siblings[key]

    def _tell_siblings(self, state: str, group: str, node: str, result: Result) -> None:
        """What a look at a node has found may be what others of its group wait for."""
        ready = result.phase is Phase.READY
        for key, known in list(self._siblings.items()):
            gave_up = result.final and node in known.names and node not in known.given_up
            is_news = not known.proven if ready else gave_up
            if is_news and key[:2] == (state, group):
                del self._siblings[key]
                self._other_siblings.add(key[:2])

    def _find_siblings(self, plan: StatePlan, group: str, count: int) -> Siblings:
        """Those that can be sampled: their requirements hold, and they can be told of."""
        names = [name for name, its_group in self.snapshot.groups.items() if its_group == group]
        able = [
            name
            for name in names
            if self._unmet(plan, name) is None
            and self._is_decidable(plan.name, name)
            and plan.serves(group, self.snapshot.nodes[name])
        ]
        able.sort(
            key=lambda name: (
                not self._ready(plan.name, name),
                self._transition(self.snapshot.nodes[name]) is not None,
                name,
            )
        )
        proven = any(self._ready(plan.name, name) for name in able)
        chosen = tuple(able[:count])
        given_up = frozenset(name for name in chosen if self._is_given_up(plan.name, name))
        return Siblings(chosen, proven, given_up)

    def _is_decidable(self, state: str, node: str) -> bool:
        facts = self.snapshot.nodes[node]
        stays = self._ready(state, node) or not self._is_leaving(facts)
        return facts.readiness.ready and stays and node not in self.unmarked

    def _is_leaving(self, node: NodeFacts | None) -> bool:
        transition = self._transition(node) if node else None
        return transition is not None and transition.leaves

    def _is_given_up(self, state: str, node: str) -> bool:
        result = self.results.get((node, state))
        return result is not None and result.final and result.phase is not Phase.READY

    def _ready(self, state: str, node: str) -> bool:
        result = self.results.get((node, state))
        return result is not None and result.phase is Phase.READY

    def _ended(self, state: str, node: str) -> bool:
        """Whether nothing more comes of a state on a node in this run, or of a state of the
        cluster."""
        result = self.results.get((node, state)) or self.results.get(("", state))
        return result is not None and (result.final or result.phase is Phase.READY)

    def _behind(self, step: WalkStep, unmet: Result) -> Result:
        """Not looked at for the sake of another state: blocked where that one is broken, else
        waiting for it.

        Where it cannot be told how the other one is, this one cannot be told either: a node that is
        NotReady says nothing against any of its states.
        """
        step.memory.runnable_since = None
        step.memory.forget_trouble()
        root = unmet.root
        if unmet.phase in BROKEN:
            text = f"stands on {root}, which is not ready"
            return step.final(Phase.BLOCKED, f"BlockedBy.{root}", text, cause=root)
        phase = unmet.phase if unmet.phase in UNTOLD else Phase.WAITING
        return step.behind(phase, unmet, f"requires {unmet.state}, which is {unmet.phase.value}")


def _holds(record: ProofRecord, subject: str, node: NodeFacts, *, is_behind: bool) -> bool:
    """Whether a proof of before still does. While a required state is not ready (is_behind), nothing
    is proven anew, and what was proven before is remembered as it was."""
    return record.holds(record.hash if is_behind else subject, node.system.kernel, node.boot_id)


def _decisive(required: Sequence[Result]) -> Result | None:
    """Of the required states one that is broken, else the first that is not ready, None where all
    are."""
    unmet = [result for result in required if result.phase is not Phase.READY]
    return next((result for result in unmet if result.phase in BROKEN), unmet[0] if unmet else None)


def _closeness(result: Result) -> int:
    """How close a state is to being ready: what can still become so is closer than what is broken."""
    if result.phase is Phase.READY:
        return 3
    if result.phase in BROKEN:
        return 0
    return 1 if result.final else 2
