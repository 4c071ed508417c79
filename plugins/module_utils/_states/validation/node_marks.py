# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node carries of ours: gates, the summary label and the proofs. Pure: from results to the
patch of one node."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ..._cluster.api_objects.labels import (
    AGENT_CONFIGURATION,
    RUNTIME,
    fact_label,
    gate_label,
    gated_state,
    proofs_annotation,
    restart_pending_annotation,
    summary_label,
    vanished_annotation,
)
from ..._json import parse_json
from ..._nodes.facts import NodeFacts
from ..._times import seconds, timestamp
from ..on_nodes.proven_condition import ProvenCondition, found_in
from .phases import UNTOLD, Phase, ProofRecord, Result, StatePlan

READY, STALE, DEGRADED, VANISHED = "ready", "stale", "degraded", "vanished"


@dataclass
class NodeMarks:
    """The labels and the proofs of one recipe on one node; None as a value means no label.

    facts: what the node tells pods about itself, by the names of the labels. vanished: since when
    the labels of the hardware are gone, as an API timestamp. restarts: the states whose pods still
    run the version before, sorted. condition: what the node's status says of the recipe.
    """

    gates: dict[str, str] = field(default_factory=dict)
    summary: str | None = None
    proofs: dict[str, ProofRecord] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    vanished: str | None = None
    restarts: tuple[str, ...] = ()
    condition: ProvenCondition | None = None


@dataclass(frozen=True)
class NodeFindings:
    """What a run has found of one node. results: by state; now: in seconds since the epoch.

    withdraw: whether the gate of what is broken goes. first_summary: the summary label that the
    node carried when the run began: what turns out to be unknown leaves it, or puts it back where
    the run itself has said meanwhile what it waited for.
    """

    node: NodeFacts
    results: Mapping[str, Result]
    now: float
    withdraw: bool
    first_summary: str | None


def read(node: NodeFacts, recipe: str) -> NodeMarks:
    """The marks that a node carries. An annotation that cannot be read counts as no proof."""
    prefix = gate_label(recipe, "")
    gates, facts = {}, {}
    for name, value in node.labels.items():
        if not name.startswith(prefix):
            continue
        if state := gated_state(recipe, name):
            gates[state] = value
        else:
            facts[name] = value
    proofs = _parse(node.annotations.get(proofs_annotation(recipe)))
    since = node.annotations.get(vanished_annotation(recipe))
    noted = node.annotations.get(restart_pending_annotation(recipe)) or ""
    restarts = tuple(sorted(filter(None, noted.split(","))))
    summary = node.labels.get(summary_label(recipe))
    condition = found_in(node.conditions, recipe)
    return NodeMarks(gates, summary, proofs, facts, since, restarts, condition)


