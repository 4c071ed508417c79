# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times as API objects carry them: RFC 3339, UTC, whole seconds."""

from __future__ import annotations

import datetime
import math
import time

NANOSECONDS = 1_000_000_000
# (word, seconds, up to how many seconds it is used)
_UNITS = (
    ("second", 1, 60.0),
    ("minute", 60, 3600.0),
    ("hour", 3600, 172800.0),
    ("day", 86400, math.inf),
)


def stamp(seconds: float | None = None) -> str:
    """A moment (seconds since the epoch), or now, as text."""
    moment = datetime.datetime.fromtimestamp(
        time.time() if seconds is None else seconds, datetime.timezone.utc
    )
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(text: str) -> float:
    """The moment that a text names, in seconds since the epoch."""
    parsed = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    return parsed.replace(tzinfo=datetime.timezone.utc).timestamp()


def ago(text: str, now: float) -> str:
    """How long it is since then, in one unit and in words ("5 minutes"), as OpenShift's tables say
    it."""
    passed = max(0, int(now - seconds(text)))
    if passed < 1:
        return "Less than a second"
    word, size = next((word, size) for word, size, limit in _UNITS if passed < limit)
    count = passed // size
    return f"{count} {word}{'' if count == 1 else 's'}"
