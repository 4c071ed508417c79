# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress for a terminal: one block that is drawn over itself, never wider or higher than the
terminal is now."""

from __future__ import annotations

from collections.abc import Sequence

from ..._runs.context import Terminal
from ..._runs.terminal_block import TerminalBlock
from .table import departure, duration
from .tally import Tally

BAR = 10
MAX_CAUSES = 5


class LiveBlock:
    """Draws a tally."""

    def __init__(self, terminal: Terminal, host: str, title: str, started: float) -> None:
        self._terminal = terminal
        self._block = TerminalBlock(terminal, host)
        self._title = title
        self._started = started

    def draw(self, tally: Tally, now: float) -> None:
        """Draw over what was drawn before. now is in seconds since the epoch."""
        _columns, lines = self._terminal.size()
        self._block.draw(layout(tally, self._title, self._started, now, lines - 1))


def layout(tally: Tally, title: str, started: float, now: float, height: int) -> list[str]:
    """The lines of the block, height at most: a title, a line for each state, the causes that last
    longest."""
    lines = [f"{title} {max(now - started, 0):.0f} s"]
    width = max((len(state) for state in tally.counts), default=0)
    states = [
        f"  {state:<{width}}  {_bar(ready, total)}  {ready}/{total}{_wrong(tally, state)}"
        for state, (ready, total) in tally.counts.items()
    ]
    room = max(height - len(lines), 2)
    gone = [f"  ~ {departure(tally.left)}"] if tally.left else []
    causes = _fitting(
        [*gone, *_causes(tally, now)], min(max(room - len(states), room // 2), MAX_CAUSES), "causes"
    )
    return lines + _fitting(states, room - len(causes), "states") + causes


def _causes(tally: Tally, now: float) -> list[str]:
    """Final ones first, since somebody has to do something about them."""
    return [
        f"  {'!' if cause.phase else '~'} {cause.text()}, {duration(max(now - cause.since, 0))}: {cause.message}"
        for cause in sorted(tally.causes.values(), key=lambda cause: not cause.phase)
    ]


def _wrong(tally: Tally, state: str) -> str:
    """On how many nodes a state will not become ready by itself, by phase."""
    wrong: dict[str, set[str]] = {}
    for cause in tally.causes.values():
        if cause.state == state and cause.phase:
            wrong.setdefault(cause.phase, set()).update(cause.nodes)
    said = ", ".join(f"{len(nodes)} {phase}" for phase, nodes in sorted(wrong.items()))
    return f"  {said}" if said else ""


def _fitting(lines: Sequence[str], room: int, what: str) -> list[str]:
    if len(lines) <= room:
        return list(lines)
    shown = max(room - 1, 0)
    return [*lines[:shown], f"  and {len(lines) - shown} more {what}"]


def _bar(ready: int, total: int) -> str:
    """Full only where everything is ready."""
    filled = BAR * ready // total if total else 0
    return "#" * filled + "-" * (BAR - filled)