def _parse(text: str | None) -> dict[str, ProofRecord]:
    try:
        found = parse_json(text or "{}")
        texts = {
            state: {key: str(value) for key, value in proof.items()}
            for state, proof in found.items()
        }
        return {state: ProofRecord(**proof) for state, proof in texts.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def split_summary(summary: str | None) -> tuple[str, str]:
    """Phase and state of a summary label: "ready", "driver.failed", or none."""
    if not summary or summary in (READY, VANISHED):
        return summary or "", ""
    state, _dot, phase = summary.rpartition(".")
    return phase, state


def wanted(
    before: NodeMarks, plans: Sequence[StatePlan], found: NodeFindings, *, complete: bool = True
) -> NodeMarks:
    """The marks that the results call for. States without a result, and unknown ones, keep what
    they have.

    complete says whether plans are all states of the recipe: only then can a node be told to be
    ready, and nobody proves what it carries of others.
    """
    names = {plan.name for plan in plans}
    marks = NodeMarks(facts=before.facts) if complete else _of_others(before, names)
    marks.restarts = _restarts(before, names, found.results, complete=complete)
    for plan in plans:
        gate, proof = _gate_and_proof(before, plan, found)
        if plan.gated and gate is not None:
            marks.gates[plan.name] = gate
        if proof is not None:
            marks.proofs[plan.name] = proof
    if any(result.phase is Phase.VANISHED for result in found.results.values()):
        marks.summary = VANISHED
        marks.vanished = before.vanished if seconds(before.vanished) else timestamp(found.now)
    else:
        first = found.first_summary or before.summary
        first = None if first == VANISHED else first
        marks.summary = _summary(first, plans, found.results, complete=complete)
    return marks


def _of_others(before: NodeMarks, names: Set[str]) -> NodeMarks:
    """What a node carries of states that a run does not look at."""
    return NodeMarks(
        gates={state: value for state, value in before.gates.items() if state not in names},
        proofs={state: proof for state, proof in before.proofs.items() if state not in names},
        facts=before.facts,
    )


def _restarts(
    before: NodeMarks, names: Set[str], results: Mapping[str, Result], *, complete: bool
) -> tuple[str, ...]:
    """A restart is pending until its state is ready with what is deployed; states that there are no
    more have none."""
    ready = {state for state, result in results.items() if result.phase is Phase.READY}
    pending = {state for state in ready if results[state].restart_pending}
    states = set(before.restarts) - ready | pending
    return tuple(sorted(states & names if complete else states))


def _gate_and_proof(
    before: NodeMarks, plan: StatePlan, found: NodeFindings
) -> tuple[str | None, ProofRecord | None]:
    """What one state's result makes of its gate and its proof."""
    result = found.results.get(plan.name)
    gate, proof = before.gates.get(plan.name), before.proofs.get(plan.name)
    if result is None or result.phase in UNTOLD:
        return gate, proof
    if result.phase is Phase.READY:
        return _proven(plan, result, proof, found)
    if result.phase is Phase.WAITING:
        return STALE if gate == READY and not result.holds else gate, proof
    broken = gate and (None if found.withdraw else DEGRADED)
    # A blocked state's own proof is not disproven: it counts again when what it stands on has been
    # mended.
    return broken, proof if gate is None or result.phase is Phase.BLOCKED else None


def _proven(
    plan: StatePlan, result: Result, proof: ProofRecord | None, found: NodeFindings
) -> tuple[str, ProofRecord | None]:
    """Gate and proof of a state that is ready; as long as its pods run the version before, the new
    one is not proven, and where nothing of it is wanted, nothing is."""
    if result.restart_pending:
        return STALE, proof
    if result.unwanted:
        return READY, None
    if plan.proofs and not result.holds:
        node = found.node
        proof = ProofRecord(result.subject, node.system.kernel, node.boot_id, timestamp(found.now))
    return READY, proof


def _summary(
    first: str | None, plans: Sequence[StatePlan], results: Mapping[str, Result], *, complete: bool
) -> str | None:
    """ready, or the first state that is not and how ("driver.waiting"); what is unknown changes
    nothing."""
    found = [results[plan.name] for plan in plans if plan.name in results]
    cause = _cause(found)
    if cause is not None:
        known = cause.phase is not Phase.UNKNOWN
        return f"{cause.state}.{cause.phase.value}"[:63] if known else first
    if complete:
        return READY if found else first
    # What the label blames is over; whether the rest is ready, a run of some states does not know.
    blamed = (first or "").partition(".")[0]
    return None if blamed in {plan.name for plan in plans} else first


def _cause(results: Sequence[Result]) -> Result | None:
    """Of those that are not ready the first with a reason of its own; None where all are ready."""
    bad = [result for result in results if result.phase is not Phase.READY]
    return next((result for result in bad if not result.cause), bad[0] if bad else None)


def without_the_nodes_own(
    before: NodeMarks, after: NodeMarks, recipe: str, *, by_nodes: bool
) -> NodeMarks:
    """The marks that a run writes: what the node's own agent has published, it takes off as well.
    by_nodes: whether that says what is proven."""
    label = fact_label(recipe, AGENT_CONFIGURATION)
    own = {label: before.facts[label]} if label in before.facts else {}
    kept = replace(after, facts={**after.facts, **own})
    if not by_nodes:
        return kept
    vanished = VANISHED in (before.summary, after.summary)
    summary = after.summary if vanished else before.summary
    return replace(kept, gates=before.gates, summary=summary)


def patch(before: NodeMarks, after: NodeMarks, recipe: str) -> dict[str, Any] | None:
    """The merge patch of the node's metadata that turns one into the other, or None."""
    metadata = {
        "labels": _label_changes(before, after, recipe),
        "annotations": _annotation_changes(before, after, recipe),
    }
    found = {part: entries for part, entries in metadata.items() if entries}
    return {"metadata": found} if found else None


def _label_changes(before: NodeMarks, after: NodeMarks, recipe: str) -> dict[str, str | None]:
    gates = _changes(before.gates, after.gates)
    labels = {gate_label(recipe, state): value for state, value in gates.items()}
    if before.summary != after.summary:
        labels[summary_label(recipe)] = after.summary
    return labels | _changes(before.facts, after.facts)


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str | None]:
    """The entries that differ, as they come to be; None: it goes."""
    return {
        name: after.get(name)
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    }


def _annotation_changes(before: NodeMarks, after: NodeMarks, recipe: str) -> dict[str, str | None]:
    annotations: dict[str, str | None] = {}
    if before.proofs != after.proofs:
        proofs = {state: asdict(proof) for state, proof in sorted(after.proofs.items())}
        annotations[proofs_annotation(recipe)] = (
            json.dumps(proofs, separators=(",", ":")) if proofs else None
        )
    if before.vanished != after.vanished:
        annotations[vanished_annotation(recipe)] = after.vanished
    if before.restarts != after.restarts:
        annotations[restart_pending_annotation(recipe)] = ",".join(after.restarts) or None
    return annotations


def urgent(
    before: NodeMarks,
    after: NodeMarks,
    plans: Sequence[StatePlan],
    recipe: str,
    runtime_gates: Collection[Set[str]] = (frozenset(),),
) -> bool:
    """Whether pods wait for the difference, or it is bad news; everything else can wait for the
    node's last write.

    runtime_gates: for each state whose pods choose a node by its container runtime, the gates that
    they need besides. Before these are there that label lets nothing start.
    """
    unlocking = {plan.name for plan in plans if plan.unlocks}
    return (
        _tells_runtime(before, after, recipe, runtime_gates)
        or any(
            _is_news(before.gates.get(state), value, unlocks=state in unlocking)
            for state, value in after.gates.items()
        )
        or any(plan.name in before.gates and plan.name not in after.gates for plan in plans)
    )


def _tells_runtime(
    before: NodeMarks, after: NodeMarks, recipe: str, runtime_gates: Collection[Set[str]]
) -> bool:
    """Whether pods wait for the node's container runtime, and nothing else."""
    runtime = fact_label(recipe, RUNTIME)
    return before.facts.get(runtime) != after.facts.get(runtime) and any(
        gates <= after.gates.keys() for gates in runtime_gates
    )


def _is_news(old: str | None, new: str, *, unlocks: bool) -> bool:
    """Whether a gate's new value is bad, or lets pods start."""
    return new != old and (new in (STALE, DEGRADED) or (unlocks and old is None))
