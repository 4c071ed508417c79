# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Walk one node through the states: a pure function of what is known now and what was remembered of
the last look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ..._cluster.api_objects.labels import AGENT_CONFIGURATION, fact_label
from ..._nodes.facts import NodeFacts
from ..._proofs.catalog import KINDS
from ..._proofs.evaluation import Observation, Siblings
from ..._proofs.kinds.rollout import RESTART_PENDING
from ..._proofs.queries import Query
from ..._proofs.snapshot import ClusterSnapshot
from ..._verdicts.verdict import PASSED, Outcome, Verdict
from ..staging import ProvenOn
from .phases import BROKEN, UNTOLD, Memory, Phase, ProofRecord, Result, StatePlan

RESTART_TEXT = "the driver changed; its pod keeps running the version before until it is restarted (playbook upgrade)"


@dataclass(frozen=True)
class WalkSettings:
    """What a person may set: times in seconds; timeout overrides the states' own where it is given.
    by_nodes: whether nodes say themselves what is proven on them."""

    recipe: str
    namespace: str
    failure_grace: float = 30.0
    timeout: float | None = None
    by_nodes: bool = False


@dataclass(frozen=True)
class _Target:
    """What a state is looked at on: a node, or the cluster where node is None. holds: the proof of
    before does.

    since: when the state's requirements began to hold, in seconds since the epoch.
    """

    node: NodeFacts | None
    group: str
    subject: str
    holds: bool
    since: float


