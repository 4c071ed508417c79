# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people are told while the nodes of a recipe are led through an exchange: when a wave begins
and how it went, which remedy is tried, which node takes longest."""

from __future__ import annotations

from collections.abc import Collection

from .._runs.context import RunContext
from .._states.validation.table import duration
from .exchange_steps import ExchangeEnding
from .node_exchange import NodeExchange
from .pace import Pace

TELL_EVERY_S = 10.0


class ExchangeProgress:
    """How far one exchange is, in lines of a run's output."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._pace = Pace((), 1, 0)
        self._in_waves = False
        self._wave = 0
        self._wave_nodes: list[NodeExchange] = []
        self._reported_at = context.clock()

    def start(self, pace: Pace, *, in_waves: bool) -> None:
        """The exchange has been planned. in_waves: an upgrade; remedies are not."""
        self._pace, self._in_waves = pace, in_waves

    def enter_wave(self, wave: int) -> None:
        """A node of this wave begins."""
        if wave <= self._wave:
            return
        self.end_wave()
        self._wave = wave
        if self._in_waves:
            self._context.progress(
                f"{self._title()}: {self._pace.size(wave)} of {self._pace.bounds[-1]} nodes,"
                f" at most {self._pace.at_once} at a time"
            )

    def end_wave(self) -> None:
        """No node of the wave is on its way any more."""
        ended, self._wave_nodes = self._wave_nodes, []
        if ended:
            slowest = max(ended, key=lambda each: each.took)
            done = sum(each.ending is ExchangeEnding.DONE for each in ended)
            self._context.notice(
                f"{self._title()}: {done} of {len(ended)} nodes proven again;"
                f" slowest: {slowest.node}, {duration(slowest.took)}"
            )

    def begun(self, exchange: NodeExchange) -> None:
        """Say what is tried on a node, and why where the proofs do not."""
        remedy = exchange.remedy
        if remedy and remedy.step:
            why = f", which {remedy.fault} was reported of" if remedy.fault else ""
            self._context.notice(f"{exchange.node}{why}: {remedy.step} is tried")

    def not_mended(self, exchange: NodeExchange, reason: str) -> None:
        """A remedy did not help, and another one follows."""
        if exchange.remedy:
            self._context.notice(
                f"{exchange.node} is not mended: {reason}; {exchange.remedy.step} is tried next"
            )

    def ended(self, exchange: NodeExchange) -> None:
        """The exchange of a node is over."""
        if exchange not in self._wave_nodes:
            self._wave_nodes.append(exchange)
        if exchange.ending is ExchangeEnding.POSTPONED:
            self._context.notice(f"{exchange.node} is left as it was: {exchange.reason}")
        elif exchange.ending is ExchangeEnding.QUARANTINED:
            self._context.notice(f"{exchange.node} is in quarantine: {exchange.reason}")

    def tell(self, done: int, on_their_way: Collection[NodeExchange]) -> None:
        """Now and then, how far it is, and which node has been on its way for longest."""
        now = self._context.clock()
        if not on_their_way or now - self._reported_at < TELL_EVERY_S:
            return
        self._reported_at = now
        slowest = min(on_their_way, key=lambda each: each.began)
        self._context.progress(
            f"{self._title()}: {done} nodes done, {len(on_their_way)} on their way;"
            f" slowest: {slowest.node}, for {duration(now - slowest.began)}: {slowest.reason}"
        )

    def _title(self) -> str:
        """What goes on, in a word."""
        return f"wave {self._wave} of {len(self._pace.bounds)}" if self._in_waves else "remedies"
