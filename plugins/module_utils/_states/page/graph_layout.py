# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the states of a graph are drawn: each in the column after the last of those that it requires.
Pure; in pixels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..._json import Obj

BOX_WIDTH, BOX_HEIGHT = 166, 46
_GAP_X, _GAP_Y, _MARGIN = 28, 16, 4


@dataclass(frozen=True)
class Layout:
    """boxes: state -> its left upper corner. edges: lines from what is required to what requires it, as
    paths of SVG."""

    width: int
    height: int
    boxes: Mapping[str, tuple[int, int]]
    edges: Sequence[str]


def lay_out(states: Sequence[Obj]) -> Layout:
    """states: rows with name and requires, in an order in which each comes after what it requires."""
    names = {state["name"] for state in states}
    requires = {
        state["name"]: [name for name in state["requires"] if name in names] for state in states
    }
    columns: dict[str, int] = {}
    for name, required in requires.items():
        columns[name] = 1 + max((columns.get(each, -1) for each in required), default=-1)
    rows: Counter[int] = Counter()
    boxes = {}
    for name, column in columns.items():
        boxes[name] = (
            _MARGIN + column * (BOX_WIDTH + _GAP_X),
            _MARGIN + rows[column] * (BOX_HEIGHT + _GAP_Y),
        )
        rows[column] += 1
    width = max((x for x, _y in boxes.values()), default=0) + BOX_WIDTH + _MARGIN
    height = max((y for _x, y in boxes.values()), default=0) + BOX_HEIGHT + _MARGIN
    edges = [
        _edge(boxes[each], boxes[name])
        for name, required in requires.items()
        for each in _nearest(required, requires)
    ]
    return Layout(width, height, boxes, edges)


def _nearest(required: Sequence[str], requires: Mapping[str, Sequence[str]]) -> list[str]:
    """Those that no other of them stands on: the others are required anyway."""
    behind: set[str] = set()
    open_ = list(required)
    while open_:
        for name in requires[open_.pop()]:
            if name not in behind:
                behind.add(name)
                open_.append(name)
    return [name for name in required if name not in behind]


def _edge(begin: tuple[int, int], end: tuple[int, int]) -> str:
    """A curve from the right side of one box to the left side of another."""
    left, top = begin[0] + BOX_WIDTH, begin[1] + BOX_HEIGHT // 2
    right, bottom = end[0], end[1] + BOX_HEIGHT // 2
    bend = _GAP_X // 2
    return f"M{left} {top}C{left + bend} {top} {right - bend} {bottom} {right} {bottom}"
