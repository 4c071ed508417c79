# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a workload stands on each node."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.node_results import (
    FAILED,
    WITHHELD,
    NodeFate,
    NodeReport,
    SnapshotPair,
    WorkloadWrite,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.node_snapshot import (
    NodeSnapshot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.view import (
    OWNED_ANNOTATION,
    View,
    states_of,
    wanted_on,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.workload_spec import (
    Declared,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.workload_state import (
    OnNode,
    WorkloadOutcome,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.rmd_errors import (
    Refusal,
    RmdError,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import (
    RunningWorkload,
)
from tests.unit.rmd.objects.things import CACHE, declared, running

MUTE = RmdError("Cannot list the workloads", kind="transport", why="no answer")
ONE, TWO = "worker-node-1", "worker-node-2"


def view(
    entry: Declared,
    before: list[RunningWorkload] | None,
    report: NodeReport | None = None,
    owned: tuple[str, ...] = (),
    refused: dict[str, Refusal] | None = None,
    broken: dict[str, str] | None = None,
) -> View:
    annotations = {OWNED_ANNOTATION: json.dumps(list(owned))}
    found = View(
        ONE,
        state={"metadata": {"annotations": annotations}},
        report=report or NodeReport(ONE),
        refused=refused or {},
    )
    assert found.report is not None
    if before is None:
        found.report.fate.error = MUTE
        return found
    if report is None:
        found.report.seen.after = NodeSnapshot(tuple(before), broken=broken or {})
    found.wanted = wanted_on(
        ONE,
        [entry],
        {entry.name: entry.nodes({}, {})},
        running=before,
        cores=range(8),
        owned=owned,
    )
    return found


def report(after: list[RunningWorkload], *writes: WorkloadWrite, **fate: Any) -> NodeReport:
    seen = SnapshotPair(after=NodeSnapshot(tuple(after)))
    return NodeReport(ONE, seen=seen, writes=list(writes), fate=NodeFate(**fate))


def state(entry: Declared, seen: View) -> OnNode | None:
    return states_of(entry, entry.nodes({}, {}), {ONE: seen}).get(ONE)


WEB = declared(spec={**CACHE, "nodes": [ONE]})
ELSEWHERE = declared(spec={**CACHE, "nodes": []})
CORES = RmdError("Cannot post workload web", kind="conflict_core", why="taken")
SILENT = RmdError("Cannot list the workloads", kind="transport", why="no connection")


def test_what_runs_as_asked_is_kept_or_was_posted() -> None:
    kept = state(WEB, view(WEB, [running()]))
    assert kept is not None
    assert kept.outcome is WorkloadOutcome.KEPT
    posted = state(WEB, view(WEB, [], report([running()], WorkloadWrite("web", "post"))))
    assert posted is not None
    assert posted.outcome is WorkloadOutcome.POSTED


def test_another_workloads_failure_on_the_node_is_not_this_ones() -> None:
    after = report(
        [running()],
        WorkloadWrite("web", "post"),
        WorkloadWrite("other", "post", "taken"),
        outcome=FAILED,
        error=CORES,
    )
    found = state(WEB, view(WEB, [], after))
    assert found is not None
    assert found.outcome is WorkloadOutcome.POSTED


def test_what_could_not_be_replaced_is_not_taken_for_the_new_one() -> None:
    old = running(ways=5)
    after = report([old], WorkloadWrite("web", "replace", "taken"), outcome=FAILED, error=CORES)
    found = state(WEB, view(WEB, [old], after))
    assert found == OnNode(WorkloadOutcome.REFUSED, old, "taken")


def test_a_run_that_was_cut_off_says_so() -> None:
    after = report([], WorkloadWrite("web", "post"), outcome=FAILED, error=SILENT)
    found = state(WEB, view(WEB, [], after))
    assert found is not None
    assert found.outcome is WorkloadOutcome.UNREACHABLE
    assert found.why == f"{str(SILENT).rstrip('.')}"


def test_what_is_withheld_says_so() -> None:
    old = running(ways=5)
    found = state(
        WEB, view(WEB, [old], report([old], WorkloadWrite("web", "replace"), outcome=WITHHELD))
    )
    assert found == OnNode(
        WorkloadOutcome.REFUSED, old, "nothing was sent, since another node failed"
    )


def test_a_group_that_rmd_says_it_could_not_set_is_not_ready() -> None:
    failed = running(status="Failed")
    found = state(WEB, view(WEB, [failed]))
    assert found is not None
    assert found.outcome is WorkloadOutcome.REFUSED


def test_refused_before_it_was_sent() -> None:
    refused = {"web": Refusal("no_cores", "bad")}
    assert state(WEB, view(WEB, [], refused=refused)) == OnNode(
        WorkloadOutcome.INVALID, None, "bad; give core_ids"
    )
    passing = {"web": Refusal("conflict_core", "taken")}
    found = state(WEB, view(WEB, [], refused=passing))
    assert found is not None
    assert found.outcome is WorkloadOutcome.REFUSED


def test_what_the_kernel_does_not_do_is_not_enforced() -> None:
    found = state(WEB, view(WEB, [running()], broken={"1": "core 1 is not there"}))
    assert found == OnNode(WorkloadOutcome.NOT_ENFORCED, running(), "core 1 is not there")


def test_a_node_that_is_not_there() -> None:
    found = states_of(WEB, [ONE], {})
    assert found[ONE].outcome is WorkloadOutcome.NO_NODE
    gone = declared(
        spec={**CACHE, "nodes": [ONE]}, status={"workloadStates": {ONE: {"id": "1"}}}, deleted=True
    )
    assert states_of(gone, [ONE], {}) == {}


def test_a_node_that_does_not_answer() -> None:
    assert state(WEB, view(WEB, None)) == OnNode(
        WorkloadOutcome.UNREACHABLE, None, str(MUTE).rstrip(".")
    )


def test_what_goes_is_there_until_it_is_gone() -> None:
    assert (
        state(ELSEWHERE, view(ELSEWHERE, [running()], report([], WorkloadWrite("web", "delete"))))
        is None
    )
    stuck = state(
        ELSEWHERE,
        view(
            ELSEWHERE,
            [running()],
            report([running()], WorkloadWrite("web", "delete"), error=SILENT),
        ),
    )
    assert stuck is not None
    assert stuck.outcome is WorkloadOutcome.UNREACHABLE
    assert stuck.why.startswith("it could not be removed: ")


def test_a_deleted_object_waits_only_for_nodes_that_had_it() -> None:
    had = declared(status={"workloadStates": {ONE: {"id": "1"}}}, deleted=True)
    tried = declared(
        status={"workloadStates": {ONE: {"response": "Fail: no answer"}}}, deleted=True
    )
    assert state(had, view(had, None)) is not None
    assert state(tried, view(tried, None)) is None
    # A run that was killed after its POST has written no status, but what it was about to do.
    assert state(tried, view(tried, None, owned=("web",))) is not None


def test_an_object_with_a_problem_shows_what_runs_of_it() -> None:
    wrong = declared(spec={**CACHE, "coreIds": ["x"], "nodes": [ONE]})
    found = state(wrong, view(wrong, [running()]))
    assert found is not None
    assert (found.outcome, found.running) == (WorkloadOutcome.INVALID, running())
