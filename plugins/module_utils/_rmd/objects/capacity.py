# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many cache ways a node offers to pods, as extended resource intel.com/l3_cache_ways. Pure.

Pods count their ways by the scheduler; workloads that no pod owns take theirs from the same pool,
so the node offers what these leave of the guaranteed pool, which is what our settings make of the
node's cache. A pod's CPUs may lie on any socket: the socket with the fewest counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Optional

from ..._json import Obj, part
from ..nodes.report_fields import (
    Report,
    all_ways_of,
    caches_of,
    groups_of,
    masks_of,
    pools_of,
    reserved_of,
)
from ..workloads import GUARANTEED, RunningWorkload
from .operator_names import L3_CACHE_WAYS


def offered(
    report: Report, running: Iterable[RunningWorkload], of_pods: Collection[str]
) -> Optional[int]:
    """The ways to offer; None where the agent does not know the pools. of_pods: uuids of the
    workloads that pods own."""
    pools = pools_of(report)
    if not pools:
        return None
    others = [found for found in running if found.uuid not in of_pods]
    left = [
        int(pools["guaranteed"]) - sum(_held(found, name, cores, report) for found in others)
        for name, cores in caches_of(report).items()
    ]
    return max(0, min(left, default=0))


def cores_of(report: Report) -> tuple[int, ...]:
    """All CPUs that belong to an L3 cache."""
    return tuple(sorted({core for cores in caches_of(report).values() for core in cores}))


def patch(node: Mapping[str, Any], ways: Optional[int]) -> Optional[Obj]:
    """The merge patch of the node's status that makes it offer these ways; None where it does.

    ways: None to offer none any more. The kubelet makes the allocatable amount of the capacity
    later; a pod may come before.
    """
    status = part(node, "status")
    wanted = None if ways is None else str(ways)
    fields = {
        field: {L3_CACHE_WAYS: wanted}
        for field in ("capacity", "allocatable")
        if part(status, field).get(L3_CACHE_WAYS) != wanted
    }
    return {"status": fields} if fields else None


def _held(running: RunningWorkload, cache: str, cores: Collection[int], report: Report) -> int:
    """The ways that a workload holds of the guaranteed pool of a cache. What a policy asks for, the
    kernel tells."""
    wanted = running.workload
    if set(wanted.cores).isdisjoint(cores):
        return 0
    if wanted.policy:
        mask = masks_of(groups_of(report).get(running.cos_name) or {}).get(cache, 0)
        is_divided = mask != all_ways_of(report)
        return (mask & _guaranteed_mask(cores, report)).bit_count() if is_divided else 0
    return wanted.cache.max if wanted.cache and wanted.cache.pool == GUARANTEED else 0


def _guaranteed_mask(cores: Collection[int], report: Report) -> int:
    """The ways of the guaranteed pool of the cache with these cores: above the operating system's,
    where that has a core there."""
    pools = pools_of(report)
    lowest = 0 if reserved_of(report).isdisjoint(cores) else int(pools["os"])
    return ((1 << int(pools["guaranteed"])) - 1) << lowest
