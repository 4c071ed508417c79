# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of an agent's report, schema 3: groups, ways and bandwidth of the kernel's resctrl, L3
caches, and the pools that the cache is divided into. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..._cluster.api_objects.object_shapes import EACH, Written, mismatch
from ..._errors import InvalidInput
from ..._nodes.cpuset import parse_cores

Report = Mapping[str, Any]

# Hardware has at most 32 ways (CAT's masks are registers of 32 bits), and the agent looks again after
# seconds.
_MOST_WAYS = 32
_LONGEST_INTERVAL_S = 3600


def _are_cpus(text: str) -> bool:
    try:
        parse_cores([text])
    except InvalidInput:
        return False
    return True


_CPUS = Written("a list of CPUs", _are_cpus)
_MASK = Written("a mask of ways", re.compile(r"[0-9a-f]{1,8}").fullmatch)
_POOLS = ("os", "guaranteed", "besteffort", "shared", "infra")
_CPUS_OF_PODS = {EACH: {EACH: _CPUS}}
_SHAPE = {
    "node": str,
    "cpu_manager": {"policy": str, "entries": _CPUS_OF_PODS},
    "cgroups": _CPUS_OF_PODS,
    "l3": {EACH: _CPUS},
    "pools": {**dict.fromkeys(_POOLS, int), "os_cpus": _CPUS},
    "declared": {EACH: {"group": str, "why": str}},
    "problems": [str],
    "resctrl": {
        "cbm_mask": _MASK,
        "bandwidth": {"least": int, "step": int},
        "groups": {
            EACH: {"cpus_list": _CPUS, "schemata": {"L3": {EACH: _MASK}, "MB": {EACH: int}}}
        },
    },
}


def is_report(found: Any) -> bool:
    """Whether what stands in a log has the fields of a report: whoever reads them relies on their
    types."""
    if mismatch(found, _SHAPE):
        return False
    ways = [pools_of(found).get(name) or 0 for name in _POOLS]
    interval = found.get("interval") or 0
    return all(0 <= number <= _MOST_WAYS for number in ways) and (
        isinstance(interval, (int, float)) and 0 <= interval <= _LONGEST_INTERVAL_S
    )


def groups_of(report: Report) -> Mapping[str, Any]:
    """Name -> group of resctrl, the default one under ""."""
    return _mapping(_resctrl(report), "groups")


def bandwidth_of(report: Report) -> Mapping[str, int]:
    """step and least value of memory bandwidth in percent; nothing where the machine has none."""
    return _mapping(_resctrl(report), "bandwidth")


def all_ways_of(report: Report) -> int:
    """The mask of all ways of a cache."""
    return int(str(_resctrl(report).get("cbm_mask") or "0"), 16)


def caches_of(report: Report) -> dict[str, tuple[int, ...]]:
    """L3 cache -> its CPUs."""
    return {str(name): parse_cores([str(cores)]) for name, cores in _mapping(report, "l3").items()}


def pools_of(report: Report) -> Mapping[str, Any]:
    """Pool -> how many ways it has; nothing where the agent does not know."""
    return _mapping(report, "pools")


def reserved_of(report: Report) -> frozenset[int]:
    """The CPUs that are the operating system's (option os_cpus)."""
    return frozenset(parse_cores([str(pools_of(report).get("os_cpus") or "")]))


def cores_in(group: Mapping[str, Any]) -> tuple[int, ...]:
    """The CPUs of a group."""
    return parse_cores([str(group.get("cpus_list") or "")])


def masks_of(group: Mapping[str, Any]) -> dict[str, int]:
    """L3 cache -> the mask of a group's ways."""
    found = _mapping(_mapping(group, "schemata"), "L3")
    return {str(cache_id): int(str(mask), 16) for cache_id, mask in found.items()}


def bandwidths_of(group: Mapping[str, Any]) -> dict[str, int]:
    """L3 cache -> the memory bandwidth of a group there, in the unit of the node."""
    found = _mapping(_mapping(group, "schemata"), "MB")
    return {str(cache_id): int(value) for cache_id, value in found.items()}


def _resctrl(report: Report) -> Mapping[str, Any]:
    return _mapping(report, "resctrl")


def _mapping(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """What is below a name; nothing where that is not there, or null."""
    below: Mapping[str, Any] = found.get(name) or {}
    return below
