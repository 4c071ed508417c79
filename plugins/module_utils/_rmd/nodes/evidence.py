# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel does of the workloads that RMD says to run, by the report of the node's agent. Pure.

RMD answers "Successful" also when it has set the ways of another socket, or nothing at all, and
keeps saying so after a boot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Optional

from ..._nodes.cpuset import to_ranges
from ..workloads import BESTEFFORT, GUARANTEED, SHARED, Cache, Mba, RunningWorkload
from .report_fields import (
    Report,
    all_ways_of,
    bandwidth_of,
    bandwidths_of,
    caches_of,
    cores_in,
    groups_of,
    masks_of,
    reserved_of,
)

# L3 cache -> its CPUs.
Caches = Mapping[str, tuple[int, ...]]
Group = Mapping[str, Any]

# Groups that RMD makes for workloads: v0.3 takes classes of service (COS1 is its own), v0.2 names
# them by their cores.
_OF_WORKLOADS = re.compile(r"COS(?!1$)\d+|.+-(?:guarantee|besteffort)|shared")
# RMD's own group, whose ways are meant to overlap the pools.
_OF_RMD_ITSELF = re.compile(r"COS1|infra")
# Pools that keep their ways from each other; best effort workloads may come to share some.
_APART = ({GUARANTEED}, {GUARANTEED, BESTEFFORT}, {GUARANTEED, SHARED}, {BESTEFFORT, SHARED})


def broken_workloads(
    report: Report, running: Sequence[RunningWorkload]
) -> tuple[dict[str, str], dict[str, str]]:
    """The workloads that are not in force, by their ids, and in what the kernel differs from them:
    (those that are wrong themselves, those whose ways such a one or a group of others has)."""
    placed = [entry for entry in running if entry.cos_name]
    if not report.get("resctrl"):
        return {entry.id: "resctrl is not mounted" for entry in placed}, {}
    caches = caches_of(report)
    broken = {entry.id: list(_of_workload(entry, report, caches)) for entry in placed}
    theirs = _of_others(placed, report, caches)
    disturbed = {entry.id: list(_shared(entry, theirs, report, caches)) for entry in placed}
    wrong = {key for key, said in broken.items() if said}
    for entry, other, shared in _overlaps(placed, groups_of(report), caches):
        # A workload with all ways of its cache takes everybody's; the others need no POST for it.
        if other.id not in wrong:
            broken[entry.id].append(shared)
        else:
            disturbed[entry.id].append(shared)
    right = sorted(disturbed.keys() - wrong)
    return _sentences(broken), _sentences({key: disturbed[key] for key in right})


def stray_cores(report: Report, running: Sequence[RunningWorkload]) -> tuple[int, ...]:
    """The CPUs that lie in groups of workloads, and are no workload's that runs there: of a lost
    database, or of a range that RMD v0.3 has deleted."""
    claimed: dict[str, set[int]] = {}
    for entry in running:
        claimed.setdefault(entry.cos_name, set()).update(entry.workload.cores)
    found: set[int] = set()
    for name, group in groups_of(report).items():
        if _OF_WORKLOADS.fullmatch(name):
            found |= set(cores_in(group)) - claimed.get(name, set())
    return tuple(sorted(found))


def _of_workload(entry: RunningWorkload, report: Report, caches: Caches) -> Iterator[str]:
    """In what a workload's own group differs from it."""
    cos, wanted = entry.cos_name, entry.workload
    group: Optional[Group] = groups_of(report).get(cos)
    if group is None:
        yield f"the node has no group {cos}"
        return
    if missing := set(wanted.cores) - set(cores_in(group)):
        yield f"core {to_ranges(missing)} is not in {cos}"
    own = _owned(entry, caches)
    if wanted.cache is not None and wanted.cache.pool in (GUARANTEED, BESTEFFORT):
        yield from _of_masks(wanted.cache, masks_of(group), own, all_ways_of(report))
    if wanted.mba is not None and not wanted.policy:
        yield from _of_mba(wanted.mba, bandwidths_of(group), own, bandwidth_of(report))


def _of_masks(cache: Cache, masks: Mapping[str, int], own: set[str], full: int) -> Iterator[str]:
    """masks: L3 cache -> the group's ways. own: the caches where the workload has a core."""
    for cache_id, mask in sorted(masks.items()):
        if cache_id not in own:
            if mask != full:
                ways = mask.bit_count()
                yield f"cache {cache_id}, where it has no core, is divided instead ({ways} ways)"
        elif said := _of_own_mask(cache, cache_id, mask, full):
            yield said
    for cache_id in sorted(own - set(masks)):
        yield f"no ways of cache {cache_id} are set"


