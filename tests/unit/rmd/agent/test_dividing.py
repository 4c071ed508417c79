# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The agent as the writer: what it makes of what is declared, in which order, and what it repairs.
Each write goes through the kernel's rules."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from declared import group_of
from resctrl import RefusedWriteError

from tests.rmd.resctrl import ROOT, Resctrl
from tests.unit.forged_pods import FORGED, forged, made_by_daemonset
from tests.unit.rmd.agent.dividing import DividedNode, Obj, entry, whys

WEB = group_of("web")
POD = "7d4f3c2e-1a2b-4c3d-8e9f-0123456789ab"


@pytest.fixture(name="node")
def _node(tmp_path: Path) -> DividedNode:
    return DividedNode(tmp_path)


def test_each_pool_on_the_sockets_that_have_the_cores(node: DividedNode) -> None:
    told = node.converge(
        {
            "alone": entry("1-2"),
            "both": entry("3,4", 1),
            "some": entry("5", 3, 1),
            "s1": entry("6", 0),
            "s2": entry("7", 0),
            "bandwidth": {"coreIds": ["0"], "mba": {"percentage": 25}},
        }
    )
    assert whys(told) == {}
    assert node.groups() == {
        ".": ("", {0: "f", 1: "3f"}),
        ".alone": ("1-2", {0: "60", 1: "7ff"}),
        ".both": ("3-4", {0: "10", 1: "40"}),
        ".some": ("5", {0: "7ff", 1: "380"}),
        ".bandwidth": ("0", {0: "f", 1: "7ff"}),
        "-shared": ("6-7", {0: "7ff", 1: "400"}),
    }
    assert node.tree.groups[group_of("bandwidth")].mba == {0: 30, 1: 100}


def test_a_second_look_writes_nothing(node: DividedNode) -> None:
    wanted = {"a": entry("1-2", mba={"percentage": 25}), "b": entry("4", 3, 1), "c": entry("5", 0)}
    node.converge(wanted)
    assert node.files.writes != []
    node.converge(wanted)
    assert node.files.writes == []


def test_without_workloads_everything_is_everybodys_again(node: DividedNode) -> None:
    node.converge({"a": entry("1-2"), "b": entry("5", 3, 1)})
    node.converge({})
    assert node.groups() == {".": ("0-7", {0: "7ff", 1: "7ff"})}


def test_what_is_there_stays_where_it_is(node: DividedNode) -> None:
    node.converge({"m": entry("1"), "n": entry("2")})
    before = node.groups()
    node.converge({"a": entry("3"), "m": entry("1"), "n": entry("2")})
    after = node.groups()
    assert {name: after[name] for name in (".m", ".n")} == {
        name: before[name] for name in (".m", ".n")
    }
    node.converge({"a": entry("3"), "n": entry("2")})
    assert node.groups()[".n"] == before[".n"]


def test_one_that_changes_disturbs_no_other(node: DividedNode) -> None:
    node.converge({"a": entry("1"), "b": entry("2")})
    node.converge({"a": entry("1"), "b": entry("2", 4)})
    assert node.groups()[".b"][1][0] == "1e"
    assert all(text.startswith((f"{group_of('b')}/", "./")) for text in node.files.writes)


# What somebody does by hand.
HANDS: dict[str, Callable[[Resctrl], object]] = {
    "boot": lambda tree: tree.reset(),
    "group deleted": lambda tree: tree.remove(WEB),
    "cores taken": lambda tree: tree.take_back(WEB, ()),
    "a core put in": lambda tree: tree.assign(WEB, [7]),
    "ways moved": lambda tree: tree.set_masks(WEB, {0: 0x3}),
    "default grown": lambda tree: tree.set_masks(ROOT, {0: 0x7FF}),
    "default elsewhere": lambda tree: tree.set_masks(ROOT, {0: 0x400}),
    "bandwidth": lambda tree: tree.set_mba(WEB, {0: 100}),
    "our name, nobody's": lambda tree: tree.make(group_of("ghost")),
}


@pytest.mark.parametrize("what", HANDS)
def test_whatever_is_done_by_hand_is_repaired(node: DividedNode, what: str) -> None:
    wanted = {"web": entry("1-2", mba={"percentage": 50}), "db": entry("5", 3, 1)}
    node.converge(wanted)
    before = node.tree.dump()
    HANDS[what](node.tree)
    assert node.tree.dump() != before
    assert whys(node.converge(wanted)) == {}
    assert node.tree.dump() == before


