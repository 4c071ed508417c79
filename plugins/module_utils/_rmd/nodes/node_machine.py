# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of a node's machine: its caches, pools and policies, and which writer's rules hold.
Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Optional

from ..._json import Obj
from ..._nodes.cpuset import to_ranges
from ..workloads import Cache


class Dialect(Enum):
    """Versions of RMD that speak and do otherwise, and the back end that is no RMD: there the
    kernel's rules hold alone. The value is the version that brought it."""

    V02 = "v0.2"
    V03 = "v0.3"
    RESCTRL = "resctrl"


@dataclass(frozen=True)
class L3:
    """One L3 cache. ways: how many it has. available: mask of the ways that are free. pools: the
    free ways of each."""

    id: str
    cores: tuple[int, ...]
    ways: int
    available: int
    pools: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def free(self, pool: str) -> int:
        """How many ways a pool has left."""
        return len(self.pools.get(pool, ()))


@dataclass(frozen=True)
class MbaSupport:
    """Memory bandwidth allocation: whether the machine has it, whether it is on, and its step and
    least value."""

    supported: bool
    enabled: bool
    step: Optional[int] = None
    least: Optional[int] = None


@dataclass(frozen=True)
class Topology:
    """The L3 caches of a node, by id; mba is None where it was not asked for, or the daemon does
    not know."""

    caches: tuple[L3, ...]
    mba: Optional[MbaSupport] = None

    @property
    def cores(self) -> frozenset[int]:
        """All CPUs that belong to an L3 cache."""
        return frozenset(core for cache in self.caches for core in cache.cores)

    def owners(self, cores: Iterable[int]) -> tuple[L3, ...]:
        """The caches that one of the cores belongs to."""
        wanted = set(cores)
        return tuple(cache for cache in self.caches if wanted.intersection(cache.cores))

    def describe(self) -> list[Obj]:
        """As results show it."""
        return [
            {
                "id": cache.id,
                "cores": to_ranges(cache.cores),
                "ways": cache.ways,
                "available_ways": f"{cache.available:x}",
                "pools": {name: to_ranges(ways) for name, ways in cache.pools.items()},
            }
            for cache in self.caches
        ]


@dataclass(frozen=True)
class RmdPolicy:
    """A policy of the daemon. cache: None where it says nothing about that. parameters: all that it
    says."""

    cache: Optional[Cache]
    parameters: Mapping[str, Any] = field(default_factory=dict)


Policies = Mapping[str, RmdPolicy]


@dataclass(frozen=True)
class Machine:
    """What rules look at; None for what is not known, or was not asked for."""

    topology: Optional[Topology] = None
    policies: Optional[Policies] = None
    dialect: Optional[Dialect] = None


UNKNOWN = Machine()
