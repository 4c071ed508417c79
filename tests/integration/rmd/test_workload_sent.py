# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What rmd_workload and rmd_info ask of daemons: as little as possible, and the same thing once."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.integration.plays import PLAYBOOKS
from tests.integration.rmd.asking import NEW, OLD, OTHER, failed, good, outcomes
from tests.integration.rmd.bed import Obj
from tests.integration.rmd.workload_bed import WorkloadBed

pytestmark = pytest.mark.rmd


def test_the_first_run_posts_and_the_second_only_looks(bed: WorkloadBed) -> None:
    first = good(bed.workload(**OLD))
    assert first["changed"]
    assert outcomes(bed, first) == ["changed"] * 5
    mark, asked = bed.fleet.mark(), bed.cluster.mark()
    second = good(bed.workload(uuid="w", core_ids=["2", "1-1", "1,2"], cache={"max": 2, "min": 2}))
    assert not second["changed"]
    assert outcomes(bed, second) == ["unchanged"] * 5
    assert bed.methods(mark) == dict.fromkeys(bed.nodes, "G")
    assert second["requests"] == {"GET": 5}
    assert bed.runner.writes(asked) == []


def test_what_is_sent_for_a_change(bed: WorkloadBed) -> None:
    good(bed.workload(**OLD, nodes=bed.nodes[:1]))
    mark = bed.fleet.mark()
    good(bed.workload(**NEW, nodes=bed.nodes[:1]))
    # Two looks, without and with the node's lock; the caches; the change; RMD's own word.
    assert bed.methods(mark)[bed.nodes[0]] == "GGGDPG"
    assert bed.workloads()[bed.nodes[0]][0]["core_ids"] == ["1", "2"]
    assert bed.saved(bed.nodes[0]) == []
    assert bed.lease(bed.nodes[0])["spec"]["holderIdentity"] == ""


def test_absent(bed: WorkloadBed) -> None:
    good(bed.workload(workloads=[OLD, OTHER]))
    result = good(bed.workload(uuid="w", state="absent", nodes=bed.nodes[:2]))
    assert result["changed"]
    assert [[body["uuid"] for body in bodies] for bodies in bed.workloads().values()] == [
        ["other"],
        ["other"],
        ["w", "other"],
        ["w", "other"],
        ["w", "other"],
    ]
    mark = bed.fleet.mark()
    assert not good(bed.workload(uuid="w", state="absent", nodes=bed.nodes[:2]))["changed"]
    assert {"".join(set(methods)) for methods in bed.methods(mark).values()} == {"G", ""}


def test_several_workloads_in_one_run(bed: WorkloadBed) -> None:
    wanted = [OLD, OTHER, {"uuid": "shared", "core_ids": ["4", "5"], "cache": {"max": 0, "min": 0}}]
    result = good(bed.workload(workloads=wanted))
    assert [entry["action"] for entry in bed.by_node(result)[bed.nodes[0]]["actions"]] == [
        "post"
    ] * 3
    assert not good(bed.workload(workloads=wanted))["changed"]


def test_cores_change_places(bed: WorkloadBed) -> None:
    one, two = {**OLD, "uuid": "one", "core_ids": ["1"]}, {**OLD, "uuid": "two", "core_ids": ["2"]}
    good(bed.workload(workloads=[one, two]))
    good(bed.workload(workloads=[{**one, "core_ids": ["2"]}, {**two, "core_ids": ["1"]}]))
    assert {body["uuid"]: body["core_ids"] for body in bed.workloads()[bed.nodes[0]]} == {
        "one": ["2"],
        "two": ["1"],
    }


def test_a_policy(bed: WorkloadBed) -> None:
    good(bed.workload(uuid="w", core_ids=["1"], policy="gold"))
    assert not good(bed.workload(uuid="w", core_ids=["1"], policy="gold"))["changed"]
    assert good(bed.workload(uuid="w", core_ids=["1"], policy="silver"))["changed"]


def test_pstate(bed: WorkloadBed) -> None:
    wanted: Obj = {"uuid": "w", "core_ids": ["1"], "pstate": {"ratio": 3.0, "monitoring": "on"}}
    good(bed.workload(**{**wanted, "pstate": {"ratio": 3.0}}))
    assert not good(bed.workload(**{**wanted, "pstate": {"ratio": 3.0}}))["changed"]
    good(bed.workload(**wanted))
    assert not good(bed.workload(**wanted))["changed"]
    assert bed.info()["nodes"][0]["workloads"][0]["pstate"] == {"ratio": 3.0, "monitoring": "on"}


