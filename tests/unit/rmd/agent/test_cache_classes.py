# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The classes of rdt-classes: where they lie in the cache, what is repaired, in which order, and why they
cannot be had. Each write goes through the kernel's rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import class_keeper
import pytest
from cache_classes import RefusedClassError
from class_keeper import converge, said
from declared import group_of
from resctrl import RefusedWriteError

from tests.rmd.kernel_files import KernelFiles
from tests.rmd.machine import Machine
from tests.rmd.resctrl import ROOT, Resctrl

Obj = dict[str, Any]
# 11 ways: gold has the four highest, silver the two below, and five are left.
CLASSES: Obj = {
    "gold": {"ways": 4, "bandwidth": 90},
    "silver": {"percent": 20},
    "batch": {"ways": 2, "exclusive": False, "bandwidth": 25},
}
GOLD = group_of("gold")
AS_IT_SHOULD_BE = {ROOT: "1f", group_of("batch"): "3", GOLD: "780", group_of("silver"): "60"}


class ClassesNode:
    """A tree, and what one look makes of it."""

    def __init__(
        self, folder: Path, watch: Callable[[Resctrl], None] = lambda _tree: None, **machine: Any
    ) -> None:
        self.machine = Machine(**machine)
        self.root = folder / "resctrl"
        Resctrl(self.machine, self.root)
        self.files = KernelFiles(self.root, self.machine, RefusedWriteError, watch)

    @property
    def tree(self) -> Resctrl:
        """As it is now, to be changed by hand."""
        return Resctrl(self.machine, self.root)

    def converge(self, classes: Obj) -> str:
        """One look; the line of the log."""
        self.files.writes.clear()
        return said(converge(self.root, self.files, classes))  # type: ignore[arg-type]

    def masks(self) -> dict[str, str]:
        """Group -> its ways, the same on each L3."""
        found = {}
        for name, group in self.tree.dump().items():
            (found[name],) = set(group["L3"].values())  # type: ignore[attr-defined]
        return found


@pytest.fixture(name="node")
def _node(tmp_path: Path) -> ClassesNode:
    return ClassesNode(tmp_path)


def test_exclusive_ways_at_the_top_the_others_in_what_is_everybodys(node: ClassesNode) -> None:
    line = node.converge(CLASSES)
    assert node.masks() == AS_IT_SHOULD_BE
    assert node.tree.groups[GOLD].mba == {0: 90, 1: 90}
    # The kernel rounds up to a step.
    assert node.tree.groups[group_of("batch")].mba == {0: 30, 1: 30}
    assert line == (
        "in force: hardware-enablement.batch L3 3 MB 30, hardware-enablement.gold L3 780 MB 90,"
        " hardware-enablement.silver L3 60 MB 100, everybody else L3 1f MB 100"
    )


def test_a_second_look_writes_nothing(node: ClassesNode) -> None:
    node.converge(CLASSES)
    node.converge(CLASSES)
    assert node.files.writes == []


@pytest.mark.parametrize(
    "harm",
    [
        lambda tree: tree.reset(),
        lambda tree: tree.remove(GOLD),
        lambda tree: tree.set_masks(GOLD, {1: 0x1}),
        lambda tree: tree.set_masks(ROOT, {0: 0x7FF}),
        lambda tree: tree.set_mba(GOLD, {0: 10}),
        lambda tree: tree.assign(GOLD, {3}),
        lambda tree: tree.make(group_of("old")),
    ],
    ids=["boot", "deleted", "ways", "everybody", "bandwidth", "cpus", "a class that was"],
)
def test_it_is_repaired(node: ClassesNode, harm: Callable[[Resctrl], object]) -> None:
    node.converge(CLASSES)
    harm(node.tree)
    node.converge(CLASSES)
    assert node.files.writes != []
    assert node.masks() == AS_IT_SHOULD_BE
    assert node.tree.groups[GOLD].mba == {0: 90, 1: 90}
    assert node.tree.groups[ROOT].cpus == set(range(node.machine.cpus))


def test_groups_of_others_keep_their_ways_and_their_names(node: ClassesNode) -> None:
    node.tree.make("pqos")
    node.tree.set_masks("pqos", {0: 0x600, 1: 0x600})
    node.converge(CLASSES)
    assert node.masks() == {
        "pqos": "600",
        GOLD: "1e0",
        group_of("silver"): "18",
        ROOT: "7",
        group_of("batch"): "3",
    }
    node.converge({})
    assert node.masks() == {"pqos": "600", ROOT: "7ff"}


def test_a_group_of_somebody_else_with_all_ways_is_named(node: ClassesNode) -> None:
    """As mkdir makes it. The classes are made all the same; they are not what they promise."""
    node.tree.make("runtime")
    why = (
        "class gold shares its ways with group runtime, which somebody else has made; give that one"
    )
    for writes in (True, False):
        with pytest.raises(RefusedClassError, match=why):
            node.converge(CLASSES)
        assert bool(node.files.writes) == writes
    assert node.masks() == {**AS_IT_SHOULD_BE, "runtime": "7ff"}
    # Nobody is promised ways of their own.
    node.converge({"batch": CLASSES["batch"]})
    node.tree.remove("runtime")
    node.converge(CLASSES)
    assert node.masks() == AS_IT_SHOULD_BE


