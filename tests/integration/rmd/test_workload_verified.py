# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the agent has read on the node decides, not RMD's word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.integration.plays import REPO
from tests.integration.rmd.asking import OLD, OTHER, failed, good
from tests.integration.rmd.bed import Obj
from tests.integration.rmd.workload_bed import WorkloadBed
from tests.rmd.resctrl import Resctrl

pytestmark = pytest.mark.rmd

BOTH: Obj = {"workloads": [OLD, OTHER]}


def tree(bed: WorkloadBed) -> Resctrl:
    """The first node's."""
    return bed.server(0).node.resctrl


def asked(bed: WorkloadBed, **params: Any) -> tuple[Obj, str]:
    """rmd_workload on the first node, and the letters of what its server was asked."""
    mark = bed.fleet.mark()
    result = bed.workload(nodes=bed.nodes[:1], **params)
    return result, bed.methods(mark)[bed.nodes[0]]


def group(bed: WorkloadBed, uuid: str) -> str:
    """The group of a workload on the first node."""
    return next(
        str(found["cos_name"]) for found in bed.server(0).workloads() if found["uuid"] == uuid
    )


def test_what_is_in_force_costs_one_get(bed: WorkloadBed) -> None:
    two_sockets = {"uuid": "w", "core_ids": ["1", "5"], "cache": {"max": 2, "min": 2}}
    made, _letters = asked(bed, **two_sockets)
    assert good(made)["nodes"][0]["workloads"][0]["enforced"] is True
    again, letters = asked(bed, **two_sockets)
    assert (good(again)["changed"], letters) == (False, "G")


def test_only_what_is_not_in_force_is_posted_again(bed: WorkloadBed) -> None:
    """Ways that somebody has changed, cores that somebody has taken, a group that is gone."""
    good(asked(bed, **BOTH)[0])
    kept = next(found["id"] for found in bed.server(0).workloads() if found["uuid"] == "other")
    tree(bed).set_masks(group(bed, "w"), {0: 0x7})
    tree(bed).take_back(group(bed, "w"), ())
    told = bed.info(nodes=bed.nodes[:1])["nodes"][0]["workloads"]
    found = {workload["uuid"]: workload["enforced"] for workload in told}
    assert found == {"w": False, "other": True}
    result, letters = asked(bed, **BOTH)
    assert good(result)["changed"]
    assert (letters.count("D"), letters.count("P")) == (1, 1)
    ids = {found["uuid"]: found["id"] for found in bed.server(0).workloads()}
    assert ids["other"] == kept
    tree(bed).remove(group(bed, "w"))
    assert asked(bed, **BOTH)[1].count("P") == 1
    assert asked(bed, **BOTH)[1] == "G"


def test_a_ghost_of_a_boot_is_made_true(v03: WorkloadBed) -> None:
    """The database is kept, and RMD says Successful."""
    good(asked(v03, **BOTH)[0])
    v03.server(0).reboot()
    assert {found["status"] for found in v03.server(0).workloads()} == {"Successful"}
    assert good(asked(v03, **BOTH)[0])["changed"]
    assert tree(v03).dump()[group(v03, "w")]["cpus_list"] == "1-2"
    assert asked(v03, **BOTH)[1] == "G"


def test_a_lost_database_and_a_deleted_range_leave_no_core_behind(bed: WorkloadBed) -> None:
    good(asked(bed, **BOTH)[0])
    bed.server(0).restart(empty_database=True)
    good(asked(bed, **OTHER)[0])
    lists = {name: found["cpus_list"] for name, found in tree(bed).dump().items()}
    assert lists["."] == "0-2,4-7"
    assert asked(bed, **OTHER)[1] == "G"


def test_a_deleted_range_leaves_no_core_behind(v03: WorkloadBed) -> None:
    made = {"uuid": "others", "core_ids": ["4-5"], "rdt": {"cache": {"max": 1, "min": 1}}}
    good(asked(v03, **OTHER)[0])
    v03.post(v03.nodes[0], made)
    good(asked(v03, uuid="others", state="absent")[0])
    good(asked(v03, **OTHER)[0])
    assert tree(v03).dump()["."]["cpus_list"] == "0-2,4-7"


def test_what_never_comes_to_be_in_force_is_named_and_taken_back(v03: WorkloadBed) -> None:
    v03.server(0).faults.silent_noop = True
    result, _letters = asked(v03, **OLD)
    failed(result, "core 1-2 is not in COS", "posted 3 times")
    assert result["nodes"][0]["kind"] == "not_in_force"
    assert v03.server(0).workloads() == []


def test_memory_bandwidth_is_what_the_kernel_makes_of_it(v03: WorkloadBed) -> None:
    result = good(asked(v03, **OLD, mba={"percentage": 25})[0])
    assert "makes 30: its step is 10" in result["warnings"][0]
    assert asked(v03, **OLD, mba={"percentage": 25})[1] == "G"
    result, letters = asked(v03, **OLD, mba={"percentage": 5})
    failed(result, "the kernel gives 10 at least")
    assert "P" not in letters


def test_without_a_word_of_the_agent_nothing_is_sent_but_workloads_can_go(bed: WorkloadBed) -> None:
    good(asked(bed, **OLD)[0])
    bed.reports.mute(bed.nodes[0])
    result, letters = asked(bed, **OTHER)
    failed(result, "There is no report of the agent")
    assert (result["nodes"][0]["kind"], letters) == ("unverified", "G")
    good(asked(bed, uuid="w", state="absent")[0])
    assert bed.server(0).workloads() == []


def test_the_pages_playbook(v03: WorkloadBed, tmp_path: Path) -> None:
    """docs/admin/rmd-modules.md, on our nodes."""
    page = (REPO / "docs" / "admin" / "rmd-modules.md").read_text()
    text = page.split("```yaml\n")[1].split("```")[0]
    for number, node in enumerate(v03.nodes[:2], start=1):
        text = text.replace(f"worker-node-{number}", node)
    (tmp_path / "cache.yml").write_text(text)
    good(
        v03.workload(uuid="web", core_ids=["1-3"], cache={"max": 2, "min": 2}, nodes=v03.nodes[:2])
    )
    played = v03.runner.play(tmp_path / "cache.yml").unchanged()
    assert f'"msg": "{v03.nodes[0]}: [' in played.output
