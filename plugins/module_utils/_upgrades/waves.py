# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many nodes at a time, and in which order: waves, what may be unavailable, how much may fail.
Pure.

Waves are written as Ansible's `serial` is: sizes, the last of which is repeated."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest
from typing import Union

from .._errors import InvalidInput

Amount = Union[str, int]

_PERCENT = re.compile(r"(\d{1,3})%")


def parse_amount(value: Amount, what: str) -> tuple[int, bool]:
    """A number, and whether it is one of percent; raises InvalidInput for what is neither."""
    text = str(value).strip()
    percent = _PERCENT.fullmatch(text)
    if percent and int(percent[1]) <= 100:
        return int(percent[1]), True
    if text.isascii() and text.isdigit():
        return int(text), False
    raise InvalidInput(
        f"{what} {value!r} cannot be used",
        why="it is neither a number of nodes nor a percentage such as 10%",
        todo="correct it",
    )


def amount_of(value: Amount, total: int, what: str, at_least: int = 0) -> int:
    """So many of total nodes, a percentage rounded down."""
    number, percent = parse_amount(value, what)
    return max(number * total // 100 if percent else number, at_least)


def wave_bounds(waves: Sequence[Amount], total: int) -> list[int]:
    """How many of total nodes are exchanged at the end of each wave: [1, 11, 61, 100] for
    ["1", "10%", "50%"] of 100."""
    bounds: list[int] = []
    reached = 0
    sizes = [amount_of(value, total, "wave", at_least=1) for value in waves or ["100%"]]
    while reached < total:
        reached = min(reached + sizes[min(len(bounds), len(sizes) - 1)], total)
        bounds.append(reached)
    return bounds


def spread(zones: Mapping[str, str]) -> list[str]:
    """The nodes, one of each zone after the other. zones: node -> its zone."""
    by_zone: dict[str, list[str]] = defaultdict(list)
    for node in sorted(zones):
        by_zone[zones[node]].append(node)
    turns = zip_longest(*(by_zone[zone] for zone in sorted(by_zone)))
    return [node for node in chain.from_iterable(turns) if node is not None]
