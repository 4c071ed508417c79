# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of CPUs: as people, RMD and Linux write them, and as numbers. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .._errors import InvalidInput

# Linux is built for at most 8192 CPUs; a larger number is a slip, and a range of such would take
# all memory.
LARGEST = 8191
_PART = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


def parse_cores(items: Sequence[str]) -> tuple[int, ...]:
    """The CPUs of items such as "3", "4-5" and "0-1,3": sorted, each once. Raises InvalidInput,
    which names the item.

    An item that is empty (as Linux writes no CPU at all) adds nothing.
    """
    found: set[int] = set()
    for item in items:
        for part in str(item).split(",") if str(item).strip() else []:
            found.update(_part(part.strip(), str(item)))
    return tuple(sorted(found))


def to_strings(cores: Iterable[int]) -> list[str]:
    """One string for each CPU, the only form that every RMD version deletes without harm."""
    return [str(core) for core in cores]


def to_ranges(cores: Iterable[int]) -> str:
    """As Linux writes a list of CPUs: "0-3,8"."""
    runs: list[list[int]] = []
    for core in sorted(set(cores)):
        if runs and core == runs[-1][1] + 1:
            runs[-1][1] = core
        else:
            runs.append([core, core])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _part(part: str, item: str) -> range:
    match = _PART.fullmatch(part)
    if match is None:
        raise _wrong(item, "it is neither a number nor a range")
    first, last = int(match[1]), int(match[2] or match[1])
    if first > last:
        raise _wrong(item, "the range runs backwards")
    if last > LARGEST:
        raise _wrong(item, f"no machine has a CPU {last}")
    return range(first, last + 1)


def _wrong(item: str, why: str) -> InvalidInput:
    return InvalidInput(
        f'"{item}" is no list of CPUs', why=why, todo='write for example "3", "4-5" or "0-1,3"'
    )
