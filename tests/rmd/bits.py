# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CPU lists and masks, as the daemon and the kernel write them. A mask is an int, bit 0 is the
lowest way or CPU."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_ITEM = re.compile(r"\d+(-\d+)?")


class ExpressionError(ValueError):
    """A list that is none; its text is the daemon's."""


def parse_list(items: Sequence[str]) -> set[int]:
    """The numbers of ("3", "4-5", "0-1,3"); ExpressionError for what is no such list."""
    found: set[int] = set()
    for item in items:
        for part in item.split(","):
            if not _ITEM.fullmatch(part.strip()):
                raise ExpressionError(f"wrong expression : {item}")
            low, _dash, high = part.strip().partition("-")
            found.update(range(int(low), int(high or low) + 1))
    return found


def write_list(numbers: Iterable[int]) -> str:
    """1, 2, 3, 10 as "1-3,10"."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)


def to_mask(numbers: Iterable[int]) -> int:
    """The mask with these bits."""
    return sum(1 << number for number in set(numbers))


def from_mask(mask: int) -> set[int]:
    """The bits of a mask."""
    return {bit for bit in range(mask.bit_length()) if mask >> bit & 1}


def words(mask: int, length: int = 0) -> str:
    """Hexadecimal in words of 32 bits, "1,0000ffff"; length: of the whole in bits, for leading
    zeros (0 for none)."""
    count = max(1, (max(mask.bit_length(), length) + 31) // 32)
    parts = [f"{mask >> 32 * index & 0xFFFFFFFF:08x}" for index in reversed(range(count))]
    if length:
        parts[0] = parts[0][-(((length - 1) % 32) // 4 + 1) :]
    else:
        parts[0] = parts[0].lstrip("0") or "0"
    return ",".join(parts)


def runs(mask: int) -> list[tuple[int, int]]:
    """(lowest bit, length) of each run of ones, the lowest first."""
    found: list[tuple[int, int]] = []
    for bit in sorted(from_mask(mask)):
        if found and bit == sum(found[-1]):
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((bit, 1))
    return found


def highest(mask: int, ways: int) -> int:
    """The highest `ways` neighbouring ones; 0 when there are not as many."""
    for low, length in reversed(runs(mask)):
        if length >= ways:
            return ((1 << ways) - 1) << (low + length - ways)
    return 0


def lowest(mask: int, ways: int) -> int:
    """The lowest `ways` neighbouring ones; 0 when there are not as many."""
    for low, length in runs(mask):
        if length >= ways:
            return ((1 << ways) - 1) << low
    return 0
