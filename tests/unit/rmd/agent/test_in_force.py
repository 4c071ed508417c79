# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who has cache keeps it: over boots, killed agents, and whatever else is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from declared import group_of

from tests.rmd.resctrl import ROOT
from tests.unit.rmd.agent.dividing import DividedNode, Obj, entry, whys

UID = "7d4f3c2e-1a2b-4c3d-8e9f-0123456789ab"


@pytest.fixture(name="node")
def _node(tmp_path: Path) -> DividedNode:
    return DividedNode(tmp_path)


def asking(name: str, uid: str, ways: int, *, state: str = "running", **metadata: str) -> Obj:
    """A pod whose only container asks for ways."""
    limits = {"cpu": "1", "memory": "1Gi", "intel.com/l3_cache_ways": str(ways)}
    return {
        "metadata": {"name": name, "namespace": "team", "uid": uid, **metadata},
        "spec": {"containers": [{"name": "main", "resources": {"limits": limits}}]},
        "status": {
            "phase": "Running",
            "qosClass": "Guaranteed",
            "containerStatuses": [{"name": "main", "state": {state: {}}}],
        },
    }


def uuid_of(pod: str) -> str:
    return f"team.{pod}-rmd-workload-main"


def test_after_a_boot_the_same_have_the_same_ways(node: DividedNode) -> None:
    """Whatever the alphabet says: the one that was refused is the first in it."""
    node.converge({"z": entry("1", 4)})
    node.manager = {UID: {"main": "2"}}
    wanted, pods = {"z": entry("1", 4)}, [asking("a", UID, 4)]
    told = node.converge(wanted, pods)
    assert list(whys(told)) == [uuid_of("a")]
    before = node.groups()
    node.tree.reset()
    assert node.converge(wanted, pods) == told
    assert node.groups() == before


def test_a_pod_keeps_its_ways_while_its_container_starts_anew(node: DividedNode) -> None:
    """After a boot it ended, until it starts; and the CPU manager may have to be read first."""
    node.manager = {UID: {"main": "2"}}
    told = node.converge({}, [asking("web", UID, 4)])
    assert whys(told) == {}
    node.tree.reset()
    node.manager = {}
    again = node.converge({"a": entry("1", 4)}, [asking("web", UID, 4, state="terminated")])
    assert list(whys(again)) == ["a"]
    assert again[uuid_of("web")] == told[uuid_of("web")]
    assert whys(node.converge({"a": entry("1", 4)})) == {}


def test_ways_that_are_split_up_are_the_same_after_a_boot(node: DividedNode) -> None:
    """They would not fit in any other order beside the group of somebody else."""
    wanted = {"y": entry("1", 2), "x": entry("2", 1), "w": entry("3", 2)}
    node.converge({"y": wanted["y"], "x": wanted["x"]})
    node.converge(wanted)
    tree = node.tree
    tree.make("COS2")
    tree.set_masks("COS2", {0: 0x10, 1: 0x10})
    node.converge({name: wanted[name] for name in "yw"})
    before = node.groups()
    tree = node.tree
    for name in (group_of("y"), group_of("w")):
        tree.remove(name)
    node.converge({name: wanted[name] for name in "yw"})
    assert node.groups() == before


def test_without_a_memory_what_is_in_the_tree_comes_first(node: DividedNode) -> None:
    """As after an update from an agent that remembered nothing."""
    node.converge({"z": entry("1", 4)})
    (node.folder / "in_force.json").write_text("[{}]")
    assert list(whys(node.converge({"a": entry("2", 4), "z": entry("1", 4)}))) == ["a"]


def test_of_those_that_wait_the_declared_one_comes_before_the_oldest(node: DividedNode) -> None:
    other = "11111111-2222-4333-8444-555555555555"
    node.manager = {UID: {"main": "2"}, other: {"main": "3"}}
    pods = [
        asking("a", other, 4, creationTimestamp="2026-01-02T00:00:00Z"),
        asking("b", UID, 4, creationTimestamp="2026-01-01T00:00:00Z"),
    ]
    first = {"first": entry("1", 4)}
    node.converge(first, pods)
    node.converge({**first, "z": entry("4,5", 4)}, pods)
    node.converge({**first, "z": entry("0", 4)}, pods)
    assert set(whys(node.converge({"z": entry("0", 4)}, pods))) == {uuid_of("a"), uuid_of("b")}
    assert set(whys(node.converge({}, pods))) == {uuid_of("a")}


def test_what_cannot_be_had_keeps_nobody_from_it(node: DividedNode) -> None:
    """Of two with one core, one asks for more ways than there are."""
    told = node.converge({"a": entry("1", 99), "b": entry("1", 2)})
    assert "a" in whys(told)
    assert told["b"] == {"group": group_of("b")}
    changed = {"b": entry("1", 99), "a": entry("1", 2)}
    assert list(whys(node.converge(changed))) == ["b"]


def test_reasons_are_the_same_at_the_next_look(node: DividedNode) -> None:
    wanted = {"a": entry("1", 5), "b": entry("2", 4), "c": entry("2", 1), "d": entry("3", 4)}
    told = node.converge(wanted)
    assert whys(told) == {
        "b": "core 2 is workload c's",
        "d": "cache 0 has 0 guaranteed ways left, and it asks for 4",
    }
    assert node.converge(wanted) == told


def test_a_disk_that_takes_nothing_keeps_no_workload_from_its_cache(node: DividedNode) -> None:
    node.folder.rmdir()
    assert whys(node.converge({"a": entry("1")})) == {}
    assert node.groups()[".a"] == ("1", {0: "60", 1: "7ff"})
    assert ROOT in node.tree.groups
