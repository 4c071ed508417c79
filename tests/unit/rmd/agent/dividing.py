# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node whose agent divides its cache: two sockets of four cores, 11 ways, and the kernel's rules
under each write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from resctrl import RefusedWriteError
from writer import Writer

from tests.rmd.kernel_files import KernelFiles
from tests.rmd.machine import Machine
from tests.rmd.resctrl import ROOT, Resctrl

Obj = dict[str, Any]

POOLS = {"os": 1, "guaranteed": 6, "besteffort": 3, "shared": 1, "infra": 0}
GUARANTEED_WAYS = 0b1111110
NODE = "n1"


def entry(cores: str, most: int = 2, least: int | None = None, **more: Any) -> Obj:
    """One of spec.workloads."""
    cache = {"max": most, "min": most if least is None else least}
    return {"coreIds": cores.split(","), "cache": cache, **more}


def whys(told: dict[str, dict[str, str]]) -> dict[str, str]:
    """Of what is not in force, why."""
    return {uuid: found["why"] for uuid, found in told.items() if "why" in found}


class DividedNode:
    """A tree, and a writer for it. watch: called after each write."""

    def __init__(
        self, folder: Path, watch: Callable[[Resctrl], None] = lambda _tree: None, **machine: Any
    ) -> None:
        self.machine = Machine(**machine)
        self.root = folder / "resctrl"
        self.folder = folder / "state"
        self.folder.mkdir(parents=True)
        Resctrl(self.machine, self.root)
        self.files = KernelFiles(self.root, self.machine, RefusedWriteError, watch)
        self.pools = dict(POOLS)
        self.settings: Obj = {"shrink": False}
        self.problems: list[str] = []
        self.manager: Obj = {}

    @property
    def tree(self) -> Resctrl:
        """As it is now, to be changed by hand."""
        return Resctrl(self.machine, self.root)

    def converge(self, workloads: object, pods: Sequence[Obj] = ()) -> dict[str, dict[str, str]]:
        """One look of the agent; what it says of each workload."""
        self.files.writes.clear()
        report = {
            "l3": {str(cache): self.machine.share_list(cache) for cache in self.machine.caches},
            "pools": {**self.pools, "os_cpus": "0"},
            "cpu_manager": {"policy": "static", "entries": self.manager},
        }
        found = {"workloads": workloads, "pods": list(pods)}
        writer = Writer(self.root, self.files, self.folder, "intel-rmd")  # type: ignore[arg-type]
        told, self.problems = writer.converge(found, report, self.settings)
        return told

    def groups(self) -> dict[str, tuple[str, dict[int, str]]]:
        """Name without our prefix -> CPUs, masks."""
        return {
            name.replace("hardware-enablement", ""): (str(found["cpus_list"]), found["L3"])  # type: ignore[misc]
            for name, found in self.tree.dump().items()
        }

    def exclusive_ways_are_shared(self, tree: Resctrl) -> list[str]:
        """Groups with CPUs on a cache that have ways there of one that lies in the guaranteed
        pool."""
        found = []
        for cache in self.machine.caches:
            here = {
                name: group.masks[cache]
                for name, group in tree.groups.items()
                if group.cpus & self.machine.cpus_of(cache)
            }
            for name, mask in here.items():
                if name != ROOT and not mask & ~GUARANTEED_WAYS:
                    others = (other for other in here if other != name and here[other] & mask)
                    found += [f"{other} shares {name}'s ways of cache {cache}" for other in others]
        return found