def test_at_no_moment_are_exclusive_ways_shared(tmp_path: Path) -> None:
    """Any change of what is declared, checked after each single write."""
    shared: list[str] = []

    def watch(tree: Resctrl) -> None:
        shared.extend(node.exclusive_ways_are_shared(tree))

    node = DividedNode(tmp_path, watch)
    chance = random.Random(16)  # noqa: S311 - the same each time
    wanted: dict[str, Obj] = {}
    writes = 0
    for _turn in range(150):
        for _change in range(chance.randint(1, 3)):
            uuid = chance.choice("abcdefg")
            cores = ",".join(map(str, chance.sample(range(1, 8), chance.randint(1, 2))))
            most = chance.choice([0, 1, 1, 2, 3])
            least = most if chance.random() < 0.7 else min(most, 1)
            wanted[uuid] = entry(cores, most, least)
            if uuid == "g":
                wanted[uuid] = {"coreIds": cores.split(","), "mba": {"percentage": 50}}
            if chance.random() < 0.3:
                del wanted[uuid]
        node.converge(wanted)
        writes += len(node.files.writes)
        assert (shared, node.problems) == ([], [])
        node.converge(wanted)
        assert node.files.writes == []
    assert writes > 400


def test_groups_of_others_are_left_alone(node: DividedNode) -> None:
    tree = node.tree
    tree.make("COS2")
    tree.set_masks("COS2", {0: 0x60})
    tree.assign("COS2", [3])
    told = node.converge({"a": entry("1"), "taken": entry("3")})
    assert whys(told) == {"taken": "core 3 is in group COS2, which somebody else has made"}
    assert node.groups()["COS2"] == ("3", {0: "60", 1: "7ff"})
    assert node.groups()[".a"] == ("1", {0: "18", 1: "7ff"})


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"a": entry("1", 4), "b": entry("2", 4)}, "cache 0 has 2 guaranteed ways left, and it"),
        ({"a": entry("1"), "b": entry("1")}, "core 1 is workload a's"),
        ({"b": entry("8")}, "the node has no core 8"),
        ({"b": entry("1", mba={"percentage": 5})}, "5 percent is not from 10 to 100"),
        ({"b": entry("1", mba={"mbps": 500})}, "takes memory bandwidth in percent here"),
        ({"b": entry("1", 2, 3)}, "at most 2 and at least 3 ways"),
        ({"b": entry("1", 2, 0)}, "at most 2 and at least 0 ways"),
        ({"b": entry("1", mba={"percentage": 10, "mbps": 5})}, "in two units"),
        ({"b": entry("0-99999999999")}, "is no core"),
        ({"b": {"coreIds": ["1"]}}, "it asks for nothing"),
        ({"b": {"coreIds": [], "cache": {"max": 1, "min": 1}}}, "it names no core"),
        ({"b": {"coreIds": {"1": 2}, "cache": {"max": 1, "min": 1}}}, "it names no core"),
        ({"b": {"coreIds": ["1"], "cache": {"max": True}}}, "max is True, which is no number"),
        ({"b": {"coreIds": ["1"], "cache": "2"}}, "cache is no map"),
        ({"b": "2 ways"}, "no map of what is asked for"),
        ({"b": entry("1", pod={"uid": POD})}, "pod is no uid"),
        ({"b": entry("1", pod=POD)}, "its pod is gone"),
    ],
)
def test_what_cannot_be_is_told_and_holds_up_nothing(
    node: DividedNode, wanted: Obj, why: str
) -> None:
    told = node.converge({"other": entry("7"), **wanted})
    assert why in whys(told)["b"]
    assert told["other"] == {"group": group_of("other")}
    assert node.groups()[".other"] == ("7", {0: "7ff", 1: "60"})


@pytest.mark.parametrize("workloads", [None, {}, [], "x", 3])
def test_no_map_of_workloads_is_none(node: DividedNode, workloads: object) -> None:
    node.converge(workloads)
    assert node.groups() == {".": ("0-7", {0: "7ff", 1: "7ff"})}


