# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When drivers may be exchanged: a time of day, on some days, somewhere. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo
from typing import Optional
from zoneinfo import ZoneInfo

from .._errors import InvalidInput

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True)
class WindowRequest:
    """A window as a person writes it: times such as 22:00, days by their names (None for all), the
    name of a time zone."""

    start: str
    end: str
    days: Optional[Sequence[str]] = None
    timezone: str = "UTC"


@dataclass(frozen=True)
class MaintenanceWindow:
    """From start to end, which may be on the next day; days are those of the start."""

    start: time
    end: time
    days: frozenset[int]
    zone: tzinfo

    def is_open(self, now: float) -> bool:
        """Whether a node may be begun. now: seconds since the epoch."""
        moment = datetime.fromtimestamp(now, self.zone)
        today, yesterday = moment.weekday(), (moment - timedelta(days=1)).weekday()
        clock = moment.time()
        if self.start < self.end:
            return today in self.days and self.start <= clock < self.end
        return (today in self.days and clock >= self.start) or (
            yesterday in self.days and clock < self.end
        )

    def __str__(self) -> str:
        days = ",".join(_DAYS[day] for day in sorted(self.days))
        return f"{self.start:%H:%M} to {self.end:%H:%M} {self.zone} ({days})"


def parse_window(given: WindowRequest | None) -> MaintenanceWindow | None:
    """None for no window. Raises InvalidInput."""
    if not given:
        return None
    try:
        zone = ZoneInfo(given.timezone or "UTC")
    except (OSError, ValueError, KeyError) as error:
        raise _wrong(f"there is no time zone {given.timezone!r} here") from error
    days = [day.lower()[:3] for day in given.days or _DAYS]
    unknown = sorted(set(days) - set(_DAYS))
    if unknown:
        raise _wrong(f"{', '.join(unknown)} is none of {', '.join(_DAYS)}")
    start, end = _time(given.start, "start"), _time(given.end, "end")
    return MaintenanceWindow(start, end, frozenset(map(_DAYS.index, days)), zone)


def _time(text: str, name: str) -> time:
    """Of the day. YAML takes 22:00 for 1320, a number of base 60, where it is not in quotes; a time
    that it leaves alone has a colon, or begins with 0."""
    if text.isdecimal() and not text.startswith("0"):
        text = f"{int(text) // 60:02d}:{int(text) % 60:02d}"
    try:
        return time.fromisoformat(text)
    except ValueError as error:
        raise _wrong(f"{name} is no time such as 22:00") from error


def _wrong(why: str) -> InvalidInput:
    return InvalidInput("the maintenance window cannot be used", why=why, todo="correct it")
