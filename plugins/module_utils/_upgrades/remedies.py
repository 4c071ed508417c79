# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which remedy comes next on a node, by those that were tried: one after another, so many a day.
Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._recipes.loading.recipe import REBOOT_NODE
from .._times import seconds

DAY_S = 86400.0


@dataclass(frozen=True)
class RemedyRules:
    """steps: the recipe's, one for each try, the last repeated. attempts: how many a day at most, on
    one node. cooldown_s: how long after a try what is said of the node is taken to be about before
    it. Without steps nothing is tried."""

    steps: tuple[str, ...] = ()
    attempts: int = 0
    cooldown_s: float = 0.0

    def next(self, tried: Sequence[str], now: float) -> str:
        """The remedy to try, "" where none is left today."""
        count = len(recent(tried, now))
        if count >= self.attempts or not self.steps:
            return ""
        return self.steps[min(count, len(self.steps) - 1)]

    def is_cooling(self, tried: Sequence[str], now: float) -> bool:
        """Whether a fault that is reported now may be the one that was just seen to."""
        last = seconds(tried[-1]) if tried else None
        return last is not None and now - last < self.cooldown_s


@dataclass(frozen=True)
class Remedy:
    """What is done on a node. step: as the recipe names it. fault: what was said of the node that
    its proofs cannot see, "" where they can. tried: when remedies were begun, this one included once
    it was."""

    step: str
    fault: str = ""
    tried: tuple[str, ...] = ()


def recent(tried: Sequence[str], now: float) -> tuple[str, ...]:
    """The tries of the last day; what is no time is none."""
    return tuple(moment for moment in tried if now - (seconds(moment) or 0.0) < DAY_S)


def possible(steps: Sequence[str], *, reboots: bool) -> tuple[str, ...]:
    """The steps that can be done: a reboot only where it is said how."""
    return tuple(step for step in steps if step != REBOOT_NODE or reboots)