@dataclass
class Walker:
    """Everything that stays the same, or is remembered, while nodes are walked.

    unapplied: what to say of a (state, group) whose objects are not in the cluster yet. unmarked:
    what to say of a node that could not be given its labels, so that nothing counts which was found
    there; held: of one whose pods are being taken away.
    """

    plans: Sequence[StatePlan]
    settings: WalkSettings
    snapshot: ClusterSnapshot
    started: float
    memory: dict[tuple[str, str], Memory] = field(default_factory=dict)
    results: dict[tuple[str, str], Result] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    unapplied: dict[tuple[str, str], Verdict] = field(default_factory=dict)
    unmarked: dict[str, Verdict] = field(default_factory=dict)
    held: dict[str, Verdict] = field(default_factory=dict)

    def forget(self, node: str) -> None:
        """Drop what is known of a node that left."""
        self.unmarked.pop(node, None)
        self.held.pop(node, None)
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
        walk = Walk()
        subjects = {state: record.hash for state, record in records.items()}
        for plan in self.plans:
            if not plan.per_node:
                continue
            record = records.get(plan.name)
            memory = self.memory.setdefault((node.name, plan.name), Memory())
            # A regress takes proof and gate away, which does not undo that it once worked.
            memory.proven = memory.proven or record is not None or plan.name in gates
            subject, unmet = plan.subject(group, subjects), self._unmet(plan, node.name)
            # While a required state is not ready, nothing is proven; what was proven before is
            # remembered as it was.
            holds = record is not None and record.holds(
                record.hash if unmet else subject, node.kernel, node.boot_id
            )
            memory.runnable_since = None if unmet else memory.runnable_since or now
            target = _Target(node, group, subject, holds, memory.runnable_since or now)
            result = self._observe(plan, target, unmet, memory, now, walk)
            proven = memory.proven and node.name not in self.unmarked
            result = replace(result, proven=proven, subject=subject, holds=holds)
            if result.phase is Phase.READY and not result.restart_pending and not unmet:
                subjects[plan.name] = subject
            self.results[(node.name, plan.name)] = result
        return walk

    def walk_cluster(self, plan: StatePlan, now: float) -> Walk:
        """Look at a state that serves no node."""
        walk = Walk()
        unmet = self._unmet_on_cluster(plan)
        memory = self.memory.setdefault(("", plan.name), Memory())
        if unmet:
            result = self._behind(plan, memory, unmet, now)
        else:
            target = _Target(None, "", "", holds=False, since=now)
            verdict = self._unapplied(plan, "") or self._prove(plan, target, now, walk)
            result = self._judge(plan, memory, verdict, now, walk)
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
        nodes = self.members(of, group)
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
        own = next((plan.own for plan in self.plans if plan.name == state), {})
        return [
            node
            for node, finest in self.snapshot.groups.items()
            if group in ("", own.get(finest, finest))
        ]

    def _observe(
        self,
        plan: StatePlan,
        target: _Target,
        unmet: Result | None,
        memory: Memory,
        now: float,
        walk: Walk,
    ) -> Result:
        node = target.node
        if unmet:
            return self._behind(plan, memory, unmet, now)
        if node is not None and node.name in self.snapshot.vanished:
            found = self.snapshot.vanished[node.name]
            result = self._result(
                plan, memory, Phase.VANISHED, "HardwareVanished", found.text, now, True
            )
            return replace(result, since=found.since)
        if node is not None and node.name in self.held:
            verdict = self.held[node.name]
        elif node is not None and node.name in self.unmarked:
            verdict = self.unmarked[node.name]
        elif node is not None and not node.ready:
            text = f"the node is NotReady: {node.ready_message or 'its kubelet does not answer'}"
            verdict = Verdict(Outcome.BLOCKED, "NodeNotReady", text, node.ready_since)
        elif node is not None and self._has_agent(node) and not self.settings.by_nodes:
            text = (
                "the node's agent is about to leave, and its labels with it; they are put back then"
            )
            verdict = Verdict(Outcome.PENDING, "NodeAgentLeaves", text)
        elif node is not None and target.group not in plan.hashes:
            # Nothing was rendered for it: without this, a state without objects there would count
            # as proven.
            text = (
                "its kernel, pool or container runtime appeared during this run, and nothing was deployed for it yet"
                f" (group {target.group})"
            )
            verdict = Verdict(Outcome.BLOCKED, "NewGroup", text)
        else:
            verdict = self._unapplied(plan, target.group) or self._prove(plan, target, now, walk)
        return self._judge(plan, memory, verdict, now, walk)

    def _has_agent(self, node: NodeFacts) -> bool:
        return fact_label(self.settings.recipe, AGENT_CONFIGURATION) in node.labels

    def _unapplied(self, plan: StatePlan, group: str) -> Verdict | None:
        """Why a state cannot be proven, or not yet: its objects were left out, are still to come,
        or were refused."""
        if plan.left_out:
            return Verdict(Outcome.TROUBLE, "LeftOut", plan.left_out, ran=True, heals=False)
        return self.unapplied.get((plan.name, plan.own.get(group, group))) or self.unapplied.get(
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
        nobody = Result(state, Phase.WAITING, "NoNodes", "no node has the hardware", final=True)
        return max(
            found,
            key=_closeness,
            default=Result(state, Phase.READY) if self.snapshot.nodes else nobody,
        )

    def _prove(self, plan: StatePlan, target: _Target, now: float, walk: Walk) -> Verdict:
        """Evaluate the proofs in order; the first one that does not pass decides."""
        restart_pending = False
        for index, proof in plan.proofs_for(target.group):
            kind = KINDS[proof.kind]
            if target.holds and not kind.observed:
                continue
            observation = Observation(
                plan=plan,
                index=index,
                settings=kind.settings_of(
                    proof, target.group, target.node.name if target.node else ""
                ),
                node=target.node,
                group=target.group,
                subject=target.subject,
                snapshot=self.snapshot,
                namespace=self.settings.namespace,
                now=now,
                started=self.started,
                runnable_since=target.since,
                slots=self.slots,
                siblings=partial(self._siblings, plan, target.group),
            )
            verdict = kind.evaluate(observation)
            walk.take(observation)
            if not verdict.passed:
                return verdict
            restart_pending = restart_pending or verdict.reason == RESTART_PENDING
        return Verdict(Outcome.PASS, RESTART_PENDING, RESTART_TEXT) if restart_pending else PASSED

    def _siblings(self, plan: StatePlan, group: str) -> Siblings:
        """The nodes of a group that can be sampled: their requirements hold, and they can be told
        of."""
        names = [name for name, its_group in self.snapshot.groups.items() if its_group == group]
        able = [
            name for name in names if self._unmet(plan, name) is None and self._is_decidable(name)
        ]
        able.sort(key=lambda name: (not self._ready(plan.name, name), name))
        final = frozenset(name for name in able if self._is_given_up(plan.name, name))
        return Siblings(tuple(able), any(self._ready(plan.name, name) for name in able), final)

    def _is_decidable(self, node: str) -> bool:
        return self.snapshot.nodes[node].ready and node not in self.unmarked

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

    def _behind(self, plan: StatePlan, memory: Memory, unmet: Result, now: float) -> Result:
        """Not looked at for the sake of another state: blocked where that one is broken, else
        waiting for it.

        Where it cannot be told how the other one is, this one cannot be told either: a node that is
        NotReady says nothing against any of its states.
        """
        memory.runnable_since = None
        memory.forget_trouble()
        root = unmet.root
        if unmet.phase in BROKEN:
            text = f"stands on {root}, which is not ready"
            return self._result(
                plan, memory, Phase.BLOCKED, f"BlockedBy.{root}", text, now, True, cause=root
            )
        phase = unmet.phase if unmet.phase in UNTOLD else Phase.WAITING
        text = f"requires {unmet.state}, which is {unmet.phase.value}"
        return self._result(
            plan, memory, phase, f"Requires.{unmet.state}", text, now, unmet.final, cause=root
        )

    def _judge(
        self, plan: StatePlan, memory: Memory, verdict: Verdict, now: float, walk: Walk
    ) -> Result:
        """Turn a verdict into a result: patience first, then a final word."""
        if memory.runnable_since is None:
            memory.runnable_since = now
        memory.waits = verdict.reason
        if verdict.passed:
            memory.forget_trouble()
            pending = verdict.reason == RESTART_PENDING
            return self._result(
                plan,
                memory,
                Phase.READY,
                verdict.reason,
                verdict.message,
                now,
                True,
                restart_pending=pending,
            )
        limit = self.settings.timeout if self.settings.timeout is not None else plan.timeout
        deadline = memory.runnable_since + limit
        if verdict.outcome is Outcome.PENDING:
            # What merely could not be told is over once it can be. A trouble is not: a crashing
            # container runs for a moment between two crashes. It is final while it is there only,
            # and stays so until the proof passes.
            if memory.trouble is not None and memory.trouble.outcome is Outcome.BLOCKED:
                memory.forget_trouble()
            if memory.trouble is not None and memory.outlasted:
                verdict = memory.trouble
            elif now >= deadline:
                text = f"{verdict.message}; not ready within {limit:.0f} s"
                return self._failed(plan, memory, "Timeout", text, True, now)
            else:
                walk.wake_at(deadline)
                return self._result(
                    plan, memory, Phase.WAITING, verdict.reason, verdict.message, now, False
                )
        if memory.trouble_since is None or (
            memory.trouble and memory.trouble.outcome is not verdict.outcome
        ):
            memory.trouble_since = (
                max(verdict.since or now, 0.0) if (verdict.since or now) <= now else now
            )
        memory.trouble = verdict
        patience = memory.trouble_since + self.settings.failure_grace if verdict.heals else now
        final_at = max(patience, verdict.open_until)
        if now < final_at:
            walk.wake_at(final_at)
            return self._result(
                plan, memory, Phase.WAITING, verdict.reason, verdict.message, now, False
            )
        memory.outlasted = True
        if verdict.outcome is Outcome.BLOCKED:
            return self._result(
                plan, memory, Phase.UNKNOWN, verdict.reason, verdict.message, now, True
            )
        return self._failed(plan, memory, verdict.reason, verdict.message, verdict.ran, now)

    def _failed(
        self, plan: StatePlan, memory: Memory, reason: str, message: str, ran: bool, now: float
    ) -> Result:
        """Failed; degraded where the state was proven before, unknown where nothing ran that could
        disprove that."""
        phase = Phase.FAILED
        if memory.proven:
            phase = Phase.DEGRADED if ran else Phase.UNKNOWN
        return self._result(plan, memory, phase, reason, message, now, True)

    def _result(
        self,
        plan: StatePlan,
        memory: Memory,
        phase: Phase,
        reason: str,
        message: str,
        now: float,
        final: bool,
        restart_pending: bool = False,
        cause: str = "",
    ) -> Result:
        if memory.reason != reason:
            memory.reason, memory.reason_since = reason, memory.trouble_since or now
        return Result(
            state=plan.name,
            phase=phase,
            reason=reason,
            message=message,
            since=memory.reason_since,
            final=final,
            restart_pending=restart_pending,
            cause=cause,
        )


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


@dataclass
class Walk:
    """What came out of a walk besides the results: questions, and when to look again without an
    event."""

    wants: list[Query] = field(default_factory=list)
    again_at: float | None = None

    def take(self, observation: Observation[Any]) -> None:
        """Take over what one proof wants."""
        self.wants.extend(observation.wants)
        if observation.again_at is not None:
            self.wake_at(observation.again_at)

    def wake_at(self, moment: float) -> None:
        """Look again at the latest at a moment (seconds since the epoch)."""
        self.again_at = moment if self.again_at is None else min(self.again_at, moment)
