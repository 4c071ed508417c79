# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of a fleet: a row for each cluster and recipe, and what is a problem."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states import fleet

DOWN = {"failed": True, "msg": "https://down cannot be reached."}


def report(phase: str, ready: int = 2, **more: Any) -> dict[str, Any]:
    """What state_validate says of two nodes."""
    good = phase == "ready"
    message = f"{ready} of 2 nodes are ready"
    found = {
        "phase": phase,
        "ready": good,
        "acceptable": good,
        "nodes_ready": ready,
        "nodes_total": 2,
    }
    return {**found, "message": message, **more}


def run(clusters: dict[str, Any], *, check: bool = False, **params: Any) -> dict[str, Any]:
    lines: list[str] = []
    context = RunContext(check_mode=check, notice=lines.append)
    found = fleet.run(fleet.FleetReportRequest(clusters, **{"recipe": "toy", **params}), context)
    assert lines == found["table"]
    return found


def test_the_table_of_a_run() -> None:
    found = run(
        {
            "east": [{}, {"changed": True, "report": report("ready")}],
            "south": [{"host": "x"}, DOWN, {}],
            "west": [{}, {"report": report("failed", 1)}],
        }
    )
    assert found["table"] == [
        "CLUSTER  RECIPE  PHASE   NODES  MESSAGE",
        "east     toy     ready   2/2",
        "south    toy     error   -      https://down cannot be reached.",
        "west     toy     failed  1/2    1 of 2 nodes are ready",
    ]
    assert found["problems"] == {"south": DOWN["msg"], "west": "1 of 2 nodes are ready"}


def test_what_could_not_be_told_is_acceptable_to_a_run_and_not_to_status() -> None:
    unknown = [{"report": report("unknown", 1, acceptable=True)}]
    assert run({"east": unknown})["problems"] == {}
    assert list(run({"east": unknown}, require_ready=True)["problems"]) == ["east"]


def test_check_mode_forgives_what_is_not_ready_but_no_error() -> None:
    found = run({"east": [{"report": report("waiting", 0)}], "west": [DOWN]}, check=True)
    assert list(found["problems"]) == ["west"]


def test_status_has_a_row_for_each_recipe() -> None:
    entries = [
        {"item": {"name": name}, **report(phase)}
        for name, phase in (("a", "ready"), ("b", "degraded"))
    ]
    found = run({"east": [{}, {"results": entries}]}, recipe="", require_ready=True)
    assert [(row["recipe"], row["phase"], row["failed"]) for row in found["rows"]] == [
        ("a", "ready", False),
        ("b", "degraded", True),
    ]


def test_a_cluster_without_anything_and_one_that_said_nothing() -> None:
    found = run({"east": [{}, {"results": []}], "west": []}, recipe="", require_ready=True)
    assert found["problems"] == {"east": "nothing is enabled", "west": "the run said nothing"}


def test_a_run_that_proves_nothing_has_nothing_to_tell() -> None:
    assert run({"east": [{"states": []}]})["problems"] == {}


def test_checks_that_do_not_hold_are_a_failure_although_their_task_is_none() -> None:
    checked = {"findings": [{"node": "a"}], "nodes": ["a", "b"], "table": ["NUMA: 1 error"]}
    failed = {**checked, "failed": False, "msg": "NUMA placement is not as it should be."}
    found = run({"east": [checked], "west": [failed]})
    assert [(row["phase"], row["failed"]) for row in found["rows"]] == [
        ("ready", False),
        ("error", True),
    ]
    assert found["problems"] == {"west": failed["msg"]}
