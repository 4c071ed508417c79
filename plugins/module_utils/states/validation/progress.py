# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One line now and then about a long wait: the states, n of m nodes, the slowest nodes and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ansible_collections.hardware.enablement.plugins.module_utils.states.validation.model import (
    Phase,
    Result,
    StatePlan,
)

FIRST_AFTER_S = 2.0
EVERY_S = 10.0
SLOWEST = 2


class Progress:
    """Shows a line when something changed, at most every ten seconds, so that a log is not flooded."""

    def __init__(self, show: Callable[[str], None], started: float) -> None:
        self._show = show
        self._started = started
        self._next = started + FIRST_AFTER_S
        self._last = ""

    def show(self, plans: Sequence[StatePlan], results: Mapping[tuple[str, str], Result], now: float) -> None:
        """Show how far it is, if it is time to."""
        if now < self._next:
            return
        self._next = now + EVERY_S
        line = describe(plans, results, now)
        if line != self._last:
            self._show(f"[{now - self._started:4.0f} s] {line}")
            self._last = line


def describe(plans: Sequence[StatePlan], results: Mapping[tuple[str, str], Result], now: float) -> str:
    """'driver 2/3, ...; slowest: gpu-2 driver ContainerCreating 34 s'."""
    counts = []
    for plan in plans:
        found = [result for (_node, state), result in results.items() if state == plan.name]
        counts.append(f"{plan.name} {sum(result.phase is Phase.READY for result in found)}/{len(found)}")
    waiting = [
        (result.since, node, result)
        for (node, _state), result in results.items()
        if result.phase is not Phase.READY and not result.cause
    ]
    slowest = [
        f"{node or 'cluster'} {result.state} {result.reason} {max(now - since, 0):.0f} s"
        for since, node, result in sorted(waiting, key=lambda entry: (entry[0], entry[1]))[:SLOWEST]
    ]
    return ", ".join(counts) + (f"; slowest: {', '.join(slowest)}" if slowest else "")
