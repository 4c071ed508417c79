# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Moments as Kubernetes writes them (metav1.Time and MicroTime: RFC 3339 in UTC), and as seconds
since the epoch. Pure."""

from __future__ import annotations

from datetime import datetime, timezone

_LAST = datetime(9999, 12, 31, tzinfo=timezone.utc).timestamp()


def seconds(text: str | None) -> float | None:
    """A timestamp as seconds since the epoch; None for what is none, also where it names no
    offset from UTC."""
    try:
        moment = datetime.fromisoformat((text or "").replace("Z", "+00:00"))
        return moment.timestamp() if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None


def timestamp(moment: float) -> str:
    """Seconds since the epoch as a Time, in whole seconds."""
    return _utc(moment).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_timestamp(moment: float) -> str:
    """Seconds since the epoch as a MicroTime."""
    return _utc(moment).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _utc(moment: float) -> datetime:
    """Whoever adds to a moment that somebody else has written may come to a year of five digits."""
    return datetime.fromtimestamp(min(moment, _LAST), tz=timezone.utc)
