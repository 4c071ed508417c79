# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree like the kernel's /sys/fs/resctrl: the groups, the files that show them, and the kernel's
rules for writes.

The model is in memory; with a folder every change is written there at once, and a tree that is
there is taken over. Whoever divides cache in a test writes here what it would write there: mkdir,
rmdir, schemata, cpus_list, tasks. KernelError is what the kernel refuses; then nothing has changed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.rmd.bits import parse_list, to_mask, words, write_list
from tests.rmd.kernel_rules import (
    KernelError,
    NoSpaceError,
    check_cpus,
    check_removal,
    check_schemata,
)
from tests.rmd.machine import Machine

ROOT = "."
_INFO_DIRS = ("info", "mon_data", "mon_groups")


@dataclass
class Group:
    """One group: its CPUs, ways for each cache, bandwidth for each cache ({} without MBA) and
    tasks."""

    cpus: set[int] = field(default_factory=set)
    masks: dict[int, int] = field(default_factory=dict)
    mba: dict[int, int] = field(default_factory=dict)
    tasks: list[str] = field(default_factory=list)

    def schemata(self, ways: int) -> str:
        """The file's text, aligned as the kernel does."""
        width = (ways + 3) // 4
        lines = []
        if self.mba:
            lines.append(
                "    MB:"
                + ";".join(f"{cache}={value:3d}" for cache, value in sorted(self.mba.items()))
            )
        lines.append(
            "    L3:"
            + ";".join(f"{cache}={mask:0{width}x}" for cache, mask in sorted(self.masks.items()))
        )
        return "\n".join(lines) + "\n"


