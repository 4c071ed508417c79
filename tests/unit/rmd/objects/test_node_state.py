# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An RmdNodeState: the operator's keys, the last good kept, no write without a change."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.dialect import decode
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.node_snapshot import (
    NodeSnapshot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.node_state import (
    is_change,
    rows,
    skeleton,
    status,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import (
    RunningWorkload,
)
from tests.unit.rmd.objects.things import LATER_TEXT, NOW, NOW_TEXT, running

HOUR = 3600


def test_the_keys_are_the_seeds() -> None:
    assert rows([running("rmdworkload-guaranteed-cache")]) == {
        "rmdworkload-guaranteed-cache": {
            "Cache Max": "2",
            "Cache Min": "2",
            "Core IDs": "0,1,2,3",
            "Cos Name": "0_1_2_3-guarantee",
            "ID": "1",
            "Origin": "REST",
            "Status": "Successful",
        }
    }


def test_each_key_only_when_it_is_set() -> None:
    more: dict[str, Any] = {
        "rdt": {"cache": {"max": 2, "min": 2}, "mba": {"percentage": 50}},
        "plugins": {"pstate": {"ratio": 3.0, "monitoring": "on"}},
    }
    found = rows([decode({"id": "4", "uuid": "a", "core_ids": ["4-5"], "status": "None", **more})])[
        "a"
    ]
    assert found["MBA Percentage"] == "50"
    assert (found["P-State Ratio"], found["P-State Monitoring"]) == ("3.000000", "on")
    assert found["Core IDs"] == "4,5"
    assert found.keys().isdisjoint({"MBA Mbps", "Policy", "Cos Name"})
    assert (
        rows([decode({"id": "5", "uuid": "b", "core_ids": ["1"], "policy": "gold"})])["b"]["Policy"]
        == "gold"
    )


def test_workloads_without_uuid_do_not_become_one() -> None:
    assert set(rows([running("", number=1), running("", number=2)])) == {"id 1", "id 2"}


def seen(
    there: list[RunningWorkload] | None, before: dict[str, Any], now: float, why: str = ""
) -> dict[str, Any]:
    return status(
        before, None if there is None else NodeSnapshot(tuple(there)), why, now, boot="b1"
    )


def test_the_last_good_stays_while_rmd_does_not_answer() -> None:
    good = seen([running()], {}, NOW)
    assert (good["reachable"], good["lastSeen"]) == (True, NOW_TEXT)
    lost = seen(None, good, NOW + 1, "connection refused")
    assert lost["workloads"] == good["workloads"]
    assert (lost["reachable"], lost["lastSeen"]) == (False, NOW_TEXT)
    assert lost["conditions"][0]["message"] == "connection refused"
    assert seen(None, lost, NOW + 2 * HOUR, "connection refused") == lost
    back = seen([running()], lost, NOW + 1)
    assert (back["reachable"], back["lastSeen"]) == (True, LATER_TEXT)


def test_what_the_kernel_does_and_in_which_boot() -> None:
    group = {"cpus_list": "0-3", "schemata": {"L3": {"0": "60", "1": "7ff"}, "MB": {"0": 100}}}
    made = {"cpus_list": "", "schemata": {"L3": {"0": "7ff"}}}
    groups = {"": {**group, "cpus_list": "4-7"}, "0_1_2_3-guarantee": group, "made": made}
    report = {"resctrl": {"groups": groups}}
    good = status({}, NodeSnapshot((running(),), report), "", NOW, boot="b1")
    assert good["groups"] == {
        ".": {"CPUs": "4-7", "L3": "0=60;1=7ff", "MB": "0=100"},
        "0_1_2_3-guarantee": {"CPUs": "0-3", "L3": "0=60;1=7ff", "MB": "0=100"},
        "made": {"CPUs": "", "L3": "0=7ff"},
    }
    assert good["bootID"] == "b1"
    verdicts = {entry["type"]: (entry["status"], entry["message"]) for entry in good["conditions"]}
    assert verdicts["Enforced"] == ("True", "")
    bad = status(
        good, NodeSnapshot((running(),), report, {"1": "no"}, strays=(5,)), "", NOW, boot="b1"
    )
    told = "web: no; core 5 is in a group of workloads, and no workload's"
    assert bad["conditions"][1]["message"] == told
    # A node that cannot be looked at may have booted, which the next look has to find out.
    lost = status(bad, None, "gone", NOW, boot="b2")
    assert (lost["bootID"], lost["groups"]) == ("b1", good["groups"])
    assert lost["conditions"][1]["status"] == "Unknown"


def test_last_seen_is_written_with_other_changes_or_after_an_hour() -> None:
    first = seen([running()], {}, NOW)
    assert seen([running()], first, NOW + HOUR - 1) == first
    assert seen([running()], first, NOW + HOUR)["lastSeen"] != NOW_TEXT
    assert seen([], first, NOW + 1)["lastSeen"] == LATER_TEXT


def test_none_and_no_answer_are_told_apart() -> None:
    before = seen([running()], {}, NOW)
    assert seen([], before, NOW)["workloads"] == {}
    assert seen(None, before, NOW)["workloads"] != {}


def test_the_object_is_the_operators_and_goes_with_the_node() -> None:
    made = skeleton("worker-node-1", "75d03574")
    assert (made["metadata"]["name"], made["metadata"]["namespace"]) == (
        "rmd-node-state-worker-node-1",
        "default",
    )
    assert made["spec"] == {"node": "worker-node-1", "nodeUid": "75d03574"}
    assert made["metadata"]["ownerReferences"][0]["kind"] == "Node"


def test_what_was_only_seen_is_no_change() -> None:
    """A report of the middle of a DELETE: CPUs are back, ways are not."""
    half = {"groups": {"COS3": {"CPUs": "", "L3": "0=c0"}}, "lastSeen": NOW_TEXT, "workloads": {}}
    whole = {**half, "groups": {"COS3": {"CPUs": "", "L3": "0=7ff"}}, "lastSeen": LATER_TEXT}
    assert not is_change(half, whole)
    assert is_change(half, {**whole, "workloads": {"w": {}}})
    assert is_change(half, {**whole, "bootID": "new"})
