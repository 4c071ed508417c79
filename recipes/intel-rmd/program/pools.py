# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the ways of this node's L3 are divided into RMD's pools, and why RMD would not work so. Pure.

RMD itself checks little of it: where the pools hold more ways than the cache, it starts without any
and refuses every workload later; where there are too few classes of service, it ends without a word
that helps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cpusets import parse
from resctrl import Geometry

# COS0 is everybody else's, COS1 the infra group's.
_RESERVED_CLASSES = 2
# Versions that ask for the number of bandwidth classes, whether or not bandwidth is to be divided.
_NEEDS_BANDWIDTH = ("0.3",)
_NAMES = ("os", "guaranteed", "besteffort", "shared", "infra")


class RefusedError(Exception):
    """One sentence: why RMD is not started here, and what to do."""


@dataclass(frozen=True)
class Pools:
    """Ways of each pool. infra overlaps the others: it is taken from the cache's other end."""

    os: int
    guaranteed: int
    besteffort: int
    shared: int
    infra: int


def layout(
    wanted: Mapping[str, int], by_ways: Mapping[str, Mapping[str, int]], found: Geometry
) -> Pools:
    """The pools for a cache. wanted: pool -> ways, guaranteed 0 for all that is left. by_ways: the
    same, by the cache's number of ways. Raises RefusedError."""
    ways = _numbers({**wanted, **by_ways.get(str(found.ways), {})})
    taken = ways["os"] + ways["besteffort"] + ways["shared"]
    guaranteed = ways["guaranteed"] or found.ways - taken
    text = f"os {ways['os']}, guaranteed {guaranteed}, besteffort {ways['besteffort']}, shared {ways['shared']}"
    if guaranteed < 0 or taken + guaranteed > found.ways:
        raise RefusedError(
            f"the pools ({text}) hold {taken + max(guaranteed, 0)} ways, but the L3 cache has {found.ways};"
            f" make them smaller, or give caches of {found.ways} ways pools of their own (option pools_by_ways)"
        )
    if ways["os"] < max(1, found.min_bits):
        least = max(1, found.min_bits)
        raise RefusedError(
            f"the os pool has {ways['os']} ways and needs {least} at least; set os_ways"
        )
    if 0 < guaranteed < found.min_bits:
        raise RefusedError(
            f"the guaranteed pool has {guaranteed} ways, and the kernel gives {found.min_bits} at least"
        )
    if ways["infra"] > found.ways:
        raise RefusedError(
            f"the infra pool has {ways['infra']} ways, but the L3 cache has {found.ways}; set infra_ways"
        )
    return Pools(ways["os"], guaranteed, ways["besteffort"], ways["shared"], ways["infra"])


def check(found: Geometry, version: str, mba_mode: str, mounted_in_mbps: bool | None) -> None:
    """Raise RefusedError where RMD of this version cannot work with this kernel.

    mounted_in_mbps: whether resctrl is mounted so that it takes MBps, None where that cannot be
    told.
    """
    if not found.ways:
        raise RefusedError(
            "the kernel divides no L3 cache here (info/L3 is missing); take the node's label away, or look whether"
            " firmware or kernel parameters turn it off"
        )
    bandwidth = found.num_closids.get("MB", 0)
    if not bandwidth and version in _NEEDS_BANDWIDTH:
        raise RefusedError(
            f"the kernel divides no memory bandwidth here (info/MB is missing), without which RMD v{version} does not"
            " start; use an image of RMD v0.2 (option rmd_version), or leave this node out"
        )
    classes = min(
        number
        for number in (found.num_closids.get("L3", 0), bandwidth or None)
        if number is not None
    )
    if classes <= _RESERVED_CLASSES:
        raise RefusedError(
            f"the kernel has {classes} classes of service, of which RMD keeps {_RESERVED_CLASSES} for itself;"
            " mount resctrl without cdp, or leave this node out"
        )
    if version in _NEEDS_BANDWIDTH and bandwidth >= found.num_closids.get("L3", 0):
        raise RefusedError(
            f"the kernel has {bandwidth} classes of service for memory bandwidth and no more for cache, with which RMD"
            f" v{version} does not start; use an image of RMD v0.2 (option rmd_version), or leave this node out"
        )
    if (
        bandwidth
        and mba_mode in ("percentage", "mbps")
        and mounted_in_mbps not in (None, mba_mode == "mbps")
    ):
        raise RefusedError(
            f"mba_mode is {mba_mode}, but resctrl is mounted {'with' if mounted_in_mbps else 'without'} mba_MBps;"
            " mount it the other way, or change mba_mode"
        )


def check_cpus(name: str, text: str) -> None:
    """Raise RefusedError for what is no list of CPUs."""
    try:
        parse(text)
    except ValueError:
        raise RefusedError(
            f"{name} is {text!r}, which is no list of CPUs such as 0-1,8; correct the option"
        ) from None


def _numbers(ways: Mapping[str, int]) -> dict[str, int]:
    unknown = sorted(set(ways) - set(_NAMES))
    if unknown:
        raise RefusedError(
            f"there is no pool {unknown[0]!r} (option pools_by_ways); name one of {', '.join(_NAMES)}"
        )
    for name, number in ways.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise RefusedError(
                f"the {name} pool has {number!r} ways, which is no number of ways; correct the option"
            )
    return {name: ways.get(name, 0) for name in _NAMES}