def test_memory_bandwidth(v03: WorkloadBed) -> None:
    good(v03.workload(**OLD, mba={"percentage": 50}))
    assert not good(v03.workload(**OLD, mba={"percentage": 50}))["changed"]
    failed(
        v03.workload(**OLD, mba={"mbps": 500}), "Please provide MBA in Percentage", "rolled back"
    )


def test_check_mode_and_diff(bed: WorkloadBed) -> None:
    good(bed.workload(**OLD, nodes=bed.nodes[:1]))
    before, mark, asked = bed.fleet.dump(), bed.fleet.mark(), bed.cluster.mark()
    result = good(bed.workload(check=True, diff=True, **NEW))
    assert result["changed"]
    assert outcomes(bed, result) == ["would_change"] * 5
    first, *others = result["diff"]
    assert first["after_header"] == f"node {bed.nodes[0]}"
    assert first["before"] == "workload w: core_ids=1-2 cache=max:2/min:2\n"
    assert first["after"] == "workload w: core_ids=1-2 cache=max:3/min:3\n"
    assert [each["before"] for each in others] == [""] * 4
    assert {"".join(sorted(set(methods))) for methods in bed.methods(mark).values()} == {"G"}
    assert bed.fleet.dump() == before
    assert bed.runner.writes(asked) == []


def test_check_mode_tells_what_rmd_would_refuse(v03: WorkloadBed) -> None:
    result = failed(
        v03.workload(check=True, uuid="w", core_ids=["99"], cache={"max": 2, "min": 2}),
        "names core 99",
    )
    assert not result["changed"]


def test_in_process_and_as_a_module(v03: WorkloadBed, tmp_path: Path) -> None:
    """By the action plugin, inside the controller's process, and by the module."""
    out = tmp_path / "out.json"
    common = {"out": str(out), "nodes": v03.nodes, "ansible_python_interpreter": sys.executable}
    for how, changed in (("local", True), ("elsewhere", False)):
        played = v03.runner.play(
            PLAYBOOKS / "rmd_workload.yml", **common, ansible_connection=how, workload=OLD
        )
        found = json.loads(out.read_text()) if played.check() else {}
        assert found["done"]["changed"] is changed
        assert [entry["node"] for entry in found["seen"]["nodes"]] == v03.nodes
        assert found["seen"]["nodes"][0]["workloads"][0]["uuid"] == "w"
        wrong = {**OLD, "cache": {"max": 1, "min": 2}}
        failing = v03.runner.play(
            PLAYBOOKS / "rmd_workload.yml", **common, ansible_connection=how, workload=wrong
        )
        assert failing.code != 0
        assert (
            "Cannot ask for workload w: workload w asks for at most 1 and at least 2 ways"
            in failing.output
        )


def test_nodes_by_label(v03: WorkloadBed) -> None:
    v03.cluster.kubectl("label", "node", v03.nodes[1], v03.nodes[3], "cache=yes", "--overwrite")
    result = good(v03.workload(**OLD, nodes=None, node_selector={"cache": "yes"}))
    assert list(v03.by_node(result)) == [v03.nodes[1], v03.nodes[3]]
    nothing = good(v03.workload(**OLD, nodes=None, node_selector={"cache": "no"}))
    assert (nothing["changed"], nothing["nodes"]) == (False, [])


def test_info(bed: WorkloadBed) -> None:
    good(bed.workload(**OLD, nodes=bed.nodes[:1]))
    bed.server(4).stop()
    found = bed.by_node(bed.info())
    first, last = found[bed.nodes[0]], found[bed.nodes[4]]
    assert first["reachable"]
    assert first["dialect"] == bed.server(0).settings.dialect.value
    assert [(cache["id"], cache["cores"], cache["ways"]) for cache in first["caches"]] == [
        ("0", "0-3", 11),
        ("1", "4-7", 11),
    ]
    assert set(first["policies"]) == {"bronze", "gold", "silver"}
    assert not last["reachable"]
    assert (last["kind"], last["workloads"]) == ("transport", [])
