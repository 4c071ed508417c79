# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What outlives the daemon's process: the machine, its resctrl tree, its tasks, the database and
the switches."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from tests.rmd.answers import CrashError, RefusedError
from tests.rmd.bits import ExpressionError, parse_list, runs
from tests.rmd.database import Database
from tests.rmd.faults import Dialect, Faults
from tests.rmd.machine import Machine, Pools, layout
from tests.rmd.policies import Policies
from tests.rmd.resctrl import Resctrl
from tests.rmd.workload import Workload

_WORD = 32


@dataclass
class Node:
    """tasks: process id -> CPUs of its affinity; these are alive."""

    machine: Machine
    resctrl: Resctrl
    database: Database
    faults: Faults
    tasks: dict[str, set[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """What rmd.toml and the daemon's flags say about workloads. plugins: names of those that are
    loaded."""

    dialect: Dialect = Dialect.V03
    pools: Pools = field(default_factory=Pools)
    policies: Policies = field(default_factory=Policies)
    plugins: frozenset[str] = frozenset()
    mba_mode: str = "percentage"
    force: bool = False
    validator_interval: float = 30.0


class Ways:
    """Which ways are free: the pools' masks less those of groups."""

    def __init__(self, node: Node, pools: Pools) -> None:
        self.node = node
        self.pools = pools
        self.layout = layout(node.machine, pools)

    def free(
        self, pool: str, *, ignore: Set[str], unused: Set[str] = frozenset()
    ) -> dict[int, int]:
        """Cache id -> mask of what is left of a pool ("none": of the whole cache).

        ignore: groups whose ways do not count; unused: groups that are not even seen. RefusedError
        for an unknown pool.
        """
        machine = self.node.machine
        groups = {
            name: group for name, group in self.node.resctrl.groups.items() if name not in unused
        }
        if len(groups) >= machine.closids and self.node.faults.equal_closids:
            raise RefusedError(f"error, not enough CLOS on host, {len(groups)} used")
        if pool == "none":
            free = dict.fromkeys(machine.caches, machine.full)
        elif pool in self.layout:
            free = dict(self.layout[pool])
        else:
            raise RefusedError(f"error doesn't support pool {pool}")
        for name, group in groups.items():
            if name in ignore:
                continue
            for cache, mask in group.masks.items():
                if cache in free and mask != machine.full:
                    free[cache] &= ~mask
        return free

    def os_masks(self, free: Mapping[int, int]) -> dict[int, int]:
        """What the OS group gets: from the lowest way up to the first one that somebody has, its
        reserve always."""
        reserve = (1 << self.pools.os) - 1
        return {
            cache: (1 << (runs(mask | reserve) or [(0, 0)])[0][1]) - 1
            for cache, mask in free.items()
        }


def pool_of(most: int, least: int) -> str:
    """The pool for a pair of ways; RefusedError if there is none for it."""
    if most == 0:
        return "shared"
    if most > least and least != 0:
        return "besteffort"
    if most == least:
        return "guarantee"
    raise RefusedError(
        f"Bad cache ways request. Details: max_cache={most}, min_cache={least}, doesn't support\n",
        to_blame=True,
    )


def caches_of(node: Node, workload: Workload) -> set[int]:
    """The caches that own one of the workload's CPUs, its tasks' included; a task that is gone may
    run anywhere."""
    machine = node.machine
    cpus = cores_of(workload, machine.cpus, node.faults)
    for task in workload.task_ids:
        cpus |= node.tasks.get(task, set(range(machine.cpus)))
    return {cache for cache in machine.caches if machine.cpus_of(cache) & cpus}


def cores_of(workload: Workload, count: int, faults: Faults) -> set[int]:
    """The workload's CPUs. CrashError for one that is beyond the mask of the machine, which has
    `count`."""
    try:
        cores = parse_list(workload.core_ids)
    except ExpressionError as error:
        raise RefusedError(
            f"Failed to Parse workload coreIDs.. Details: {error}\n", to_blame=True
        ) from error
    # What fits into the mask's last word comes as far as the kernel, which refuses it.
    if cores and max(cores) >= -(-count // _WORD) * _WORD:
        if faults.panic_on_bad_core:
            raise CrashError(f"core {max(cores)} of {count}")
        raise RefusedError(f"core id {max(cores)} is not on this machine", to_blame=True)
    return cores


def largest_run(mask: int, least: int) -> int:
    """The length of the longest run of free ways that has at least `least`; 0 for none."""
    return max((length for _low, length in runs(mask) if length >= least), default=0)