def test_no_class_has_exclusive_ways_of_everybody_on_the_way(tmp_path: Path) -> None:
    """Ways leave the default group before a class is made in them, and come back after it is gone."""
    seen: list[str] = []

    def watch(tree: Resctrl) -> None:
        group = tree.groups.get(GOLD)
        # A group is born with all ways and nobody in it.
        if (
            group
            and group.masks[0] != tree.machine.full
            and group.masks[0] & tree.groups[ROOT].masks[0]
        ):
            seen.append(str(tree.dump()))

    node = ClassesNode(tmp_path, watch)
    for classes in ({"gold": {"ways": 4}}, {"gold": {"ways": 6}}, {"gold": {"ways": 2}}, {}):
        node.converge(classes)
    assert seen == []


@pytest.mark.parametrize(
    ("classes", "why"),
    [
        ({"Gold": {"ways": 1}}, "class 'Gold' .option classes. is no name"),
        ({"gold": 4}, "is no map; write its ways, such as {ways: 4}"),
        ({"gold": {"way": 4}}, "has 'way'; it may have bandwidth, exclusive, percent, ways"),
        ({"gold": {}}, "has not one of ways and percent"),
        ({"gold": {"ways": 1, "percent": 5}}, "has not one of ways and percent"),
        ({"gold": {"ways": True}}, "has ways True; write a number from 1"),
        ({"gold": {"percent": 101}}, "has percent 101; write a number from 1 up to 100"),
        ({"gold": {"ways": 1, "exclusive": "no"}}, "write true or false"),
        ({"a": {"ways": 6}, "b": {"ways": 5}}, "have 11 ways, but the L3 cache has 11, and 1 must be left"),
        ({"a": {"ways": 6}, "b": {"ways": 6, "exclusive": False}}, "class b has 6 of everybody's ways"),
        ({"a": {"ways": 1, "bandwidth": 5}}, "class a has 5 percent of memory bandwidth, and the kernel gives 10"),
        ({f"c{number}": {"ways": 1, "exclusive": False} for number in range(8)}, "the kernel has 8 classes of service"),
    ],
)  # fmt: skip
def test_what_cannot_be_had_is_said_before_a_write(tmp_path: Path, classes: Obj, why: str) -> None:
    node = ClassesNode(tmp_path, closids=8, mba_closids=8)
    with pytest.raises(RefusedClassError, match=why):
        node.converge(classes)
    assert node.files.writes == []


@pytest.mark.parametrize(
    ("machine", "why"),
    [
        ({"mba_closids": 0}, "the kernel divides none here"),
        ({"mba_mbps": True}, "mount resctrl without mba_MBps"),
        ({"min_cbm_bits": 2}, "class batch has 1 ways, and the kernel gives 2 at least"),
    ],
)
def test_what_this_kernel_has_not_is_said(tmp_path: Path, machine: Obj, why: str) -> None:
    with pytest.raises(RefusedClassError, match=why):
        ClassesNode(tmp_path, **machine).converge({"batch": {"ways": 1, "bandwidth": 50}})


def test_a_small_percentage_is_what_the_kernel_gives_at_least(tmp_path: Path) -> None:
    node = ClassesNode(tmp_path, min_cbm_bits=2)
    node.converge({"gold": {"percent": 1}})
    assert node.masks() == {ROOT: "1ff", GOLD: "600"}


def test_what_the_kernel_did_not_do_is_no_success(node: ClassesNode) -> None:
    class Deaf(KernelFiles):
        def write(self, group: str, file: str, text: str) -> None:
            if group != GOLD:
                super().write(group, file, text)

    files = Deaf(node.root, node.machine, RefusedWriteError)
    with pytest.raises(
        RefusedWriteError, match=r"the kernel has hardware-enablement.gold otherwise"
    ):
        converge(node.root, files, CLASSES)  # type: ignore[arg-type]


def run(node: ClassesNode, folder: Path, classes: str) -> int:
    """The program, once."""
    (folder / "classes.json").write_text(classes)
    words = {"resctrl": node.root, "classes": folder / "classes.json", "ready": folder / "ready"}
    return class_keeper.main(["--once", *(f"--{name}={path}" for name, path in words.items())])


def test_the_program_is_ready_while_the_classes_are_there(
    node: ClassesNode, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    node.converge({"gold": {"ways": 4}})
    assert run(node, tmp_path, '{"gold": {"ways": 4}}') == 0
    assert (tmp_path / "ready").exists()
    assert capsys.readouterr().out.startswith("in force: hardware-enablement.gold L3 780")
    assert run(node, tmp_path, '{"gold": {"ways": 11}}') == 1
    assert not (tmp_path / "ready").exists()
    assert "must be left for everybody" in capsys.readouterr().out


def test_a_node_without_resctrl_says_so(
    node: ClassesNode, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (node.root / "schemata").unlink()
    assert run(node, tmp_path, "{}") == 1
    assert capsys.readouterr().out == f"resctrl is not mounted at {node.root}\n"
