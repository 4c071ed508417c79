# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a request is sent again, and how long to wait before that. Pure."""

from __future__ import annotations

import datetime
import email.utils

# Before the second, third, ... attempt.
PAUSES_S = (0.25, 0.5, 1.0, 2.0)
# A registry that wants more time than this is better asked by the next run.
LONGEST_PAUSE_S = 30.0
_LATER = frozenset({408, 429, 500, 502, 503, 504})


def may_pass(status: int) -> bool:
    """Whether a refusal may pass by itself."""
    return status in _LATER


def pause_before(attempt: int, asked_s: float = 0.0) -> float | None:
    """Seconds to wait before the attempt of this number (the first repetition is 2); None: give up.

    asked_s: how long the server asks to wait at least.
    """
    if attempt - 2 >= len(PAUSES_S):
        return None
    pause = max(PAUSES_S[attempt - 2], asked_s)
    return pause if pause <= LONGEST_PAUSE_S else None


def retry_after_s(header: str, now: datetime.datetime) -> float:
    """The header Retry-After in seconds, which may also be a date; 0 if there is none that can be
    read."""
    text = header.strip()
    if text.isdigit():
        return float(text)
    try:
        date = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return 0.0
    if date.tzinfo is None:
        date = date.replace(tzinfo=datetime.timezone.utc)
    return max(0.0, (date - now).total_seconds())
