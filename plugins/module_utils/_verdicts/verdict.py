# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one proof says at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    """What one proof says at one moment.

    PENDING may still pass by itself. TROUBLE fails when it lasts longer than failure_grace. BLOCKED
    could not be evaluated, and says nothing about the hardware: after failure_grace it ends as
    unknown.
    """

    PASS = "pass"
    PENDING = "pending"
    TROUBLE = "trouble"
    BLOCKED = "blocked"


@dataclass(frozen=True)
class Verdict:
    """One proof's outcome. since is seconds since the epoch where the cluster itself says when it
    began.

    heals: whether trouble may pass by itself, so that it is worth waiting. open_until: seconds since
    the epoch until which its cause may still become known, so that it is not final.
    """

    outcome: Outcome
    reason: str = ""
    message: str = ""
    since: float | None = None
    ran: bool = True
    heals: bool = True
    open_until: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether the proof holds."""
        return self.outcome is Outcome.PASS


PASSED = Verdict(Outcome.PASS, "Proven")
