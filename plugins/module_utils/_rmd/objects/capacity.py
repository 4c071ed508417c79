# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many cache ways a node offers to pods, as extended resource intel.com/l3_cache_ways. Pure.

Pods count their ways by the scheduler; workloads that no pod owns take theirs from the same pool,
so the node offers what these leave. A pod's CPUs may lie on any socket: the socket with the fewest
counts.

RMD tells the ways that are free, and how many a pool has follows from what runs. That stays the
same while the daemon runs, so it is remembered, and a run in which nothing changes asks a node for
its workloads only."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from ..._errors import InvalidInput
from ..._json import Obj
from ..._nodes.cpuset import parse_cores, to_ranges
from ..topology import Policies, Topology
from ..workloads import GUARANTEED, Cache, RunningWorkload
from .operator_names import L3_CACHE_WAYS


@dataclass(frozen=True)
class GuaranteedPool:
    """The guaranteed pool of one L3 cache: how many ways it has in all, and the cache's CPUs."""

    cores: tuple[int, ...]
    ways: int


@dataclass(frozen=True)
class CacheMachine:
    """What stays the same while a daemon runs: its guaranteed pools, and the ways of its policies."""

    pools: tuple[GuaranteedPool, ...]
    policies: Mapping[str, Cache]

    @property
    def cores(self) -> tuple[int, ...]:
        """All CPUs that belong to an L3 cache."""
        return tuple(sorted({core for pool in self.pools for core in pool.cores}))

    def offered(self, running: Iterable[RunningWorkload], of_pods: Collection[str]) -> int:
        """The ways to offer. of_pods: uuids of the workloads that pods own."""
        others = [found for found in running if found.uuid not in of_pods]
        left = [
            pool.ways - sum(_held(found, pool.cores, self.policies) for found in others)
            for pool in self.pools
        ]
        return max(0, min(left, default=0))


def measure(
    topology: Topology, policies: Policies, running: Iterable[RunningWorkload]
) -> CacheMachine:
    """The machine behind what a daemon says at one moment: a pool's free ways, and those that
    workloads hold."""
    caches = {name: policy.cache for name, policy in policies.items() if policy.cache}
    there = list(running)
    pools = tuple(
        GuaranteedPool(
            cache.cores,
            cache.free(GUARANTEED) + sum(_held(found, cache.cores, caches) for found in there),
        )
        for cache in topology.caches
    )
    return CacheMachine(pools, caches)


def remember(machine: CacheMachine, daemon: str) -> str:
    """A machine as text, for an annotation. daemon: tells this run of the daemon from another one."""
    pools = [{"cores": to_ranges(pool.cores), "ways": pool.ways} for pool in machine.pools]
    policies = {name: [cache.max, cache.min] for name, cache in sorted(machine.policies.items())}
    return json.dumps(
        {"daemon": daemon, "pools": pools, "policies": policies}, separators=(",", ":")
    )


def recall(text: str, daemon: str) -> Optional[CacheMachine]:
    """The machine, or None where the text is of another run of the daemon, or nothing that remember
    wrote."""
    try:
        found = json.loads(text or "{}")
        if found.get("daemon") != daemon:
            return None
        pools = tuple(
            GuaranteedPool(parse_cores([entry["cores"]]), int(entry["ways"]))
            for entry in found["pools"]
        )
        return CacheMachine(
            pools, {name: Cache(*map(int, values)) for name, values in found["policies"].items()}
        )
    except (ValueError, TypeError, KeyError, AttributeError, InvalidInput):
        return None


def patch(node: Mapping[str, Any], ways: Optional[int]) -> Optional[Obj]:
    """The merge patch of the node's status that makes it offer these ways; None where it does.

    ways: None to offer none any more. The kubelet makes the allocatable amount of the capacity
    later; a pod may come before.
    """
    status = node.get("status") or {}
    wanted = None if ways is None else str(ways)
    fields = {
        field: {L3_CACHE_WAYS: wanted}
        for field in ("capacity", "allocatable")
        if (status.get(field) or {}).get(L3_CACHE_WAYS) != wanted
    }
    return {"status": fields} if fields else None


def _held(running: RunningWorkload, cores: Collection[int], policies: Mapping[str, Cache]) -> int:
    """The ways that a workload holds of the guaranteed pool of the cache with these CPUs."""
    wanted = running.workload
    cache = policies.get(wanted.policy) if wanted.policy else wanted.cache
    if cache is None or cache.pool != GUARANTEED or set(wanted.cores).isdisjoint(cores):
        return 0
    return cache.max
