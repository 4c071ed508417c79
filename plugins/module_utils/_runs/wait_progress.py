# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person sees while one thing is waited for: one sentence that changes on a terminal, else a
line whenever the cause is another one."""

from __future__ import annotations

from textwrap import wrap

from .context import RunContext
from .terminal_block import TerminalBlock

# What is over within that time is not told.
FIRST_AFTER_S = 2.0
# A log gets no two lines within that time, on a terminal the line is drawn as often as asked.
EVERY_S = 5.0


class WaitProgress:
    """Takes what is waited for, about once a second, and shows it."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        terminal = context.terminal
        self._block = TerminalBlock(terminal, context.host) if terminal else None
        self._log = terminal.log if terminal else context.progress
        self._started: float | None = None
        self._logged = ""
        self._next = 0.0

    def __call__(self, text: str) -> None:
        now = self._context.clock()
        if self._started is None:
            self._started, self._next = now, now + FIRST_AFTER_S
        if now - self._started < FIRST_AFTER_S:
            return
        line = f"{text} ({now - self._started:.0f} s)"
        if self._block:
            self._block.draw(wrap(line, self._block.width))
        if text != self._logged and now >= self._next:
            self._logged, self._next = text, now + EVERY_S
            self._log(line)
