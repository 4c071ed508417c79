# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What both daemons do alike to give a workload its ways."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from tests.rmd.answers import RefusedError
from tests.rmd.bits import highest
from tests.rmd.node import Node, Settings, Ways, caches_of, largest_run, pool_of
from tests.rmd.workload import Workload


@dataclass
class Request:
    """What is to be set: in which pool (None: no cache), how many ways, for which caches, which
    bandwidth."""

    pool: str | None
    most: int
    least: int
    caches: Set[int]
    mba: int | None = None


class Allocator(ABC):
    """Gives classes of service to workloads and takes them back. Not locked: the daemon holds its
    lock."""

    def __init__(self, node: Node, settings: Settings) -> None:
        self.node = node
        self.settings = settings
        self.ways = Ways(node, settings.pools)

    @abstractmethod
    def boot(self) -> None:
        """What the daemon does at its start; StartError when it does not start."""

    @abstractmethod
    def enforce(self, workload: Workload) -> None:
        """Set what the workload asks for; RefusedError or CrashError, then its status is not
        Successful."""

    @abstractmethod
    def release(self, workload: Workload) -> None:
        """Take back what the workload has."""

    @abstractmethod
    def snapshot(self) -> Any:
        """All that enforce and release change."""

    @abstractmethod
    def restore(self, kept: Any) -> None:
        """As it was at the snapshot."""

    def libpqos(self) -> bool:
        """Whether what is written gets there; takes its time."""
        time.sleep(self.node.faults.enforce_seconds)
        return not self.node.faults.silent_noop

    def request(self, workload: Workload) -> Request:
        """The pool and the caches; RefusedError for a pair that no pool is for."""
        workload.status = "None"
        caches = caches_of(self.node, workload)
        most, least = workload.max, workload.min
        if workload.policy:
            most, least = self.policy_ways(workload.policy)
        if most is None or least is None:
            if (least or 0) > (most or 0):
                self.check_order(most or 0, least or 0)
            return Request(None, 0, 0, caches)
        self.check_order(most, least)
        return Request(pool_of(most, least), most, least, caches)

    @abstractmethod
    def policy_ways(self, name: str) -> tuple[int | None, int | None]:
        """A policy's (max, min), None for what the daemon does not understand."""

    @abstractmethod
    def check_order(self, most: int, least: int) -> None:
        """0.3 refuses a minimum above the maximum in words of its own."""

    def masks(self, request: Request, free: dict[int, int]) -> dict[int, int]:
        """Cache id -> mask: of the pool where the workload's CPUs are, else all ways; RefusedError
        if none are left."""
        machine = self.node.machine
        found = {}
        for cache, mask in sorted(free.items()):
            if request.pool == "shared":
                found[cache] = self.ways.layout["shared"][cache]
            elif cache not in request.caches:
                found[cache] = machine.full
            elif request.pool == "guarantee":
                found[cache] = highest(mask, request.most)
            else:
                found[cache] = self._best_effort(request, cache, mask)
            if not found[cache]:
                raise RefusedError(f"Not enough cache left on cache_id {cache}", to_blame=True)
        return found

    def _best_effort(self, request: Request, cache: int, free: int) -> int:
        length = largest_run(free, request.least)
        if length:
            return highest(free, min(length, request.most))
        return self.shrink(request, cache) if self.settings.pools.shrink else 0

    @abstractmethod
    def shrink(self, request: Request, cache: int) -> int:
        """Ways of the best-effort pool for one more workload when none are free; 0 for none."""
