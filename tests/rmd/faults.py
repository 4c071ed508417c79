# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The daemon's known faults as switches (facts 4.5, 4.6), and faults that a test puts in the way."""

from __future__ import annotations

import enum
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal


class Dialect(enum.Enum):
    """Which daemon: 0.2.1 (flat bodies) or 0.3.1 (nested ones)."""

    V02 = "v0.2"
    V03 = "v0.3"


@dataclass(frozen=True)
class Injection:
    """What happens to some requests, whatever the daemon itself would do.

    method ("" for any) and path (its beginning, after /v1) say to which; after: how many of them go
    well before; times: how many it then happens to, None for all. hang: seconds that the answer
    waits, before the daemon has done anything. status and text: this is the answer, nothing is
    done. cut: the connection ends before the daemon has done anything, or after it has, without an
    answer. die: the daemon is gone from then on, until start or restart.
    """

    method: str = ""
    path: str = "/workloads"
    after: int = 0
    times: int | None = 1
    hang: float = 0.0
    status: int = 0
    text: str = ""
    cut: Literal["", "before", "after"] = ""
    die: bool = False

    def concerns(self, method: str, path: str) -> bool:
        """Whether it is about such a request."""
        return self.method in ("", method) and path.removeprefix("/v1").startswith(self.path)


@dataclass
class Faults:
    """Switches of one server; they may be turned at any time. Faults.of(dialect) has them as that
    daemon does.

    destructive_patch: a PATCH that fails has released what it held, and GET does not know (both).
    patch_refuses_cores: a change of core_ids alone is refused since the workload itself exists
    (both). patch_steals_cores: core_ids together with another cache value are not compared with
    other workloads' (both). race: what is there already is looked up outside the lock, so that
    POSTs at the same time all pass (both). wrong_class: codes 500 for requests that are to blame
    themselves (both). panic_on_bad_core: a core that the machine does not have ends the connection
    without an answer (both). range_delete: DELETE of "4-5" moves core 0 and leaves 4 and 5 in their
    old group, which gets all ways (0.3). wrong_socket: how often the masks of two sockets are
    exchanged, from 0 to 1. 0.3.1 does so by chance: a Fleet's servers have it so, a server alone
    does not. silent_noop: libpqos fails and only the log
    knows: 201, nothing is set. Off: it needs a broken machine. ghosts: records survive a restart as
    long as a group of that name is there, and are not applied again (both). shared_restart: records
    of two workloads in the shared class keep the daemon from starting (0.3). equal_closids: one
    class of service of L3 must always stay unused: 0.3 does not start when MBA has as many, 0.2
    refuses one workload earlier. needs_mba: does not start without info/MB (0.3). empty_pools:
    pools above the ways: starts with no pools at all (both); off: it does not start. yaml_policy:
    numbers of a YAML policy are taken for none: nothing is enforced, /cache/l3 is refused (0.3).
    hospitality_policy: fails by policy, with TOML (0.3). hex_cpus: an assigned CPU is told as a
    mask (0.2). enforce_seconds: how long libpqos takes for one workload, within the lock.
    """

    destructive_patch: bool = True
    patch_refuses_cores: bool = True
    patch_steals_cores: bool = True
    race: bool = True
    wrong_class: bool = True
    panic_on_bad_core: bool = True
    range_delete: bool = True
    wrong_socket: float = 0.0
    silent_noop: bool = False
    ghosts: bool = True
    shared_restart: bool = True
    equal_closids: bool = True
    needs_mba: bool = True
    empty_pools: bool = True
    yaml_policy: bool = True
    hospitality_policy: bool = True
    hex_cpus: bool = False
    enforce_seconds: float = 0.0
    dice: random.Random = field(
        default_factory=lambda: random.Random(0),  # noqa: S311 - the same in every run is meant
        repr=False,
        compare=False,
    )
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    _injections: list[tuple[Injection, list[int]]] = field(
        default_factory=list, repr=False, compare=False
    )

    @classmethod
    def of(cls, dialect: Dialect) -> Faults:
        """As the real daemon has them."""
        if dialect is Dialect.V03:
            return cls()
        return cls(
            range_delete=False,
            shared_restart=False,
            needs_mba=False,
            yaml_policy=False,
            hospitality_policy=False,
            hex_cpus=True,
        )

    def inject(self, injection: Injection) -> None:
        """Put a fault in the way, until clear()."""
        with self._lock:
            self._injections.append((injection, [0]))

    @contextmanager
    def on(self, injection: Injection) -> Iterator[None]:
        """Put a fault in the way for a while."""
        entry = (injection, [0])
        with self._lock:
            self._injections.append(entry)
        try:
            yield
        finally:
            with self._lock:
                self._injections = [item for item in self._injections if item is not entry]

    def clear(self) -> None:
        """Take away all that was injected; the switches stay."""
        with self._lock:
            self._injections.clear()

    def mistakes_sockets(self) -> bool:
        """Whether this time the masks of two sockets are exchanged."""
        return self.dice.random() < self.wrong_socket

    def strike(self, method: str, path: str) -> Injection | None:
        """The injection for a request, which is counted; None if nothing is in its way."""
        chosen = None
        with self._lock:
            for injection, count in self._injections:
                if not injection.concerns(method, path):
                    continue
                count[0] += 1
                seen = count[0] - injection.after
                if (
                    chosen is None
                    and seen > 0
                    and (injection.times is None or seen <= injection.times)
                ):
                    chosen = injection
        return chosen
