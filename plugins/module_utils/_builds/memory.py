# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered of a build that failed, and until when it is not tried again. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._times import seconds, timestamp
from .failures import BuildFailure

# As long as it takes to read why, doubled with each try in a row.
FIRST_PAUSE_S = 30
LONGEST_PAUSE_S = 3600


@dataclass(frozen=True)
class Remembered:
    """The last failure of a build, as the record has it; all empty for none.

    failed: the key of the build, a hash of its inputs, target and environment. phase, reason: see
    failures. attempts: failures in a row. retry: when it may be tried again (RFC 3339), "" for
    never by itself.
    """

    failed: str = ""
    phase: str = ""
    reason: str = ""
    attempts: int = 0
    retry: str = ""

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Remembered:
        """What an entry of the record tells."""
        texts = {
            name: str(entry.get(name) or "") for name in ("failed", "phase", "reason", "retry")
        }
        return cls(attempts=int(entry.get("attempts") or 0), **texts)

    def after(self, key: str, failure: BuildFailure, now: float) -> Remembered:
        """What is remembered once the build of that key has failed, too. now: seconds since the
        epoch."""
        attempts = self.attempts + 1 if self.failed == key else 1
        pause = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** min(attempts - 1, 16))
        retry = "" if failure.is_held else timestamp(now + pause)
        return Remembered(key, failure.phase.value, failure.reason, attempts, retry)

    def forbids(self, key: str, now: float) -> bool:
        """Whether the build of a key is not to be tried now. now: seconds since the epoch."""
        if not key or self.failed != key:
            return False
        if not self.retry:
            return True
        due = seconds(self.retry)
        # A clock that was wrong must not hold up builds for long; what is no time is not of ours.
        return due is not None and now < due <= now + LONGEST_PAUSE_S

    @property
    def advice(self) -> str:
        """When it is tried again, and how at once; half a sentence."""
        if not self.retry:
            return "or set rebuild to try the same again"
        return f"it is tried again from {self.retry} on, or at once with rebuild"
