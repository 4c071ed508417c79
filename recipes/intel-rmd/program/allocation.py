# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which groups of resctrl a node's workloads need, and which of them cannot be had. Pure.

What is there stays where it is; what is new takes what is left. Of two that want the same, the one
that comes first has it. The layout of each L3, from its lowest way up: the operating system's pool,
guaranteed, best effort, shared; the default group has what lies below the lowest way that is given
to anybody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cpusets import parse
from declared import BESTEFFORT, GUARANTEED, SHARED, SHARED_GROUP, Entry, is_ours
from pools import Pools

DEFAULT = ""
# By the L3's id, the ways of a group.
Masks = Mapping[str, int]


@dataclass(frozen=True)
class Group:
    """A group of resctrl, as it is or should be. masks, bandwidth: by the L3's id."""

    cpus: frozenset[int]
    masks: Masks
    bandwidth: Mapping[str, int]


Tree = Mapping[str, Group]
Places = Mapping[str, Masks]


@dataclass(frozen=True)
class Machine:
    """What can be divided. caches: CPUs of each L3. groups: how many the kernel lets exist, the
    default one included. least, step: of memory bandwidth in percent, 0 without any; in_mbps:
    resctrl is mounted so that it takes MBps instead. shrink: whether best effort workloads give way
    to a new one down to what they need."""

    caches: Mapping[str, frozenset[int]]
    ways: int
    min_bits: int
    groups: int
    pools: Pools
    least: int = 0
    step: int = 0
    in_mbps: bool = False
    shrink: bool = False

    @property
    def full(self) -> int:
        """The mask of all ways."""
        return (1 << self.ways) - 1

    def pool(self, name: str) -> int:
        """The mask of a pool, the same on each L3."""
        low = self.pools.os
        for pool in (GUARANTEED, BESTEFFORT, SHARED):
            ways = int(getattr(self.pools, pool))
            if pool == name:
                return ((1 << ways) - 1) << low
            low += ways
        raise KeyError(name)


class NoRoomError(Exception):
    """One sentence: why not all of some entries can be had."""


def tree_of(seen: Mapping[str, Any]) -> dict[str, Group]:
    """The groups that there are, by the report's "resctrl". Raises ValueError. Pure."""
    return {
        name: Group(
            parse(group["cpus_list"]),
            {cache: int(mask, 16) for cache, mask in group["schemata"].get("L3", {}).items()},
            group["schemata"].get("MB", {}),
        )
        for name, group in seen["groups"].items()
    }


def allocate(
    entries: Sequence[Entry], tree: Tree, machine: Machine, places: Places
) -> tuple[dict[str, Group], dict[str, str]]:
    """(the default group and ours as they should be, why which uuid is not among them).

    entries: the first of them that fits has what several want. tree: what is there, others' groups
    included: their names, CPUs and ways are left alone. places: where groups of ours are, or were
    last, and stay.
    """
    while True:
        wanted, refused = _in_turn(entries, tree, machine, places)
        settled = sorted(entries, key=lambda entry: entry.uuid in refused)
        masks = {name: group.masks for name, group in wanted.items()}
        if settled == list(entries) and masks == places:
            return wanted, refused
        # Once more with what waits behind what does not, and without a place: so is the next look,
        # and what is said is the same then.
        entries, places = settled, masks


def is_there(entry: Entry, tree: Tree) -> bool:
    """Whether it is in force, as far as that can be seen: a group of many says nothing of one of
    them."""
    group = tree.get(entry.group)
    return group is not None and (entry.group != SHARED_GROUP or bool(entry.cores & group.cpus))


def _in_turn(
    entries: Sequence[Entry], tree: Tree, machine: Machine, places: Places
) -> tuple[dict[str, Group], dict[str, str]]:
    """One after the other: only what is had is in the way of what follows."""
    taken: list[Entry] = []
    refused: dict[str, str] = {}
    wanted = _allocate(taken, tree, machine, places)
    for entry in entries:
        try:
            wanted = _allocate([*taken, entry], tree, machine, places)
        except NoRoomError as error:
            refused[entry.uuid] = str(error)
        else:
            taken.append(entry)
    return wanted, refused


