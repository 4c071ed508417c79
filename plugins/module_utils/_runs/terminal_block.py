# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines on a terminal that are drawn over themselves, never wider than the terminal is now."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import combining, east_asian_width

from .context import Terminal, before_line

# Of a VT100, which every terminal knows: so many lines up, and clear to the end of the screen.
_UP = "\x1b[{}A"
_CLEAR = "\x1b[J"


class TerminalBlock:
    """Draws lines, each with the host before it where there are several. After each drawing the cursor
    is below the block, so that whatever comes next is below it too."""

    def __init__(self, terminal: Terminal, host: str) -> None:
        self._terminal = terminal
        self._prefix = before_line(host)
        self._drawn: list[str] = []

    @property
    def width(self) -> int:
        """The columns that a line has for text now, at least one."""
        # The last column stays empty: terminals differ in what they do after it.
        return max(self._terminal.size()[0] - 1 - len(self._prefix), 1)

    def draw(self, lines: Sequence[str]) -> None:
        """Draw over what was drawn before."""
        columns, _height = self._terminal.size()
        rows = sum(_rows(line, columns) for line in self._drawn)
        self._drawn = [
            _cut(self._prefix + self._terminal.clean(text), columns - 1) for text in lines
        ]
        self._terminal.write(
            (_UP.format(rows) if rows else "") + _CLEAR + "\n".join(self._drawn) + "\n"
        )


def _cells(character: str) -> int:
    """The columns that a character takes."""
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def _cut(text: str, columns: int) -> str:
    """As much of a text as fits, with three dots where something is missing."""
    if sum(map(_cells, text)) <= columns:
        return text
    left = max(columns - 3, 0)
    kept = ""
    for character in text:
        left -= _cells(character)
        if left < 0:
            break
        kept += character
    return (kept + "...")[: max(columns, 0)]


def _rows(line: str, columns: int) -> int:
    """The rows that a line takes on a terminal that may be narrower by now."""
    return max(-(-sum(map(_cells, line)) // max(columns, 1)), 1)
