# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel does of the workloads that RMD says to run, by the report of the node's agent. Pure.

RMD answers "Successful" also when it has set the ways of another socket, or nothing at all, and
keeps saying so after a boot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional

from ..._nodes.cpuset import parse_cores, to_ranges
from ..workloads import BESTEFFORT, GUARANTEED, SHARED, RunningWorkload

Obj = Mapping[str, Any]

# Groups that RMD makes for workloads: v0.3 takes classes of service (COS1 is its own), v0.2 names
# them by their cores.
_OF_WORKLOADS = re.compile(r"COS(?!1$)\d+|.+-(?:guarantee|besteffort)|shared")
# Pools that keep their ways from each other; best effort workloads may come to share some.
_APART = ({GUARANTEED}, {GUARANTEED, BESTEFFORT}, {GUARANTEED, SHARED}, {BESTEFFORT, SHARED})


def broken_workloads(
    report: Obj, running: Sequence[RunningWorkload]
) -> tuple[dict[str, str], dict[str, str]]:
    """The workloads that are not in force, by their ids, and in what the kernel differs from them:
    (those that are wrong themselves, those whose ways such a one takes).

    report: the agent's, schema 3.
    """
    resctrl = report.get("resctrl")
    placed = [entry for entry in running if entry.cos_name]
    if not resctrl:
        return {entry.id: "resctrl is not mounted" for entry in placed}, {}
    caches = caches_of(report)
    found: dict[str, list[str]] = {}
    for entry in placed:
        if said := list(_of_workload(entry, resctrl, caches)):
            found[entry.id] = said
    wrong = set(found)
    disturbed: dict[str, list[str]] = {}
    for entry, other, said_of_both in _overlaps(placed, groups_of(report), caches):
        # A workload with all ways of its cache takes everybody's; the others need no POST for it.
        if other.id in wrong and entry.id not in wrong:
            disturbed.setdefault(entry.id, []).append(said_of_both)
        elif other.id not in wrong:
            found.setdefault(entry.id, []).append(said_of_both)
    return _sentences(found), _sentences(disturbed)


def stray_cores(report: Obj, running: Sequence[RunningWorkload]) -> tuple[int, ...]:
    """The CPUs that lie in groups of workloads, and are no workload's that runs there: of a lost
    database, or of a range that RMD v0.3 has deleted."""
    claimed: dict[str, set[int]] = {}
    for entry in running:
        claimed.setdefault(entry.cos_name, set()).update(entry.workload.cores)
    found: set[int] = set()
    for name, group in groups_of(report).items():
        if _OF_WORKLOADS.fullmatch(name):
            found |= set(_cores(group)) - claimed.get(name, set())
    return tuple(sorted(found))


def groups_of(report: Obj) -> Obj:
    """Name -> group of resctrl, the default one under ""."""
    found: Obj = (report.get("resctrl") or {}).get("groups") or {}
    return found


def caches_of(report: Obj) -> dict[str, tuple[int, ...]]:
    """L3 cache -> its CPUs."""
    return {
        str(name): parse_cores([str(cores)]) for name, cores in (report.get("l3") or {}).items()
    }


def masks_of(group: Obj) -> dict[str, int]:
    """L3 cache -> the ways of a group."""
    found = (group.get("schemata") or {}).get("L3") or {}
    return {str(cache_id): int(str(mask), 16) for cache_id, mask in found.items()}


def _of_workload(
    entry: RunningWorkload, resctrl: Obj, caches: Mapping[str, tuple[int, ...]]
) -> Iterator[str]:
    cos, wanted = entry.cos_name, entry.workload
    group: Optional[Obj] = (resctrl.get("groups") or {}).get(cos)
    if group is None:
        yield f"the node has no group {cos}"
        return
    if missing := set(wanted.cores) - set(_cores(group)):
        yield f"core {to_ranges(missing)} is not in {cos}"
    if wanted.cache is not None and wanted.cache.pool in (GUARANTEED, BESTEFFORT):
        yield from _of_masks(entry, group, caches, int(str(resctrl.get("cbm_mask") or "0"), 16))
    if wanted.mba is not None and not wanted.policy:
        yield from _of_mba(entry, group, caches, (resctrl.get("bandwidth") or {}).get("step") or 1)


def _of_masks(
    entry: RunningWorkload, group: Obj, caches: Mapping[str, tuple[int, ...]], full: int
) -> Iterator[str]:
    cache = entry.workload.cache
    masks, own = masks_of(group), set(_owned(entry, caches))
    if cache is None:
        return
    for cache_id, mask in sorted(masks.items()):
        ways = mask.bit_count()
        if cache_id not in own and mask != full:
            yield f"cache {cache_id}, where it has no core, is divided instead ({ways} ways)"
        elif cache_id in own and mask == full and cache.max < full.bit_count():
            yield f"it has all {ways} ways of its cache {cache_id} instead of {cache.max}"
        elif cache_id in own and not cache.min <= ways <= cache.max:
            wanted = cache.max if cache.min == cache.max else f"{cache.min} to {cache.max}"
            yield f"it has {ways} ways of cache {cache_id} instead of {wanted}"
    for cache_id in sorted(own - set(masks)):
        yield f"no ways of cache {cache_id} are set"


def _of_mba(
    entry: RunningWorkload, group: Obj, caches: Mapping[str, tuple[int, ...]], step: int
) -> Iterator[str]:
    mba = entry.workload.mba
    values = {
        str(key): int(value)
        for key, value in ((group.get("schemata") or {}).get("MB") or {}).items()
    }
    if mba is None:
        return
    for cache_id in sorted(_owned(entry, caches)):
        wanted = mba.mbps if mba.percentage is None else mba.percentage or 0
        rounded = wanted if mba.percentage is None else -(-mba.percentage // step) * step
        if values.get(cache_id) not in (wanted, rounded):
            has = values.get(cache_id, "no")
            yield f"it has {has} memory bandwidth at cache {cache_id} instead of {wanted}"


def _overlaps(
    placed: Sequence[RunningWorkload], groups: Obj, caches: Mapping[str, tuple[int, ...]]
) -> Iterator[tuple[RunningWorkload, RunningWorkload, str]]:
    """Each of two workloads that share ways of a cache, and should not, with the other one."""
    for place, one in enumerate(placed):
        for other in placed[place + 1 :]:
            pools = {
                entry.workload.cache.pool if entry.workload.cache else "" for entry in (one, other)
            }
            if one.cos_name == other.cos_name or pools not in _APART:
                continue
            masks = [masks_of(groups.get(entry.cos_name) or {}) for entry in (one, other)]
            for cache_id in sorted(set(_owned(one, caches)) & set(_owned(other, caches))):
                if masks[0].get(cache_id, 0) & masks[1].get(cache_id, 0):
                    yield (
                        one,
                        other,
                        f"it shares ways of cache {cache_id} with {other.uuid or other.id}",
                    )
                    yield (
                        other,
                        one,
                        f"it shares ways of cache {cache_id} with {one.uuid or one.id}",
                    )


def _owned(entry: RunningWorkload, caches: Mapping[str, tuple[int, ...]]) -> list[str]:
    return [
        name for name, cores in caches.items() if not set(cores).isdisjoint(entry.workload.cores)
    ]


def _cores(group: Obj) -> tuple[int, ...]:
    return parse_cores([str(group.get("cpus_list") or "")])


def _sentences(found: Mapping[str, Sequence[str]]) -> dict[str, str]:
    return {key: "; ".join(said) for key, said in found.items()}