def _of_own_mask(cache: Cache, cache_id: str, mask: int, full: int) -> str:
    """In what the ways of a cache differ from what is wanted; "" for nothing."""
    ways = mask.bit_count()
    if mask == full and cache.max < full.bit_count():
        return f"it has all {ways} ways of its cache {cache_id} instead of {cache.max}"
    if not cache.min <= ways <= cache.max:
        wanted = cache.max if cache.min == cache.max else f"{cache.min} to {cache.max}"
        return f"it has {ways} ways of cache {cache_id} instead of {wanted}"
    return ""


def _of_mba(
    mba: Mba, values: Mapping[str, int], own: set[str], bandwidth: Mapping[str, int]
) -> Iterator[str]:
    """values: L3 cache -> the group's. The kernel rounds a percentage up to its step."""
    if mba.percentage is None:
        wanted = rounded = mba.mbps
    else:
        step = bandwidth.get("step") or 1
        wanted, rounded = mba.percentage, -(-mba.percentage // step) * step
    for cache_id in sorted(own):
        if values.get(cache_id) not in (wanted, rounded):
            has = values.get(cache_id, "no")
            yield f"it has {has} memory bandwidth at cache {cache_id} instead of {wanted}"


def _overlaps(
    placed: Sequence[RunningWorkload], groups: Mapping[str, Group], caches: Caches
) -> Iterator[tuple[RunningWorkload, RunningWorkload, str]]:
    """Each of two workloads that share ways of a cache, and should not, with the other one."""
    for one, other in combinations(placed, 2):
        if one.cos_name == other.cos_name or {_pool(one), _pool(other)} not in _APART:
            continue
        mine, others = (masks_of(groups.get(entry.cos_name) or {}) for entry in (one, other))
        for cache_id in sorted(_owned(one, caches) & _owned(other, caches)):
            if mine.get(cache_id, 0) & others.get(cache_id, 0):
                shared = f"it shares ways of cache {cache_id} with"
                yield one, other, f"{shared} {other.uuid or other.id}"
                yield other, one, f"{shared} {one.uuid or one.id}"


def _shared(
    entry: RunningWorkload, theirs: Sequence[tuple[str, str, int]], report: Report, caches: Caches
) -> Iterator[str]:
    """Which ways of a workload are others' as well. theirs: of _of_others."""
    if _pool(entry) in (GUARANTEED, BESTEFFORT):
        mine = masks_of(groups_of(report).get(entry.cos_name) or {})
        own = _owned(entry, caches)
        for name, cache_id, mask in theirs:
            if cache_id in own and mine.get(cache_id, 0) & mask:
                whose = f"group {name}, which is no workload's" if name else "the default group"
                yield f"it shares ways of cache {cache_id} with {whose} (give it others)"


def _of_others(
    placed: Sequence[RunningWorkload], report: Report, caches: Caches
) -> list[tuple[str, str, int]]:
    """(group that is no workload's, L3 cache, its ways there). Without CPUs it counts as well, since
    any task may be put into it; but tasks of the default group go by CPUs. RMD v0.2 leaves that all
    ways of sockets without CPUs of the operating system."""
    groups, is_rmds = groups_of(report), report.get("declared") is None
    found = []
    for name in sorted(groups.keys() - {entry.cos_name for entry in placed}):
        cores = cores_in(groups[name])
        if is_rmds and _is_rmds_own(name, cores):
            continue
        users = reserved_of(report) if is_rmds else set(cores)
        found += [
            (name, cache_id, mask)
            for cache_id, mask in sorted(masks_of(groups[name]).items())
            if name or users & set(caches.get(cache_id, ()))
        ]
    return found


def _is_rmds_own(name: str, cores: Sequence[int]) -> bool:
    """Whether a group beside RMD's workloads is to overlap them, or waits for one."""
    return bool(_OF_RMD_ITSELF.fullmatch(name) or (not cores and _OF_WORKLOADS.fullmatch(name)))


def _pool(entry: RunningWorkload) -> str:
    return entry.workload.cache.pool if entry.workload.cache else ""


def _owned(entry: RunningWorkload, caches: Caches) -> set[str]:
    """The caches where a workload has a core."""
    return {
        name for name, cores in caches.items() if not set(cores).isdisjoint(entry.workload.cores)
    }


def _sentences(found: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Of those of which anything is said."""
    return {key: "; ".join(said) for key, said in found.items() if said}
