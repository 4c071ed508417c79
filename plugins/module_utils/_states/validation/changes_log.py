# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress for a log: a short line where something changed, and never one for the time that passes.

What changes within a second shares a line. The longer a run takes, the longer counts wait for
theirs, so that the number of lines grows with the logarithm of time; a cause that was not told yet
does not wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .table import departure
from .tally import CauseKey, Tally

EVERY_S = 1.0
# Counts are told again after this share of the time that the run has taken so far.
SHARE = 1 / 30
WIDTH = 100

# A state's count has no reason, and what concerns no state has no state.
_NO_REASON = ""
_LEFT = ("", "left")


class _LogItem(NamedTuple):
    """One thing to tell: told again when its value changes, with its text."""

    value: object
    text: str


class ChangesLog:
    """Remembers what was told, and tells what differs from it. Times are in seconds since the
    epoch."""

    def __init__(self, show: Callable[[str], None], title: str, started: float) -> None:
        self._show = show
        self._title = title
        self._started = started
        self._shown_at: float | None = None
        self._shown: dict[CauseKey, _LogItem] = {}
        self._known: set[CauseKey] = set()

    def take(self, tally: Tally, now: float) -> None:
        """Tell one line of what changed, if it is time to."""
        if self._shown_at is None:
            self._begin(tally, now)
            return
        waited = now - self._shown_at
        news = tally.causes.keys() - self._known
        if waited >= (EVERY_S if news else max(EVERY_S, (now - self._started) * SHARE)):
            self._tell(tally, now)

    def close(self, tally: Tally, now: float) -> None:
        """Tell everything that was not told yet; nothing where there was no line before."""
        while self._shown_at is not None and self._tell(tally, now):
            pass

    def _begin(self, tally: Tally, now: float) -> None:
        ready, total = tally.proven
        self._shown = {key: item for key, item in _items(tally).items() if key not in tally.causes}
        self._line(f"{ready} of {total} proofs hold", now)

    def _tell(self, tally: Tally, now: float) -> bool:
        """One line with as many changes as fit; whether there was something to tell."""
        line = ""
        for key, item, text in self._changes(_items(tally)):
            longer = f"{line}; {text}" if line else text
            if line and len(longer) > WIDTH:
                break
            line = longer
            # What was told goes to the end, so that no state is told again before all others had
            # their turn.
            self._shown.pop(key, None)
            if item is not None:
                self._shown[key] = item
        self._known.update(key for key in tally.causes if key in self._shown)
        if line:
            self._line(line, now)
        return bool(line)

    def _changes(
        self, items: dict[CauseKey, _LogItem]
    ) -> list[tuple[CauseKey, _LogItem | None, str]]:
        """What differs from what was told, the longest untold first; None stands for a cause that
        is over."""
        turn = {key: index for index, key in enumerate(self._shown, start=1)}
        found: list[tuple[CauseKey, _LogItem | None, str]] = [
            (key, item, item.text)
            for key, item in sorted(items.items(), key=lambda entry: turn.get(entry[0], 0))
            if key not in self._shown or self._shown[key].value != item.value
        ]
        found += [
            (key, None, f"over: {item.text}")
            for key, item in self._shown.items()
            if key not in items
        ]
        return found

    def _line(self, text: str, now: float) -> None:
        self._shown_at = now
        self._show(f"{self._title} {max(now - self._started, 0):.0f} s: {text}")


def _items(tally: Tally) -> dict[CauseKey, _LogItem]:
    """A cause counts as the same while its phase stays, whatever nodes come and go; those have
    their state's count."""
    items = {key: _LogItem(cause.phase, cause.text()) for key, cause in tally.causes.items()}
    for state, numbers in tally.counts.items():
        items[(state, _NO_REASON)] = _LogItem(numbers, f"{state} {numbers[0]}/{numbers[1]}")
    if tally.left:
        items[_LEFT] = _LogItem(tally.left, departure(tally.left))
    return items
