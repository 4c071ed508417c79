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

from ..._json import Obj
from ..._nodes.cpuset import parse_cores
from ..nodes.agents import Report
from ..nodes.evidence import caches_of, groups_of, masks_of
from ..workloads import GUARANTEED, RunningWorkload
from .operator_names import L3_CACHE_WAYS


def offered(
    report: Report, running: Iterable[RunningWorkload], of_pods: Collection[str]
) -> Optional[int]:
    """The ways to offer; None where the agent does not know the pools. of_pods: uuids of the
    workloads that pods own."""
    pools = report.get("pools")
    if not pools:
        return None
    others = [found for found in running if found.uuid not in of_pods]
    left = [
        int(pools["guaranteed"]) - sum(_held(found, name, cores, report, pools) for found in others)
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
    status = node.get("status") or {}
    wanted = None if ways is None else str(ways)
    fields = {
        field: {L3_CACHE_WAYS: wanted}
        for field in ("capacity", "allocatable")
        if (status.get(field) or {}).get(L3_CACHE_WAYS) != wanted
    }
    return {"status": fields} if fields else None


def _held(
    running: RunningWorkload,
    cache: str,
    cores: Collection[int],
    report: Report,
    pools: Mapping[str, Any],
) -> int:
    """The ways that a workload holds of the guaranteed pool of a cache. What a policy asks for, the
    kernel tells."""
    wanted = running.workload
    if set(wanted.cores).isdisjoint(cores):
        return 0
    if not wanted.policy:
        return wanted.cache.max if wanted.cache and wanted.cache.pool == GUARANTEED else 0
    reserved = parse_cores([str(pools.get("os_cpus") or "")])
    lowest = 0 if set(reserved).isdisjoint(cores) else int(pools["os"])
    pool = ((1 << int(pools["guaranteed"])) - 1) << lowest
    mask = masks_of(groups_of(report).get(running.cos_name) or {}).get(cache, 0)
    full = int(str((report.get("resctrl") or {}).get("cbm_mask") or "0"), 16)
    return 0 if mask == full else (mask & pool).bit_count()
