# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast an upgrade may go: which wave it is in, how many nodes may be begun now, and when too much
has failed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .waves import Amount, amount_of, wave_bounds


@dataclass(frozen=True)
class Pace:
    """bounds: how many nodes are exchanged at the end of each wave. at_once: how many nodes at most
    are not available at a time. failures: how many may fail. soak_s: how long a wave has to stay
    proven before the next one."""

    bounds: Sequence[int]
    at_once: int
    failures: int
    soak_s: float = 0.0

    @classmethod
    def of(
        cls,
        waves: Sequence[Amount],
        max_unavailable: Amount,
        max_failures: Amount,
        soak_s: float,
        *,
        to_exchange: int,
        nodes: int,
    ) -> Pace:
        """to_exchange: nodes that are done, that failed, or that may be begun; nodes: all."""
        return cls(
            tuple(wave_bounds(waves, to_exchange)),
            amount_of(max_unavailable, nodes, "max_unavailable", at_least=1),
            amount_of(max_failures, to_exchange, "max_failures"),
            soak_s,
        )

    def wave(self, number: int) -> int:
        """The wave, from 1 on, of the node of this number, from 0 on."""
        return 1 + sum(number >= bound for bound in self.bounds)

    def size(self, wave: int) -> int:
        """How many nodes a wave has."""
        return self.bounds[wave - 1] - (self.bounds[wave - 2] if wave > 1 else 0)

    def stop_reason(self, ended: int, failed: int) -> str:
        """Why no other node may be begun, "" where one may. ended: those that failed included."""
        if failed and len(self.bounds) > 1 and ended <= self.bounds[0]:
            return f"{_nodes(failed)} of the first wave failed"
        if failed > self.failures:
            return f"{_nodes(failed)} failed, and max_failures allows {self.failures}"
        return ""

    def may_begin(self, ended: int, under_way: int, idle_s: float) -> bool:
        """Whether the wave has room. idle_s: seconds since the last node was proven."""
        room = self.bounds[self.wave(ended) - 1] if self.wave(ended) <= len(self.bounds) else 0
        begins = ended in self.bounds and not under_way
        if begins and idle_s < self.soak_s:
            return False
        return ended + under_way < room


def _nodes(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"
