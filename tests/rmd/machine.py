# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated machine: sockets, CPUs, cache ways, classes of service. And how the daemon divides
the ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.rmd.bits import parse_list, write_list

Masks = Mapping[int, int]  # cache id -> mask
MBPS_MAX = 4294967290


@dataclass(frozen=True)
class Machine:
    """sockets: each with one L3, its id is the socket's. cpus: of the whole machine. closids:
    classes of service of L3 allocation; mba_closids: of MBA, 0 for a machine without it.
    interleaved: CPU n is on socket n modulo sockets, else they are in blocks. platform: for the
    policy file. mba_mbps: resctrl is mounted with mba_MBps. isolated: a CPU list. way_kib: a way's
    size.
    """

    sockets: int = 2
    cpus: int = 8
    ways: int = 11
    closids: int = 16
    mba_closids: int = 8
    interleaved: bool = False
    platform: str = "skylake"
    mba_mbps: bool = False
    isolated: str = ""
    min_cbm_bits: int = 1
    mba_step: int = 10
    mba_min: int = 10
    way_kib: int = 1280

    @property
    def caches(self) -> range:
        """Ids of the L3 caches."""
        return range(self.sockets)

    @property
    def full(self) -> int:
        """The mask of all ways."""
        return (1 << self.ways) - 1

    @property
    def groups(self) -> int:
        """How many groups the kernel lets exist, the root's included."""
        return min(self.closids, self.mba_closids) if self.mba_closids else self.closids

    @property
    def mba_default(self) -> int:
        """No limit: percent or MB per second."""
        return MBPS_MAX if self.mba_mbps else 100

    def cpus_of(self, cache: int) -> set[int]:
        """The CPUs that share a cache."""
        if self.interleaved:
            return set(range(cache, self.cpus, self.sockets))
        share = self.cpus // self.sockets
        return set(
            range(cache * share, self.cpus if cache == self.sockets - 1 else (cache + 1) * share)
        )

    def share_list(self, cache: int) -> str:
        """share_cpu_list of a cache, as the kernel writes it."""
        return write_list(self.cpus_of(cache))


@dataclass(frozen=True)
class Pools:
    """Ways per pool and socket: [OSGroup], [InfraGroup], [CachePool] of rmd.toml; by default its
    sample for skylake."""

    os: int = 1
    os_cpus: str = "0"
    infra: int = 0
    infra_cpus: str = ""
    guarantee: int = 6
    besteffort: int = 3
    shared: int = 1
    max_allowed_shared: int = 10
    shrink: bool = False

    @property
    def total(self) -> int:
        """All that must fit into a cache."""
        return self.os + self.guarantee + self.besteffort + self.shared


# What the daemon takes where rmd.toml says nothing.
DAEMON_DEFAULTS = Pools(guarantee=10, besteffort=7, shared=2)


def layout(machine: Machine, pools: Pools) -> dict[str, dict[int, int]]:
    """Pool -> cache id -> mask: OS from the lowest way up, then guarantee, besteffort, shared;
    infra from the top.

    Where no CPU of the OS is, its ways are not left out. A sum above the ways leaves only os and
    infra (facts 4.6).
    """
    result: dict[str, dict[int, int]] = {"os": {}, "infra": {}}
    os_cpus = parse_list([pools.os_cpus]) if pools.os_cpus else set()
    infra_cpus = parse_list([pools.infra_cpus]) if pools.infra_cpus else set()
    fits = pools.total <= machine.ways
    for cache in machine.caches:
        own = machine.cpus_of(cache)
        with_os = bool(own & os_cpus)
        result["os"][cache] = (1 << pools.os) - 1 if with_os else 0
        if pools.infra:
            mask = ((1 << pools.infra) - 1) << (machine.ways - pools.infra)
            result["infra"][cache] = mask if own & infra_cpus else 0
        offset = pools.os if with_os else 0
        for name, ways in (
            ("guarantee", pools.guarantee),
            ("besteffort", pools.besteffort),
            ("shared", pools.shared),
        ):
            if ways and fits:
                result.setdefault(name, {})[cache] = ((1 << ways) - 1) << offset
            offset += ways
    return result
