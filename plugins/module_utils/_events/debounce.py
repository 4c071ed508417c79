# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From triggers to events: those that come close together are one event. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Set
from dataclasses import dataclass

from .._json import Obj
from .._times import timestamp
from .event_types import RECURRENT, TIDINGS
from .triggers import Trigger

# A crash that comes back this soon after it was told is the same one.
RECURS_AFTER_S = 3600.0


@dataclass(frozen=True)
class ClusterEvent:
    """What is told at once: of one type and one recipe. subjects: names, sorted. age_s: so many
    seconds ago the first of it was seen."""

    type: str
    recipe: str
    instance: str
    subjects: tuple[str, ...]
    age_s: float

    def to_object(self, cluster: str, now: float) -> Obj:
        """As a rulebook gets it. cluster: its UID. now: seconds since the epoch."""
        names = [name for name in self.subjects if name]
        return {
            "type": self.type,
            "recipe": self.recipe,
            "instance": self.instance,
            "cluster": cluster,
            "nodes": [name for name in names if "/" not in name],
            "workloads": [name for name in names if "/" in name],
            "since": timestamp(now - self.age_s),
        }


class Debounce:
    """Triggers wait here, and go where they do not hold any more. All times are seconds of one
    clock that never jumps.

    quiet_s: how long the first of a type and recipe waits for others. resync_s: what still holds so
    long after it was told is told again, as what it started may have failed; 0 for never.
    """

    def __init__(self, quiet_s: float, resync_s: float, types: Set[str]) -> None:
        self._quiet_s = quiet_s
        self._resync_s = resync_s
        self._types = types
        self._held: dict[str, frozenset[Trigger]] = {}
        self._waiting: dict[Trigger, float] = {}
        self._sent: dict[Trigger, float] = {}
        # Of what recurs: when it was told, and is over.
        self._over: dict[Trigger, float] = {}
        self._gone: set[str] = set()

    def see(self, key: str, triggers: Set[Trigger], now: float, *, is_gone: bool = False) -> None:
        """All triggers of one object, known by a key. is_gone: the object is not there any more, so
        that its last ones are told once."""
        first = key not in self._held
        held = frozenset(trigger for trigger in triggers if trigger.type in self._types)
        before = self._held.get(key, frozenset())
        for trigger in before - held:
            self._waiting.pop(trigger, None)
            sent_at = self._sent.pop(trigger, None)
            if sent_at is not None and trigger.type in RECURRENT:
                self._over[trigger] = sent_at
        for trigger in held - before:
            known = first and trigger.type in TIDINGS
            if self._is_the_same(trigger, now):
                self._sent[trigger] = self._over.pop(trigger)
            else:
                (self._sent if known else self._waiting)[trigger] = now
        self._held[key] = held
        (self._gone.add if is_gone else self._gone.discard)(key)
        self._forget(key)

    def due(self, now: float) -> list[ClusterEvent]:
        """The events whose time has come, oldest first."""
        self._wake(now)
        together: dict[tuple[str, str, str], list[Trigger]] = defaultdict(list)
        for trigger in self._waiting:
            together[trigger.type, trigger.recipe, trigger.instance].append(trigger)
        found = []
        for (type_, recipe, instance), triggers in together.items():
            age_s = now - min(self._waiting[trigger] for trigger in triggers)
            if age_s >= self._quiet_s:
                subjects = sorted({trigger.subject for trigger in triggers})
                found.append(ClusterEvent(type_, recipe, instance, tuple(subjects), age_s))
                for trigger in triggers:
                    del self._waiting[trigger]
                    self._sent[trigger] = now
        for key in [*self._gone]:
            self._forget(key)
        return sorted(found, key=lambda event: (-event.age_s, event.type, event.instance))

    def wait_s(self, now: float) -> float | None:
        """In how many seconds the next event may be due, None while nothing waits."""
        if not self._waiting:
            return None
        return max(0.0, min(self._waiting.values()) + self._quiet_s - now)

    def _is_the_same(self, trigger: Trigger, now: float) -> bool:
        """Whether what holds again was told a short time ago."""
        return now - self._over.get(trigger, -RECURS_AFTER_S) < RECURS_AFTER_S

    def _wake(self, now: float) -> None:
        self._over = {
            each: sent_at for each, sent_at in self._over.items() if self._is_the_same(each, now)
        }
        if not self._resync_s:
            return
        for trigger, sent_at in [*self._sent.items()]:
            if trigger.type not in TIDINGS and now - sent_at >= self._resync_s:
                del self._sent[trigger]
                self._waiting[trigger] = now - self._quiet_s

    def _forget(self, key: str) -> None:
        """Of an object that is gone nothing is kept once it is told."""
        if key in self._gone and not any(trigger in self._waiting for trigger in self._held[key]):
            for trigger in self._held.pop(key):
                self._sent.pop(trigger, None)
            self._gone.discard(key)