def _allocate(
    entries: Sequence[Entry], tree: Tree, machine: Machine, places: Places
) -> dict[str, Group]:
    _check(entries, tree, machine)
    masks: dict[str, dict[str, int]] = {entry.group: {} for entry in entries}
    default = dict(tree[DEFAULT].masks)
    for cache, cpus in machine.caches.items():
        here = [entry for entry in entries if entry.cores & cpus]
        given = dict(_of_cache(cache, here, tree, machine, places))
        taken = 0
        for mask in given.values():
            taken |= mask
        default[cache] = (taken & -taken) - 1 if taken else machine.full
        for entry in entries:
            other = default[cache] if entry in here else machine.full
            masks[entry.group][cache] = given.get(entry.group, other)
    wanted = {DEFAULT: replace(tree[DEFAULT], masks=default)}
    for name, mine in masks.items():
        members = [entry for entry in entries if entry.group == name]
        cores = frozenset(core for entry in members for core in entry.cores)
        wanted[name] = Group(cores, mine, _bandwidth(members[0], cores, tree, machine))
    return wanted


def _check(entries: Sequence[Entry], tree: Tree, machine: Machine) -> None:
    """Raise NoRoomError where one is against the kernel's rules, or in the way of an earlier one."""
    foreign = {name: group for name, group in tree.items() if name and not is_ours(name)}
    known = {cpu for cpus in machine.caches.values() for cpu in cpus}
    names: set[str] = set()
    owners: dict[int, str] = {}
    for entry in entries:
        if unknown := entry.cores - known:
            raise NoRoomError(f"the node has no core {min(unknown)}")
        for name, group in foreign.items():
            if both := entry.cores & group.cpus:
                text = f"core {min(both)} is in group {name}, which somebody else has made"
                raise NoRoomError(text)
        if both := entry.cores & owners.keys():
            raise NoRoomError(f"core {min(both)} is workload {owners[min(both)]}'s")
        _check_bandwidth(entry, machine)
        names.add(entry.group)
        if len(names) + len(foreign) + 1 > machine.groups:
            text = f"the kernel has {machine.groups} classes of service, and all are taken"
            raise NoRoomError(text)
        owners.update(dict.fromkeys(entry.cores, entry.uuid))


def _check_bandwidth(entry: Entry, machine: Machine) -> None:
    if entry.percentage is None and entry.mbps is None:
        return
    if not machine.step and not machine.in_mbps:
        raise NoRoomError("the kernel divides no memory bandwidth here")
    if machine.in_mbps != (entry.mbps is not None):
        units = "MBps" if machine.in_mbps else "percent"
        raise NoRoomError(f"the kernel takes memory bandwidth in {units} here")
    if entry.percentage is not None and not machine.least <= entry.percentage <= 100:
        text = f"memory bandwidth of {entry.percentage} percent is not from {machine.least} to 100"
        raise NoRoomError(text)


def _of_cache(
    cache: str, entries: Sequence[Entry], tree: Tree, machine: Machine, places: Places
) -> Iterator[tuple[str, int]]:
    """The ways of each group on one L3. entries: those with cores there."""
    foreign = 0
    for name, group in tree.items():
        mask = group.masks.get(cache, machine.full)
        if name and not is_ours(name) and mask != machine.full:
            foreign |= mask
    yield from _exclusive(cache, entries, places, machine, foreign).items()
    besteffort = [entry for entry in entries if entry.pool == BESTEFFORT]
    try:
        yield from _flexible(cache, besteffort, places, machine, foreign).items()
    except NoRoomError:
        if not machine.shrink:
            raise
        yield from _flexible(cache, besteffort, {}, machine, foreign, at_first_least=True).items()
    for entry in entries:
        if entry.pool == SHARED:
            if not machine.pools.shared:
                raise NoRoomError("the shared pool has no ways (option shared_ways)")
            yield entry.group, machine.pool(SHARED)