class Resctrl:
    """The groups of one machine. Not locked: the daemon holds its lock around every change."""

    def __init__(self, machine: Machine, folder: Path | None = None) -> None:
        self.machine = machine
        self.folder = folder
        self.groups: dict[str, Group] = {}
        self.last_status = "ok"
        # Called after each change.
        self.on_change: Callable[[], None] = lambda: None
        self._writers = {
            "schemata": self._set_schemata,
            "cpus_list": self._set_cpus,
            "tasks": self._set_task,
        }
        if folder is not None and (folder / "schemata").exists():
            self._load(folder)
        else:
            self.reset()

    def reset(self) -> None:
        """As after a boot: one group with everything."""
        machine = self.machine
        root = self._fresh()
        root.cpus = set(range(machine.cpus))
        self.groups = {ROOT: root}
        if self.folder is not None:
            self._write_all(self.folder)
        self.on_change()

    def make(self, name: str) -> Group:
        """The group, made if it is not there; NoSpaceError when the classes of service are used up."""
        if name not in self.groups:
            if len(self.groups) >= self.machine.groups:
                raise NoSpaceError(name)
            self.groups[name] = self._fresh()
            self._write(name)
            self.on_change()
        return self.groups[name]

    def remove(self, name: str) -> None:
        """Take a group away; its CPUs and tasks fall back to the root's. A group is refused for
        nothing that is in it, and only what is no group stays."""
        check_removal(name, self.groups.keys() - {ROOT})
        gone = self.groups.pop(name)
        self.groups[ROOT].cpus |= gone.cpus
        self.groups[ROOT].tasks += gone.tasks
        if self.folder is not None:
            shutil.rmtree(self.folder / name)
        self._write(ROOT)
        self.on_change()

    def write(self, name: str, file: str, text: str) -> None:
        """Write into a file of a group, as the kernel takes it: schemata, cpus_list or tasks."""
        try:
            self._writers[file](name, text)
        except KernelError as error:
            self.last_status = error.status
            raise
        self.last_status = "ok"
        self.on_change()

    def assign(self, name: str, cpus: Iterable[int]) -> None:
        """Move CPUs into a group, out of all others."""
        self.write(name, "cpus_list", f"{write_list(self.groups[name].cpus | set(cpus))}\n")

    def take_back(self, name: str, cpus: Iterable[int]) -> None:
        """A group's CPUs become these; what it loses falls back to the root's."""
        self.write(name, "cpus_list", f"{write_list(cpus)}\n")

    def move_tasks(self, name: str, tasks: Iterable[str]) -> None:
        """Move tasks into a group; the kernel takes one with each write."""
        for task in tasks:
            self.write(name, "tasks", f"{task}\n")

    def set_masks(self, name: str, masks: Mapping[int, int]) -> None:
        """A group's ways."""
        pairs = ";".join(f"{cache}={mask:x}" for cache, mask in masks.items())
        self.write(name, "schemata", f"L3:{pairs}\n")

    def set_mba(self, name: str, values: Mapping[int, int]) -> None:
        """A group's bandwidth; nothing on a machine without MBA."""
        if self.machine.mba_closids:
            pairs = ";".join(f"{cache}={value}" for cache, value in values.items())
            self.write(name, "schemata", f"MB:{pairs}\n")

    def snapshot(self) -> dict[str, Group]:
        """A copy of all groups, for restore."""
        return deepcopy(self.groups)

    def restore(self, groups: dict[str, Group]) -> None:
        """As it was when the snapshot was taken."""
        self.groups = deepcopy(groups)
        if self.folder is not None:
            self._write_all(self.folder)
        self.on_change()

    def dump(self) -> dict[str, dict[str, object]]:
        """Group -> cpus_list, L3 (cache id -> hexadecimal mask), MB (cache id -> value), tasks."""
        return {
            name: {
                "cpus_list": write_list(group.cpus),
                "L3": {cache: f"{mask:x}" for cache, mask in sorted(group.masks.items())},
                "MB": dict(sorted(group.mba.items())),
                "tasks": list(group.tasks),
            }
            for name, group in self.groups.items()
        }

    def _set_schemata(self, name: str, text: str) -> None:
        found = check_schemata(self.machine, text)
        self.groups[name].masks.update(found.get("L3", {}))
        self.groups[name].mba.update(found.get("MB", {}))
        self._write(name)

    def _set_cpus(self, name: str, text: str) -> None:
        before = self.groups[name].cpus
        wanted = check_cpus(self.machine, text, before, is_default=name == ROOT)
        for other, group in self.groups.items():
            if other != name and group.cpus & wanted:
                group.cpus -= wanted
                self._write(other)
        if before - wanted:
            self.groups[ROOT].cpus |= before - wanted
            self._write(ROOT)
        self.groups[name].cpus = wanted
        self._write(name)

    def _set_task(self, name: str, text: str) -> None:
        task = text.strip()
        for group in self.groups.values():
            if task in group.tasks:
                group.tasks.remove(task)
        self.groups[name].tasks.append(task)
        for other in self.groups:
            self._write(other)

    def _fresh(self) -> Group:
        machine = self.machine
        mba = dict.fromkeys(machine.caches, machine.mba_default) if machine.mba_closids else {}
        return Group(masks=dict.fromkeys(machine.caches, machine.full), mba=mba)

    def _write_all(self, folder: Path) -> None:
        for entry in folder.glob("*"):
            if entry.is_dir():
                shutil.rmtree(entry)
        machine = self.machine
        info = {
            "L3/cbm_mask": f"{machine.full:x}",
            "L3/min_cbm_bits": machine.min_cbm_bits,
            "L3/num_closids": machine.closids,
            "L3/shareable_bits": "0",
        }
        if machine.mba_closids:
            info.update(
                {
                    "MB/bandwidth_gran": machine.mba_step,
                    "MB/delay_linear": 1,
                    "MB/min_bandwidth": machine.mba_min,
                    "MB/num_closids": machine.mba_closids,
                }
            )
        for name, value in info.items():
            file = folder / "info" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{value}\n")
        for name in self.groups:
            self._write(name)

    def _write(self, name: str) -> None:
        if self.folder is None:
            return
        group = self.groups[name]
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        cpus = self.machine.cpus
        _put(folder / "cpus", words(to_mask(group.cpus), cpus) + "\n")
        _put(folder / "cpus_list", write_list(group.cpus) + "\n")
        _put(folder / "schemata", group.schemata(self.machine.ways))
        _put(folder / "tasks", "".join(f"{task}\n" for task in group.tasks))

    def _load(self, folder: Path) -> None:
        for entry in [
            folder,
            *(
                sub
                for sub in sorted(folder.iterdir())
                if sub.is_dir() and sub.name not in _INFO_DIRS
            ),
        ]:
            schemata = read_schemata(entry)
            text = (entry / "cpus_list").read_text().strip()
            self.groups[ROOT if entry == folder else entry.name] = Group(
                cpus=parse_list([text]) if text else set(),
                masks={cache: int(value, 16) for cache, value in schemata["L3"].items()},
                mba={cache: int(value) for cache, value in schemata.get("MB", {}).items()},
                tasks=(entry / "tasks").read_text().split(),
            )


def read_schemata(group: Path) -> dict[str, dict[int, str]]:
    """Resource -> cache id -> value of a group's folder."""
    found: dict[str, dict[int, str]] = {}
    for line in (group / "schemata").read_text().splitlines():
        name, _colon, values = line.strip().partition(":")
        pairs = (item.split("=") for item in values.split(";"))
        found[name] = {int(cache): value.strip() for cache, value in pairs}
    return found


def machine_of(folder: Path, base: Machine) -> Machine:
    """The machine whose tree this is: sockets, CPUs, ways, classes of service, MBA. The rest as in
    base."""
    schemata = read_schemata(folder)
    groups = [
        folder,
        *(entry for entry in folder.iterdir() if entry.is_dir() and (entry / "cpus_list").exists()),
    ]
    lists = [text for entry in groups if (text := (entry / "cpus_list").read_text().strip())]
    mba = folder / "info" / "MB" / "num_closids"
    return replace(
        base,
        sockets=len(schemata["L3"]),
        cpus=max(parse_list(lists)) + 1,
        ways=int((folder / "info/L3/cbm_mask").read_text(), 16).bit_length(),
        closids=int((folder / "info/L3/num_closids").read_text()),
        mba_closids=int(mba.read_text()) if mba.exists() else 0,
        mba_mbps=any(int(value) > 100 for value in schemata.get("MB", {}).values()),
    )


def _put(file: Path, text: str) -> None:
    """Replace a file's content so that a reader sees the old one or the new one."""
    partial = file.with_name(f".{file.name}~")
    partial.write_text(text)
    partial.replace(file)
