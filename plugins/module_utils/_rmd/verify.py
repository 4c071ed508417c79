# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a node's kernel does what RMD says, by the report of the node's agent. Pure.

RMD answers "Successful" also when it has set the ways of another socket, or nothing at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Optional

from .._nodes.cpuset import parse_cores, to_ranges
from .workloads import BESTEFFORT, GUARANTEED, SHARED, RunningWorkload

Obj = Mapping[str, Any]

# Groups that RMD makes for workloads: v0.3 takes classes of service (COS1 is its own), v0.2 names
# them by their cores.
_OF_WORKLOADS = re.compile(r"COS(?!1$)\d+|.+-(?:guarantee|besteffort)|shared")
# The kernel rounds a percentage up to the next step of the CPU, which is 10 on all that there are.
_MBA_STEP = 10


def differences(report: Obj, running: Sequence[RunningWorkload]) -> list[str]:
    """One sentence for each way in which resctrl is not as RMD's workloads say; report: the
    agent's, schema 1."""
    resctrl = report.get("resctrl")
    if not resctrl:
        return ["resctrl is not mounted, so no workload can be in force"]
    groups: Obj = resctrl.get("groups") or {}
    caches = {
        str(name): parse_cores([str(cores)]) for name, cores in (report.get("l3") or {}).items()
    }
    full = int(str(resctrl.get("cbm_mask") or "0"), 16)
    placed = [entry for entry in running if entry.cos_name]
    found = []
    for entry in placed:
        found += _of_workload(entry, groups.get(entry.cos_name), caches, full)
    found += _overlaps(placed, groups, caches)
    found += _left_over(placed, groups)
    return found


def _of_workload(
    entry: RunningWorkload, group: Optional[Obj], caches: Mapping[str, tuple[int, ...]], full: int
) -> list[str]:
    name, cos = entry.uuid or entry.id, entry.cos_name
    if group is None:
        return [f"workload {name} is in {cos}, and the node has no such group: nothing is in force"]
    found = []
    if missing := set(entry.workload.cores) - set(_cores(group)):
        found.append(f"core {to_ranges(missing)} of workload {name} is not in {cos}")
    if entry.workload.cache is not None and entry.workload.cache.pool in (GUARANTEED, BESTEFFORT):
        found += _of_masks(entry, group, caches, full)
    if entry.workload.mba is not None and not entry.workload.policy:
        found += _of_mba(entry, group, caches)
    return found


def _of_masks(
    entry: RunningWorkload, group: Obj, caches: Mapping[str, tuple[int, ...]], full: int
) -> Iterator[str]:
    cache = entry.workload.cache
    masks = _masks(group)
    name, own = entry.uuid or entry.id, set(_owned(entry, caches))
    if cache is None:
        return
    for cache_id, mask in sorted(masks.items()):
        ways = mask.bit_count()
        if cache_id not in own and mask != full:
            yield f"workload {name} restricts cache {cache_id} to {ways} ways, and has no core there"
        elif cache_id in own and mask == full and cache.max < full.bit_count():
            yield f"workload {name} has all {ways} ways of its cache {cache_id} instead of {cache.max}"
        elif cache_id in own and not cache.min <= ways <= cache.max:
            wanted = cache.max if cache.min == cache.max else f"{cache.min} to {cache.max}"
            yield f"workload {name} has {ways} ways of cache {cache_id} instead of {wanted}"
    for cache_id in sorted(own - set(masks)):
        yield f"workload {name} has no ways of cache {cache_id} set"


def _of_mba(
    entry: RunningWorkload, group: Obj, caches: Mapping[str, tuple[int, ...]]
) -> Iterator[str]:
    mba = entry.workload.mba
    values = {
        str(key): int(value)
        for key, value in ((group.get("schemata") or {}).get("MB") or {}).items()
    }
    if mba is None:
        return
    for cache_id in sorted(_owned(entry, caches)):
        wanted = mba.mbps if mba.percentage is None else mba.percentage
        rounded = (
            wanted
            if mba.percentage is None or wanted is None
            else -(-wanted // _MBA_STEP) * _MBA_STEP
        )
        if values.get(cache_id) not in (wanted, rounded):
            name, has = entry.uuid or entry.id, values.get(cache_id, "no")
            yield f"workload {name} has {has} memory bandwidth at cache {cache_id} instead of {wanted}"


def _overlaps(
    placed: Sequence[RunningWorkload], groups: Obj, caches: Mapping[str, tuple[int, ...]]
) -> Iterator[str]:
    """Guaranteed ways are nobody else's."""
    for place, one in enumerate(placed):
        for other in placed[place + 1 :]:
            pools = {
                entry.workload.cache.pool if entry.workload.cache else "" for entry in (one, other)
            }
            if (
                one.cos_name == other.cos_name
                or not pools <= {GUARANTEED, BESTEFFORT, SHARED}
                or GUARANTEED not in pools
            ):
                continue
            masks = [_masks(groups.get(entry.cos_name) or {}) for entry in (one, other)]
            for cache_id in sorted(set(_owned(one, caches)) & set(_owned(other, caches))):
                if masks[0].get(cache_id, 0) & masks[1].get(cache_id, 0):
                    yield f"workloads {one.uuid or one.id} and {other.uuid or other.id} share ways of cache {cache_id}"


def _left_over(placed: Iterable[RunningWorkload], groups: Obj) -> Iterator[str]:
    claimed: dict[str, set[int]] = {}
    for entry in placed:
        claimed.setdefault(entry.cos_name, set()).update(entry.workload.cores)
    for name, group in sorted(groups.items()):
        if _OF_WORKLOADS.fullmatch(name) and (
            stray := set(_cores(group)) - claimed.get(name, set())
        ):
            yield f"core {to_ranges(stray)} is in {name}, and no workload has it there"


def _owned(entry: RunningWorkload, caches: Mapping[str, tuple[int, ...]]) -> list[str]:
    return [
        name for name, cores in caches.items() if not set(cores).isdisjoint(entry.workload.cores)
    ]


def _cores(group: Obj) -> tuple[int, ...]:
    return parse_cores([str(group.get("cpus_list") or "")])


def _masks(group: Obj) -> dict[str, int]:
    found = (group.get("schemata") or {}).get("L3") or {}
    return {str(cache_id): int(str(mask), 16) for cache_id, mask in found.items()}
