# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a request is sent again, and how long to wait before that; what a server says of it. Pure."""

from __future__ import annotations

import datetime
import email.utils

# Before the second, third, ... attempt.
PAUSES_S = (0.25, 0.5, 1.0, 2.0)
# A registry that wants more time than this is better asked by the next run.
LONGEST_PAUSE_S = 30.0
# Whoever says when to come back is there, and is asked again for so long in all.
LONGEST_WAIT_S = 120.0
_LATER = frozenset({408, 429, 500, 502, 503, 504})


def may_pass(status: int) -> bool:
    """Whether a refusal may pass by itself."""
    return status in _LATER


def pause_before(attempt: int, asked_s: float = 0.0, waited_s: float = 0.0) -> float | None:
    """Seconds to wait before the attempt of this number (the first repetition is 2); None: give up.

    asked_s: how long the server asks to wait at least, 0 where it does not. waited_s: how long it
    was waited for so far.
    """
    pause = max(PAUSES_S[min(attempt - 2, len(PAUSES_S) - 1)], asked_s)
    if asked_s:
        return pause if pause <= LONGEST_PAUSE_S and waited_s + pause <= LONGEST_WAIT_S else None
    return pause if attempt - 2 < len(PAUSES_S) else None


def retry_after_s(header: str, now: datetime.datetime) -> float:
    """The header Retry-After in seconds, which may also be a date (RFC 9110, 10.2.3); 0 if there is
    none that can be read."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        date = email.utils.parsedate_to_datetime(text)
        if date.tzinfo is None:
            date = date.replace(tzinfo=datetime.timezone.utc)
        return max(0.0, (date - now).total_seconds())
    except (TypeError, ValueError, OverflowError, IndexError):
        return 0.0


def asked_in_words(asked_s: float) -> str:
    """What a refusal says of the time that the server asks for, "" where it asks for none."""
    if not asked_s:
        return ""
    return f" and asks to wait {asked_s:.0f} s" if asked_s < 10**9 else " and asks to wait for ever"
