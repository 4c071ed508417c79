# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of an RmdWorkload, as the operator's users know it."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.dialect import decode
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.workload_state import (
    OnNode,
    WorkloadOutcome,
    make_status,
    removed_status,
)
from tests.unit.rmd.objects.things import NOW, NOW_TEXT, running

POSTED = OnNode(WorkloadOutcome.POSTED, running(number=2))
KEPT = OnNode(WorkloadOutcome.KEPT, running(number=2))


def made(
    states: dict[str, OnNode],
    before: dict[str, Any] | None = None,
    problem: str = "",
    *,
    deleted: bool = False,
    now: float = NOW,
) -> dict[str, Any]:
    return make_status(
        before or {}, states, problem=problem, is_deleted=deleted, generation=1, now=now
    )


def verdicts(status: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {entry["type"]: (entry["status"], entry["reason"]) for entry in status["conditions"]}


def test_the_fields_are_the_seeds() -> None:
    status = made({"worker-node-1": POSTED, "worker-node-2": KEPT})
    assert status["workloadStates"] == {
        "worker-node-1": {
            "response": "Success: 201",
            "id": "2",
            "cosName": "0_1_2_3-guarantee",
            "status": "Successful",
            "enforced": True,
        },
        "worker-node-2": {
            "response": "Success: 200",
            "id": "2",
            "cosName": "0_1_2_3-guarantee",
            "status": "Successful",
            "enforced": True,
        },
    }
    assert status["nodes"] == "2/2"
    assert verdicts(status) == {
        "Ready": ("True", "AllNodes"),
        "Enforced": ("True", "AllNodes"),
        "Degraded": ("False", "AsExpected"),
        "Invalid": ("False", "Accepted"),
    }


def test_a_second_time_nothing_changes() -> None:
    first = made({"a": POSTED})
    assert made({"a": KEPT}, first, now=NOW + 100) == first


def test_version_0_3_says_more() -> None:
    body = {
        "id": "1",
        "uuid": "web",
        "core_ids": ["3", "4-5"],
        "rdt": {"cache": {"max": 2, "min": 2}, "mba": {"percentage": 50}},
        "plugins": {"pstate": {"ratio": 3.0, "monitoring": "on"}},
        "status": "Successful",
        "cos_name": "COS2",
        "origin": "REST",
    }
    assert made({"a": OnNode(WorkloadOutcome.POSTED, decode(body))})["workloadStates"]["a"] == {
        "response": "Success: 201",
        "id": "1",
        "cosName": "COS2",
        "status": "Successful",
        "coreIds": ["3", "4", "5"],
        "rdt": {"cache": {"max": 2, "min": 2}, "mba": {"percentage": 50}},
        "plugins": {"pstate": {"ratio": "3.0", "monitoring": "on"}},
        "enforced": True,
    }


def test_what_is_not_in_force_is_not_ready() -> None:
    off = OnNode(WorkloadOutcome.NOT_ENFORCED, running(), "it has 3 ways")
    status = made({"a": POSTED, "b": off, "c": OnNode(WorkloadOutcome.UNREACHABLE, None, "gone")})
    assert verdicts(status)["Enforced"] == ("False", "NotEnforced")
    assert verdicts(status)["Ready"] == ("False", "NotEnforced")
    assert status["conditions"][1]["message"] == "b: it has 3 ways"
    states = status["workloadStates"]
    assert [states[node].get("enforced") for node in "abc"] == [True, False, None]
    unseen = made({"a": POSTED, "c": OnNode(WorkloadOutcome.UNREACHABLE, None, "gone")}, status)
    assert verdicts(unseen)["Enforced"] == ("Unknown", "NotSeen")


def test_nothing_is_ready_when_rmd_is_gone() -> None:
    gone = removed_status(made({"a": POSTED}), 1, NOW)
    assert {key: value[0] for key, value in verdicts(gone).items()} == dict.fromkeys(
        ("Ready", "Enforced", "Degraded", "Invalid"), "False"
    )
    assert (gone["workloadStates"], gone["conditions"][0]["reason"]) == ({}, "Removed")
    assert removed_status(gone, 1, NOW + 5) == gone


def test_one_node_that_refuses_is_told_and_the_others_count() -> None:
    status = made({"a": POSTED, "b": OnNode(WorkloadOutcome.REFUSED, None, 'RMD says "no"')})
    assert status["workloadStates"]["b"] == {
        "response": 'Fail: RMD says "no"',
        "enforced": False,
    }
    assert status["nodes"] == "1/2"
    assert verdicts(status)["Ready"] == ("False", "Refused")
    assert verdicts(status)["Degraded"] == ("True", "Refused")
    assert status["conditions"][0]["message"] == 'b: RMD says "no"'


def test_what_was_known_of_a_node_that_does_not_answer_stays() -> None:
    status = made(
        {"a": OnNode(WorkloadOutcome.UNREACHABLE, None, "no answer")}, made({"a": POSTED})
    )
    assert status["workloadStates"]["a"] == {
        "response": "Fail: no answer",
        "id": "2",
        "cosName": "0_1_2_3-guarantee",
        "status": "Successful",
    }
    assert verdicts(status)["Degraded"] == ("True", "Unreachable")


def test_invalid_says_why_and_what_ran_before_is_still_shown() -> None:
    status = made({"a": OnNode(WorkloadOutcome.INVALID, running(), "bad")}, problem="bad")
    assert verdicts(status) == {
        "Ready": ("False", "Invalid"),
        "Enforced": ("False", "NotEnforced"),
        "Degraded": ("False", "NotTried"),
        "Invalid": ("True", "NotAccepted"),
    }
    assert status["conditions"][3]["message"] == "bad"
    assert status["workloadStates"]["a"]["id"] == "1"


def test_invalid_on_a_node() -> None:
    status = made({"a": OnNode(WorkloadOutcome.INVALID, None, "core 99 is not there"), "b": POSTED})
    assert verdicts(status)["Invalid"] == ("True", "NotAccepted")
    assert verdicts(status)["Ready"] == ("False", "Invalid")


def test_no_nodes() -> None:
    assert verdicts(made({}))["Ready"] == ("False", "NoNodes")


def test_a_condition_keeps_its_time_while_its_status_stays() -> None:
    bad = made({"a": OnNode(WorkloadOutcome.REFUSED, None, "no")})
    other = made({"a": OnNode(WorkloadOutcome.UNREACHABLE, None, "gone")}, bad, now=NOW + 5)
    assert other["conditions"][0]["lastTransitionTime"] == NOW_TEXT
    assert other["conditions"][0]["reason"] == "Unreachable"
    good = made({"a": POSTED}, other, now=NOW + 5)
    assert good["conditions"][0]["lastTransitionTime"] != NOW_TEXT


def test_a_workload_that_goes_says_what_holds_it() -> None:
    status = made({"a": OnNode(WorkloadOutcome.UNREACHABLE, None, "no answer")}, deleted=True)
    assert verdicts(status)["Degraded"] == ("True", "Deleted")
    assert status["conditions"][0]["message"] == "a: no answer"
