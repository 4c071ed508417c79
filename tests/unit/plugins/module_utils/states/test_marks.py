# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node carries after results: gates appear only by proof, and go only where somebody decided
that."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    gate_label,
    proofs_annotation,
    summary_label,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation import (
    node_marks,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.node_marks import (
    NodeFindings,
    NodeMarks,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    ProofRecord,
    Result,
)
from ansible_collections.hardware.enablement.plugins.module_utils._times import timestamp
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world

NOW = timestamp(world.NOW)

PLANS = [
    world.plan("driver"),
    world.plan("plugin", requires=("driver",), gated=False, unlocks=False),
]
PROOF = ProofRecord("hash-driver", world.KERNEL, world.BOOT, "before")


def wanted(
    before: NodeMarks, withdraw: bool = False, first: str | None = None, **phases: Result
) -> NodeMarks:
    """The marks for these results. first: the summary label at the run's beginning, if it is
    another one by now."""
    results = {}
    for state, found in phases.items():
        proof = before.proofs.get(state)
        holds = proof is not None and proof.holds(found.subject, world.KERNEL, world.BOOT)
        results[state] = replace(found, holds=holds)
    found = findings(results, withdraw=withdraw, first=first or before.summary)
    return node_marks.wanted(before, PLANS, found)


def findings(
    results: Mapping[str, Result], *, withdraw: bool = False, first: str | None = None
) -> NodeFindings:
    """What was found of the node now. first: its summary label at the run's beginning."""
    return NodeFindings(world.node(), results, world.NOW, withdraw, first)


def result(phase: Phase, state: str = "driver", **more: Any) -> Result:
    """A result."""
    return Result(state, phase, "Because", subject=f"hash-{state}", **more)


def test_first_proof_makes_gate_and_proof_but_no_gate_that_nobody_waits_for() -> None:
    after = wanted(NodeMarks(), driver=result(Phase.READY), plugin=result(Phase.READY, "plugin"))
    assert after.gates == {"driver": "ready"}
    assert set(after.proofs) == {"driver", "plugin"}
    assert after.summary == "ready"


def test_the_label_with_the_container_runtime_is_no_gate_and_goes_out_at_once() -> None:
    label = "hardware-enablement.io/toy.container-runtime"
    node = world.node()
    carried = node_marks.read(
        replace(
            node, labels={**node.labels, label: "containerd-1", f"{label[:-18]}.driver": "ready"}
        ),
        "toy",
    )
    assert (carried.gates, carried.facts) == ({"driver": "ready"}, {label: "containerd-1"})
    after = replace(carried, facts={label: "containerd-2"})
    assert node_marks.patch(carried, after, "toy") == {
        "metadata": {"labels": {label: "containerd-2"}}
    }
    assert node_marks.urgent(carried, after, PLANS, "toy")
    assert wanted(carried, driver=result(Phase.READY)).facts == {label: "containerd-1"}
    assert not node_marks.urgent(
        carried,
        replace(carried, facts={**carried.facts, f"{label[:-18]}.node-kernel": "k"}),
        PLANS,
        "toy",
    )


def test_the_label_with_the_container_runtime_waits_for_the_gates_that_its_pods_wait_for() -> None:
    facts = {"hardware-enablement.io/toy.container-runtime": "containerd-1"}
    behind, free = frozenset({"driver"}), frozenset[str]()

    def urgent(gates: dict[str, str], *needed: frozenset[str]) -> bool:
        before = NodeMarks(dict(gates))
        return node_marks.urgent(before, replace(before, facts=facts), PLANS, "toy", needed)

    assert not urgent({}, behind)
    assert urgent({"driver": "stale"}, behind)
    assert urgent({}, behind, free)


def test_a_node_that_has_vanished_keeps_its_marks_and_says_since_when() -> None:
    before = NodeMarks({"driver": "ready"}, "ready", {"driver": PROOF})
    vanished = result(Phase.VANISHED)
    after = wanted(before, driver=vanished)
    assert (after.gates, after.proofs) == (before.gates, before.proofs)
    assert (after.summary, after.vanished) == ("vanished", NOW)
    annotation = {"hardware-enablement.io/demo.vanished": NOW}
    labels = {"hardware-enablement.io/demo": "vanished"}
    assert node_marks.patch(before, after, "demo") == {
        "metadata": {"labels": labels, "annotations": annotation}
    }
    for noted, kept in (("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"), ("yesterday", NOW)):
        assert wanted(replace(after, vanished=noted), driver=vanished).vanished == kept
    back = wanted(after, driver=result(Phase.READY), plugin=result(Phase.READY, "plugin"))
    assert (back.summary, back.vanished) == ("ready", None)
    assert wanted(after, driver=result(Phase.UNKNOWN)).summary is None


def test_what_nobody_proves_any_more_goes_with_a_run_of_all_states() -> None:
    before = NodeMarks(
        {"driver": "ready", "gone": "ready"}, "ready", {"driver": PROOF, "gone": PROOF}
    )
    after = wanted(before, driver=result(Phase.READY))
    assert (set(after.gates), set(after.proofs)) == ({"driver"}, {"driver"})
    results = {"driver": result(Phase.READY)}
    found = findings(results, first="ready")
    some = node_marks.wanted(before, PLANS[:1], found, complete=False)
    assert (set(some.gates), set(some.proofs)) == ({"driver", "gone"}, {"driver", "gone"})


def test_where_nothing_is_wanted_the_way_is_open_and_nothing_is_proven() -> None:
    marks = wanted(NodeMarks(), driver=result(Phase.READY, unwanted=True))
    assert (marks.gates, marks.proofs) == ({"driver": "ready"}, {})


def test_waiting_and_failing_make_no_gate() -> None:
    for phase in (Phase.WAITING, Phase.FAILED, Phase.UNKNOWN):
        after = wanted(NodeMarks(), driver=result(phase))
        assert (after.gates, after.proofs) == ({}, {})


def test_unknown_changes_nothing() -> None:
    before = NodeMarks({"driver": "ready"}, "ready", {"driver": PROOF})
    assert wanted(before, driver=result(Phase.UNKNOWN)) == before


def test_unknown_puts_back_the_summary_that_the_run_itself_has_changed() -> None:
    before = NodeMarks({"driver": "stale"}, "driver.waiting", {"driver": PROOF})
    after = wanted(before, first="ready", driver=result(Phase.UNKNOWN))
    assert (after.gates, after.summary) == ({"driver": "stale"}, "ready")


def test_a_node_with_a_gate_never_loses_its_summary_by_which_it_is_found_again() -> None:
    before = NodeMarks({"driver": "ready"}, "plugin.waiting", {"driver": PROOF})
    phases = {"driver": result(Phase.READY), "plugin": result(Phase.UNKNOWN, "plugin")}
    assert node_marks.wanted(before, PLANS, findings(phases)).summary == "plugin.waiting"


def test_failure_after_proof_degrades_and_withdraws_only_on_request() -> None:
    before = NodeMarks({"driver": "ready"}, "ready", {"driver": PROOF})
    assert wanted(before, driver=result(Phase.DEGRADED)).gates == {"driver": "degraded"}
    assert wanted(before, driver=result(Phase.DEGRADED)).summary == "driver.degraded"
    assert wanted(before, withdraw=True, driver=result(Phase.DEGRADED)).gates == {}


def test_a_gate_of_what_is_blocked_tells_so_and_its_proof_stands() -> None:
    before = NodeMarks({"driver": "ready"}, "ready", {"driver": PROOF})
    blocked = result(Phase.BLOCKED, cause="image")
    assert wanted(before, driver=blocked).gates == {"driver": "degraded"}
    assert wanted(before, driver=blocked).proofs == {"driver": PROOF}
    assert wanted(before, withdraw=True, driver=blocked).gates == {}
    assert wanted(NodeMarks(), driver=blocked).gates == {}
    mended = wanted(
        NodeMarks({"driver": "degraded"}, "x", {"driver": PROOF}), driver=result(Phase.READY)
    )
    assert (mended.gates, mended.proofs) == ({"driver": "ready"}, {"driver": PROOF})


def test_a_proof_that_no_longer_holds_is_stale_until_proven_again() -> None:
    old = ProofRecord("another-hash", world.KERNEL, world.BOOT, "before")
    before = NodeMarks({"driver": "ready"}, "ready", {"driver": old})
    assert wanted(before, driver=result(Phase.WAITING)).gates == {"driver": "stale"}
    again = wanted(before, driver=result(Phase.READY))
    assert again.gates == {"driver": "ready"}
    assert again.proofs["driver"] == ProofRecord("hash-driver", world.KERNEL, world.BOOT, NOW)


def test_a_pending_restart_is_stale_but_the_node_stays_ready_for_users() -> None:
    before = NodeMarks(
        {"driver": "ready"}, "ready", {"driver": ProofRecord("old", world.KERNEL, world.BOOT, "t")}
    )
    after = wanted(
        before,
        driver=result(Phase.READY, restart_pending=True),
        plugin=result(Phase.READY, "plugin"),
    )
    assert (after.gates, after.summary) == ({"driver": "stale"}, "ready")


def test_an_unchanged_proof_needs_no_patch() -> None:
    before = NodeMarks({"driver": "ready"}, "ready", {"driver": PROOF})
    after = wanted(before, driver=result(Phase.READY))
    assert node_marks.patch(before, after, "demo") is None


def test_patch_round_trips_through_a_node() -> None:
    after = wanted(NodeMarks(), driver=result(Phase.READY), plugin=result(Phase.WAITING, "plugin"))
    patch = node_marks.patch(NodeMarks(), after, "demo")
    assert patch is not None
    metadata = patch["metadata"]
    assert metadata["labels"] == {
        gate_label("demo", "driver"): "ready",
        summary_label("demo"): "plugin.waiting",
    }
    node = world.node(labels=metadata["labels"], annotations=metadata["annotations"])
    assert node_marks.read(node, "demo") == after
    assert (
        json.loads(metadata["annotations"][proofs_annotation("demo")])["driver"]["hash"]
        == "hash-driver"
    )


def test_a_broken_annotation_is_no_proof() -> None:
    for text in ("{", "[]", '{"driver": 1}', '{"driver": {"hash": "x"}}'):
        node = world.node(annotations={proofs_annotation("demo"): text})
        assert node_marks.read(node, "demo").proofs == {}


def test_only_what_somebody_waits_for_is_urgent() -> None:
    new_gate = NodeMarks({"driver": "ready"}, "plugin.waiting", {"driver": PROOF})
    assert node_marks.urgent(NodeMarks(), new_gate, PLANS, "toy")
    assert not node_marks.urgent(
        new_gate, NodeMarks({"driver": "ready"}, "ready", {"driver": PROOF}), PLANS, "toy"
    )
    assert node_marks.urgent(
        new_gate, NodeMarks({"driver": "degraded"}, "driver.degraded", {}), PLANS, "toy"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [(None, None), ("driver.failed", None), ("plugin.failed", "plugin.failed"), ("ready", "ready")],
)
def test_a_run_of_some_states_never_says_that_a_node_is_ready(
    before: str | None, after: str | None
) -> None:
    results = {"driver": result(Phase.READY)}
    found = node_marks.wanted(
        NodeMarks(summary=before), PLANS[:1], findings(results, first=before), complete=False
    )
    assert found.summary == after


@pytest.mark.parametrize(
    ("phase", "pending"),
    [
        (Phase.READY, ()),
        *((phase, ("driver",)) for phase in Phase if phase is not Phase.READY),
    ],
)
def test_a_pending_restart_is_noted_until_its_state_is_ready_with_what_is_deployed(
    phase: Phase, pending: tuple[str, ...]
) -> None:
    found = result(Phase.READY, restart_pending=True)
    noted = wanted(NodeMarks({"driver": "ready"}, "ready"), driver=found)
    assert noted.restarts == ("driver",)
    assert wanted(noted, driver=result(phase)).restarts == pending
    assert wanted(noted).restarts == ("driver",)


def test_a_pending_restart_of_a_state_that_is_no_more_is_forgotten() -> None:
    assert wanted(NodeMarks(restarts=("driver", "gone"))).restarts == ("driver",)


def test_a_pending_restart_is_an_annotation() -> None:
    name = "hardware-enablement.io/demo.restart-pending"
    before, after = NodeMarks(), NodeMarks(restarts=("a", "b"))
    annotated = {"metadata": {"annotations": {name: "a,b"}}}
    assert node_marks.patch(before, after, "demo") == annotated
    assert node_marks.patch(after, before, "demo") == {"metadata": {"annotations": {name: None}}}
    assert node_marks.read(world.node(annotations={name: "b,,a"}), "demo").restarts == ("a", "b")
