# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person sees of a long wait: a block that is drawn over itself on a terminal, else a line
for each change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..._runs.context import RunContext
from .changes_log import ChangesLog
from .live_block import LiveBlock
from .phases import Result, StatePlan
from .tally import count

FIRST_AFTER_S = 2.0
EVERY_S = 1.0

Results = Mapping[tuple[str, str], Result]


class Progress:
    """Shows how far a run is, at most once a second; what is over within the first two seconds
    shows nothing."""

    def __init__(self, context: RunContext, title: str) -> None:
        started = context.clock()
        terminal = context.terminal
        self._log = ChangesLog(terminal.log if terminal else context.progress, title, started)
        self._block = LiveBlock(terminal, context.host, title, started) if terminal else None
        self._next = started + FIRST_AFTER_S
        self._shown = False

    def show(
        self, plans: Sequence[StatePlan], results: Results, now: float, left: Sequence[str] = ()
    ) -> None:
        """Show how far it is, if it is time to. now is in seconds since the epoch; left: the nodes
        that left."""
        if now < self._next:
            return
        self._next = now + EVERY_S
        self._shown = True
        tally = count(plans, results, now, left)
        self._log.take(tally, now)
        if self._block:
            self._block.draw(tally, now)

    def close(
        self, plans: Sequence[StatePlan], results: Results, now: float, left: Sequence[str] = ()
    ) -> None:
        """Show how it ended, where anything was shown before."""
        if not self._shown:
            return
        tally = count(plans, results, now, left)
        self._log.close(tally, now)
        if self._block:
            self._block.draw(tally, now)
