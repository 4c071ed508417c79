# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel says of cache and memory bandwidth: the caches' CPUs, and the resctrl file
system.

Source: https://docs.kernel.org/filesystems/resctrl.html."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cpusets import line

_NO_GROUPS = ("info", "mon_data", "mon_groups")


class NotMountedError(Exception):
    """One sentence that says that there is no resctrl."""


class RefusedWriteError(Exception):
    """One sentence: what the kernel did not take, and why."""


@dataclass(frozen=True)
class Geometry:
    """What can be divided. ways: of each L3. num_closids: L3, MB -> number of classes of service, 0
    for unsupported."""

    ways: int
    mask: str
    min_bits: int
    num_closids: dict[str, int]


def geometry(root: Path) -> Geometry:
    """What can be divided on this node. Raises NotMountedError, or OSError and ValueError for what
    is no such tree."""
    if not (root / "schemata").exists():
        raise NotMountedError(f"resctrl is not mounted at {root}")
    # With code and data prioritisation, L3 is two resources of one shape.
    folder = next(
        (root / "info" / name for name in ("L3", "L3CODE") if (root / "info" / name).is_dir()), None
    )
    if folder is None:
        return Geometry(0, "0", 0, {"L3": 0, "MB": _number(root / "info" / "MB" / "num_closids")})
    mask = int(line(folder / "cbm_mask"), 16)
    numbers = {
        "L3": _number(folder / "num_closids"),
        "MB": _number(root / "info" / "MB" / "num_closids"),
    }
    return Geometry(bin(mask).count("1"), f"{mask:x}", int(line(folder / "min_cbm_bits")), numbers)


def read(root: Path) -> dict[str, object]:
    """The report's "resctrl". Raises as geometry does."""
    found = geometry(root)
    return {
        "mounted": True,
        "num_closids": {name: number for name, number in found.num_closids.items() if number},
        "cbm_mask": found.mask,
        "min_cbm_bits": found.min_bits,
        "bandwidth": _bandwidth(root / "info" / "MB"),
        "groups": {name: _group(folder) for name, folder in _groups(root)},
    }


class Files:
    """What is written to resctrl. All methods raise RefusedWriteError."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def make(self, group: str) -> None:
        """A new group, without CPUs."""
        self._try(f"group {group}", (self._root / group).mkdir)

    def remove(self, group: str) -> None:
        """A group goes, unless somebody else has removed it meanwhile; its CPUs and tasks are the
        default group's then."""
        folder = self._root / group
        try:
            folder.rmdir()
        except OSError as error:
            # The kernel says nothing of this in last_cmd_status: what stands there is older.
            if folder.exists():
                raise RefusedWriteError(
                    f"the kernel did not take the removal of group {group}: {error.strerror}"
                ) from None

    def write(self, group: str, file: str, text: str) -> None:
        """One write to a file of a group, of all its lines at once; "" is the default group."""

        def send() -> None:
            with (self._root / group / file).open("wb", buffering=0) as opened:
                opened.write(text.encode())

        self._try(f"{file} of group {group or '.'}", send)

    def _try(self, what: str, send: Callable[[], object]) -> None:
        try:
            send()
        except OSError as error:
            why = error.strerror or str(error)
            with contextlib.suppress(OSError):
                status = line(self._root / "info" / "last_cmd_status")
                why = status if status not in ("", "ok") else why
            raise RefusedWriteError(f"the kernel did not take {what}: {why}") from None


def remove_all(files: Files, names: Iterable[str]) -> None:
    """These groups go, and none stays because of another one. Raises RefusedWriteError for those
    that stay."""
    refused = []
    for name in names:
        try:
            files.remove(name)
        except RefusedWriteError as error:
            refused.append(str(error))
    if refused:
        raise RefusedWriteError("; ".join(refused))


def groups(root: Path) -> list[str]:
    """The names of all groups but the default one."""
    return [name for name, _folder in _groups(root) if name]


def caches(sys: Path) -> dict[str, str]:
    """L3 cache id -> its CPUs, from what is mounted at /sys. A CPU that is offline has none."""
    found: dict[str, str] = {}
    for index in sorted(sys.glob("devices/system/cpu/cpu[0-9]*/cache/index*")):
        try:
            if line(index / "level") == "3":
                found[line(index / "id")] = line(index / "shared_cpu_list")
        except OSError:
            continue
    return dict(sorted(found.items(), key=lambda cache: int(cache[0])))


def _groups(root: Path) -> Iterator[tuple[str, Path]]:
    yield "", root
    for folder in sorted(root.iterdir()):
        if folder.name not in _NO_GROUPS and (folder / "schemata").exists():
            yield folder.name, folder


def _group(folder: Path) -> dict[str, object]:
    return {
        "cpus_list": line(folder / "cpus_list"),
        "schemata": _schemata(line(folder / "schemata")),
    }


def _bandwidth(folder: Path) -> dict[str, int]:
    """The least memory bandwidth that a group may have, and the step to which the kernel rounds
    up."""
    names = {"least": "min_bandwidth", "step": "bandwidth_gran"}
    return {name: _number(folder / file) for name, file in names.items()} if folder.is_dir() else {}


def _schemata(text: str) -> dict[str, dict[str, object]]:
    """Lines such as "    L3:0=7ff;1=7ff": masks as text without leading zeros, memory bandwidth as
    numbers."""
    found: dict[str, dict[str, object]] = {}
    for entry in text.splitlines():
        name, _colon, values = entry.strip().partition(":")
        pairs = (value.partition("=") for value in values.split(";") if value)
        found[name] = {
            cache.strip(): int(value) if name == "MB" else f"{int(value, 16):x}"
            for cache, _equals, value in pairs
        }
    return found


def _number(path: Path) -> int:
    try:
        return int(line(path))
    except FileNotFoundError:
        return 0