def test_ways_that_do_not_lie_side_by_side(node: DividedNode) -> None:
    node.converge({name: entry(str(core)) for core, name in enumerate("abc", 1)})
    told = node.converge({"a": entry("1"), "c": entry("3"), "d": entry("2", 3)})
    assert whys(told) == {
        "d": "cache 0 has 2 guaranteed ways left, and it asks for 3",
    }
    node.converge({})
    node.converge({name: entry(str(core)) for core, name in enumerate("abc", 1)})
    told = node.converge({"b": entry("2"), "d": entry("1", 3)})
    assert "4 guaranteed ways left, 2 of them side by side, and it asks for 3" in whys(told)["d"]


def test_classes_of_service_run_out(tmp_path: Path) -> None:
    node = DividedNode(tmp_path, mba_closids=3)
    told = node.converge({name: entry(str(core), 1) for core, name in enumerate("abc", 1)})
    assert whys(told) == {"c": "the kernel has 3 classes of service, and all are taken"}


def test_a_kernel_without_memory_bandwidth(tmp_path: Path) -> None:
    node = DividedNode(tmp_path, mba_closids=0)
    told = node.converge({"a": entry("1"), "b": entry("2", mba={"percentage": 50})})
    assert whys(told) == {"b": "the kernel divides no memory bandwidth here"}


def test_memory_bandwidth_in_mbps(tmp_path: Path) -> None:
    node = DividedNode(tmp_path, mba_mbps=True)
    told = node.converge(
        {"a": entry("1", mba={"mbps": 500}), "b": entry("2", mba={"percentage": 50})}
    )
    assert whys(told) == {"b": "the kernel takes memory bandwidth in MBps here"}
    assert node.tree.groups[group_of("a")].mba[0] == 500


def test_least_bits_of_a_mask(tmp_path: Path) -> None:
    node = DividedNode(tmp_path, min_cbm_bits=2)
    node.pools |= {"os": 2, "guaranteed": 5}
    told = node.converge({"a": entry("1", 1), "b": entry("2", 2)})
    assert whys(told) == {"a": "it asks for 1 ways, and the kernel gives 2 at least"}


def test_best_effort_takes_what_is_left_and_gives_way_where_it_may(node: DividedNode) -> None:
    node.converge({"a": entry("1", 3, 1)})
    assert node.groups()[".a"][1][0] == "380"
    wanted = {"a": entry("1", 3, 1), "b": entry("2", 2, 1)}
    assert "0 besteffort ways left" in whys(node.converge(wanted))["b"]
    node.settings["shrink"] = True
    assert whys(node.converge(wanted)) == {}
    masks = [int(node.groups()[name][1][0], 16) for name in (".a", ".b")]
    assert (masks[0] & masks[1], masks[0] | masks[1]) == (0, 0x380)
    node.converge(wanted)
    assert node.files.writes == []
    node.converge({"a": entry("1", 3, 1)})
    assert node.groups()[".a"][1][0] == "380"


