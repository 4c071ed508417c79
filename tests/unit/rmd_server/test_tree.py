# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resctrl tree: files as the kernel writes them, and a tree that is taken over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rmd import Dialect, Machine, RmdServer
from tests.rmd.bits import ExpressionError, highest, lowest, parse_list, runs, words, write_list
from tests.rmd.kernel_rules import KernelError, NoSpaceError
from tests.rmd.resctrl import ROOT, Resctrl, read_schemata
from tests.unit.rmd_server.asking import ask, post


def read(folder: Path, name: str) -> str:
    return (folder / name).read_text()


def test_the_kernels_files(tmp_path: Path) -> None:
    Resctrl(Machine(), tmp_path)
    assert read(tmp_path, "info/L3/cbm_mask") == "7ff\n"
    assert read(tmp_path, "info/L3/min_cbm_bits") == "1\n"
    assert read(tmp_path, "info/L3/num_closids") == "16\n"
    assert read(tmp_path, "info/MB/num_closids") == "8\n"
    assert read(tmp_path, "info/MB/bandwidth_gran") == "10\n"
    assert read(tmp_path, "schemata") == "    MB:0=100;1=100\n    L3:0=7ff;1=7ff\n"
    assert (read(tmp_path, "cpus"), read(tmp_path, "cpus_list"), read(tmp_path, "tasks")) == (
        "ff\n",
        "0-7\n",
        "",
    )


def test_a_machine_without_mba(tmp_path: Path) -> None:
    Resctrl(Machine(mba_closids=0), tmp_path)
    assert not (tmp_path / "info/MB").exists()
    assert read_schemata(tmp_path) == {"L3": {0: "7ff", 1: "7ff"}}


def test_groups_of_both(tmp_path: Path) -> None:
    for dialect, name in ((Dialect.V03, "COS2"), (Dialect.V02, "1_4-guarantee")):
        folder = tmp_path / dialect.name
        with RmdServer(
            dialect=dialect, resctrl=folder, database=folder.with_suffix(".db")
        ) as server:
            post(server, "1,4", 2, uuid="u")
            assert read_schemata(folder / name)["L3"] == {0: "060", 1: "030"}
            assert read(folder, f"{name}/cpus_list") == "1,4\n"
            assert read(folder, "cpus_list") == "0,2-3,5-7\n"
            before = server.dump()
        # Another process finds all of it.
        with RmdServer(
            dialect=dialect, resctrl=folder, database=folder.with_suffix(".db")
        ) as again:
            assert again.dump() == before
            ask(again, "DELETE", "/workloads/1")
            assert (folder / name).exists() == (dialect is Dialect.V03)
            assert not [file for file in folder.rglob("*") if "~" in file.name]


def test_0_3_makes_its_classes_at_the_start(tmp_path: Path) -> None:
    with RmdServer(resctrl=tmp_path):
        groups = {entry.name for entry in tmp_path.iterdir() if entry.is_dir()} - {"info"}
        assert groups == {f"COS{number}" for number in range(1, 8)}


def test_the_kernel_has_no_more_classes() -> None:
    tree = Resctrl(Machine(mba_closids=2))
    tree.make("one")
    with pytest.raises(NoSpaceError):
        tree.make("two")
    tree.assign("one", {1, 2})
    tree.remove("one")
    assert tree.dump()["."]["cpus_list"] == "0-7"


@pytest.mark.parametrize(
    ("file", "text", "status"),
    [
        ("schemata", "L3:0=0;1=7ff\n", "Mask out of range"),
        ("schemata", "L3:0=fff\n", "Mask out of range"),
        ("schemata", "L3:0=5\n", "The mask 5 has non-consecutive 1-bits"),
        ("schemata", "L3:0=1\n", "Need at least 2 bits in the mask"),
        ("schemata", "L3:0=x\n", "Non-hex character in the mask x"),
        ("schemata", "L3:2=3\n", "Unknown domain 2"),
        ("schemata", "L2:0=3\n", "Unknown or unsupported resource name 'L2'"),
        ("schemata", "L3:0=3", "Missing newline"),
        ("schemata", "MB:0=5\n", "MB value 5 out of range [10,100]"),
        ("schemata", "MB:0=101\n", "MB value 101 out of range [10,100]"),
        ("schemata", "L3:0=3\nMB:0=5\n", "MB value 5 out of range [10,100]"),
        ("cpus_list", "8\n", "Can only assign online CPUs"),
        ("cpus_list", "1-\n", "Bad CPU list/mask"),
    ],
)
def test_what_the_kernel_refuses_changes_nothing(file: str, text: str, status: str) -> None:
    tree = Resctrl(Machine(min_cbm_bits=2))
    tree.make("one")
    before = tree.dump()
    with pytest.raises(KernelError):
        tree.write("one", file, text)
    assert (tree.dump(), tree.last_status) == (before, status)


def test_what_the_kernel_makes_of_a_write() -> None:
    tree = Resctrl(Machine())
    tree.make("one")
    tree.make("two")
    tree.write("one", "schemata", "L3:0=30\nMB:0=25;1=100\n")
    assert tree.dump()["one"] == {
        "cpus_list": "",
        "L3": {0: "30", 1: "7ff"},
        "MB": {0: 30, 1: 100},
        "tasks": [],
    }
    # CPUs come from wherever they are; what a group loses is the default group's again.
    tree.write("one", "cpus_list", "1-3\n")
    tree.write("two", "cpus_list", "3-4\n")
    tree.write("one", "cpus_list", "1\n")
    lists = {name: group["cpus_list"] for name, group in tree.dump().items()}
    assert lists == {ROOT: "0,2,5-7", "one": "1", "two": "3-4"}
    with pytest.raises(KernelError):
        tree.write(ROOT, "cpus_list", "0\n")
    assert tree.last_status == "Can't drop CPUs from default group"
    tree.write(ROOT, "cpus_list", "0-7\n")
    assert tree.dump()["two"]["cpus_list"] == ""


def test_many_cpus() -> None:
    assert words(1 << 40 | 5, 64) == "00000100,00000005"
    assert words(1 << 40 | 5) == "100,00000005"
    assert words(5, 8) == "05"


@pytest.mark.parametrize(
    ("items", "numbers"),
    [(["3"], {3}), (["4-5"], {4, 5}), (["0-1,3", "7"], {0, 1, 3, 7}), ([" 1 "], {1})],
)
def test_lists(items: list[str], numbers: set[int]) -> None:
    assert parse_list(items) == numbers
    assert parse_list([write_list(numbers)]) == numbers


@pytest.mark.parametrize("item", ["x", "1-", "-1", "1x", ""])
def test_no_lists(item: str) -> None:
    with pytest.raises(ExpressionError):
        parse_list([item])


def test_runs_of_ways() -> None:
    mask = 0b0111_0110
    assert runs(mask) == [(1, 2), (4, 3)]
    assert (highest(mask, 2), lowest(mask, 2), highest(mask, 4)) == (0b0110_0000, 0b0000_0110, 0)