def _exclusive(
    cache: str, entries: Sequence[Entry], places: Places, machine: Machine, foreign: int
) -> dict[str, int]:
    mine = [entry for entry in entries if entry.pool == GUARANTEED]
    pool = machine.pool(GUARANTEED)
    found = _kept(cache, mine, places, pool & ~foreign)
    for entry in mine:
        if entry.group not in found:
            free = pool & ~foreign & ~_all(found)
            found[entry.group] = _place(cache, GUARANTEED, free, entry.most or 0, machine)
    return found


def _flexible(
    cache: str,
    entries: Sequence[Entry],
    places: Places,
    machine: Machine,
    foreign: int,
    *,
    at_first_least: bool = False,
) -> dict[str, int]:
    """Best effort: what is there, then what is new, as much of what it asks for as there is; what
    is left beside one that could use it is its."""
    pool = machine.pool(BESTEFFORT) & ~foreign
    found = _kept(cache, entries, places, pool)
    for entry in entries:
        if entry.group not in found:
            free, least = pool & ~_all(found), max(entry.least or 0, machine.min_bits)
            ways = least if at_first_least else max(least, min(entry.most or 0, _longest(free)))
            found[entry.group] = _place(cache, BESTEFFORT, free, ways, machine)
    for entry in entries:
        mask = found[entry.group]
        while bin(mask).count("1") < (entry.most or 0):
            beside = ((mask << 1) | (mask >> 1)) & ~mask & pool & ~_all(found)
            if not beside:
                break
            mask |= 1 << (beside.bit_length() - 1)
            found[entry.group] = mask
    return found


def _kept(cache: str, entries: Sequence[Entry], places: Places, pool: int) -> dict[str, int]:
    """The ways that stay where they are: as many as asked for, of the pool, and no other's."""
    found: dict[str, int] = {}
    for entry in entries:
        mask = places.get(entry.group, {}).get(cache, 0)
        ways = bin(mask).count("1")
        if mask and not mask & ~(pool & ~_all(found)) and _within(entry, ways):
            found[entry.group] = mask
    return found


def _within(entry: Entry, ways: int) -> bool:
    return (entry.least or 0) <= ways <= (entry.most or 0)


def _place(cache: str, pool: str, free: int, ways: int, machine: Machine) -> int:
    """That many ways side by side, as high as possible: what lies below them is everybody's."""
    if ways < machine.min_bits:
        text = f"it asks for {ways} ways, and the kernel gives {machine.min_bits} at least"
        raise NoRoomError(text)
    for low in range(machine.ways - ways, -1, -1):
        mask = ((1 << ways) - 1) << low
        if mask & free == mask:
            return mask
    left, run = bin(free).count("1"), _longest(free)
    side = f", {run} of them side by side" if left > run else ""
    text = f"cache {cache} has {left} {pool} ways left{side}, and it asks for {ways}"
    raise NoRoomError(text)


def _longest(mask: int) -> int:
    """The longest run of ways in a mask."""
    length = 0
    while mask:
        mask &= mask << 1
        length += 1
    return length


def _all(found: Mapping[str, int]) -> int:
    taken = 0
    for mask in found.values():
        taken |= mask
    return taken


def _bandwidth(entry: Entry, cores: frozenset[int], tree: Tree, machine: Machine) -> dict[str, int]:
    """What the kernel makes of it: rounded up to a step where it has cores, and no limit
    elsewhere."""
    no_limit = dict(tree[DEFAULT].bandwidth)
    if not no_limit:
        return {}
    wanted = entry.mbps
    if entry.percentage is not None:
        wanted = -(-entry.percentage // machine.step) * machine.step
    return {
        cache: limit if wanted is None or not cores & machine.caches[cache] else wanted
        for cache, limit in no_limit.items()
    }