def test_what_the_kernel_refuses_is_that_workloads_own_matter(
    node: DividedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = node.files.write

    def write(group: str, file: str, text: str) -> None:
        if group == group_of("bad") and file == "cpus_list" and text.strip():
            raise RefusedWriteError("the kernel did not take cpus_list: CPU is offline")
        written(group, file, text)

    monkeypatch.setattr(node.files, "write", write)
    told = node.converge({"bad": entry("1"), "good": entry("2")})
    assert whys(told) == {"bad": "the kernel did not take cpus_list: CPU is offline"}
    assert set(node.groups()) == {".", ".good"}


def test_names_that_are_no_folders_have_groups(node: DividedNode) -> None:
    told = node.converge({"a/../b": entry("1"), "team.web": entry("2"), "shared": entry("3")})
    assert whys(told) == {}
    assert {".team.web", ".shared"} < set(node.groups())
    assert len(set(node.groups())) == 4


def pod(name: str = "web", phase: str = "Running", ways: str = "2", **more: Any) -> Obj:
    limits = {"cpu": "2", "memory": "1Gi", "intel.com/l3_cache_ways": ways}
    return {
        "metadata": {"name": name, "namespace": "team", "uid": POD} | more,
        "spec": {"containers": [{"name": "main", "resources": {"limits": limits}}]},
        "status": {"phase": phase, "qosClass": "Guaranteed"},
    }


def test_a_pod_has_its_cache_before_any_run(node: DividedNode) -> None:
    node.manager = {POD: {"main": "1,5"}}
    told = node.converge({}, [pod()])
    uuid = "team.web-rmd-workload-main"
    assert told == {uuid: {"group": group_of(uuid)}}
    assert node.groups()[f".{uuid}"] == ("1,5", {0: "60", 1: "60"})
    # The run declares the same; in the words of an older operator, it is the same container's.
    node.converge({uuid: entry("1,5", pod=POD)}, [pod()])
    assert node.files.writes == []
    older = "team.rmd-workload-web"
    assert list(node.converge({older: entry("1,5", pod=POD)}, [pod()])) == [older]
    node.converge({older: entry("1,5", pod=POD)}, [pod(phase="Succeeded")])
    assert set(node.groups()) == {"."}


@pytest.mark.parametrize(
    "odd",
    [
        {"annotations": {"main_policy": "gold"}},
        {"annotations": {"main_cache_min": "9"}},
        {"annotations": {"main_cache_min": "two"}},
        {"annotations": {"main_mba_mbps": "5", "main_mba_percentage": "5"}},
        {"deletionTimestamp": "2026-01-01T00:00:00Z"},
        {"uid": "11111111-2222-4333-8444-555555555555"},
    ],
)
def test_what_a_pod_says_wrong_is_left_to_the_run(node: DividedNode, odd: Obj) -> None:
    node.manager = {POD: {"main": "1,5"}}
    assert node.converge({}, [pod(**odd)]) == {}


def test_annotations_of_a_pod(node: DividedNode) -> None:
    node.manager = {POD: {"main": "1"}}
    said = {"main_cache_min": "1", "main_mba_percentage": "50", "main2_cache_min": "9"}
    node.converge({}, [pod(annotations=said)])
    group = node.tree.groups[group_of("team.web-rmd-workload-main")]
    assert (group.masks[0], group.mba[0]) == (0x300, 50)


def test_a_pod_may_ask_for_memory_bandwidth_alone(node: DividedNode) -> None:
    node.manager = {POD: {"main": "1"}}
    asking = pod(ways="0", annotations={"main_mba_percentage": "50"})
    node.converge({"a": entry("2")}, [asking, pod("other", ways="0", uid="o")])
    group = node.tree.groups[group_of("team.web-rmd-workload-main")]
    assert (group.cpus, group.masks, group.mba[0]) == ({1}, {0: 0x1F, 1: 0x7FF}, 50)
    # The run declares the same.
    entry_of_run = {"coreIds": ["1"], "mba": {"percentage": 50}, "pod": POD}
    node.converge({"a": entry("2"), "team.web-rmd-workload-main": entry_of_run}, [asking])
    assert node.files.writes == []


def rmd() -> Obj:
    """The pod of RMD on this node."""
    labels = {"app.kubernetes.io/name": "intel-rmd", "app.kubernetes.io/component": "daemon"}
    return made_by_daemonset(
        pod("intel-rmd-x7", namespace="intel-rmd", labels=labels), "intel-rmd", "intel-rmd"
    )


@pytest.mark.parametrize("how", [*FORGED, "as another account"])
def test_a_pod_that_only_says_that_it_is_rmd_takes_nothing_away(
    node: DividedNode, how: str
) -> None:
    """Whoever may make pods in any namespace may give them RMD's labels."""
    node.converge({"a": entry("1")})
    before = node.groups()
    pretender = (
        forged(rmd(), how) if how in FORGED else made_by_daemonset(rmd(), "intel-rmd", "default")
    )
    assert whys(node.converge({"a": entry("1")}, [pretender])) == {}
    assert node.groups() == before
    assert node.files.writes == []


def test_it_stands_aside_for_rmd_and_takes_over_when_that_is_gone(node: DividedNode) -> None:
    tree = node.tree
    tree.make("COS2")
    tree.set_masks("COS2", {0: 0x60})
    tree.assign("COS2", [1])
    (node.folder / "rmd.db").write_text("RMD's")
    daemon = rmd()
    told = node.converge({"a": entry("1")}, [daemon])
    assert "RMD runs on this node" in whys(told)["a"]
    assert node.files.writes == []
    assert whys(node.converge({"a": entry("1")}, [])) == {}
    assert node.groups() == {
        ".": ("0,2-7", {0: "1f", 1: "7ff"}),
        ".a": ("1", {0: "60", 1: "7ff"}),
    }
    assert not (node.folder / "rmd.db").exists()
    # Back again: ours go, so that RMD finds the cache whole.
    node.converge({"a": entry("1")}, [daemon])
    assert set(node.groups()) == {"."}
