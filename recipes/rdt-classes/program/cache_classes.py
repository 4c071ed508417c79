# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which groups of resctrl the classes of a node are, and why they cannot be had there. Pure.

The layout of each L3: exclusive classes from its highest way down, in the order of their names;
below them what is everybody's, of which the other classes have ways from the lowest one up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from allocation import DEFAULT, Group, Tree, tree_of
from declared import group_of, is_ours

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,28}[a-z0-9])?")
_KEYS = {"ways", "percent", "exclusive", "bandwidth"}
_ALL = 100


class RefusedClassError(Exception):
    """One sentence: why the classes cannot be had on this node, and what to do."""


@dataclass(frozen=True)
class CacheClass:
    """One class. ways, percent: its share of each L3, one of them. bandwidth: of memory, in percent,
    None for no limit."""

    name: str
    ways: int | None
    percent: int | None
    exclusive: bool
    bandwidth: int | None

    def ways_of(self, ways: int, least: int) -> int:
        """Its ways of an L3 that has so many, of which a group has at least so many."""
        if self.ways is not None:
            return self.ways
        return max(ways * (self.percent or 0) // _ALL, least)


def read_classes(classes: Mapping[str, Any]) -> list[CacheClass]:
    """The option's classes by name. Raises RefusedClassError."""
    return [_class(name, found) for name, found in sorted(classes.items())]


def wanted_tree(classes: list[CacheClass], seen: Mapping[str, Any]) -> dict[str, Group]:
    """The default group and those of the classes as they should be; groups of others stay.

    seen: of resctrl.read. Raises RefusedClassError."""
    tree = tree_of(seen)
    default = tree[DEFAULT]
    ways = int(seen["cbm_mask"], 16).bit_length()
    if not ways:
        raise RefusedClassError(
            "the kernel divides no L3 cache here (info/L3 is missing); look whether firmware or kernel"
            " parameters turn it off, or leave this node out"
        )
    if not default.masks:
        raise RefusedClassError(
            "the kernel shows no L3 in schemata; mount resctrl without cdp, or leave this node out"
        )
    _check_number(classes, tree, seen)
    masks, below = _masks(classes, _of_others(tree, (1 << ways) - 1), ways, seen["min_cbm_bits"])
    wanted = {DEFAULT: replace(default, masks=dict.fromkeys(default.masks, below))}
    for each in classes:
        bandwidth = _bandwidth(each, default.bandwidth, seen["bandwidth"])
        mask = dict.fromkeys(default.masks, masks[each.name])
        wanted[group_of(each.name)] = Group(frozenset(), mask, bandwidth)
    return wanted


def refuse_shared(classes: list[CacheClass], wanted: Mapping[str, Group], tree: Tree) -> None:
    """Raises RefusedClassError where a group that somebody else has made has ways of an exclusive
    class. wanted: of wanted_tree. tree: as it is."""
    for each in classes:
        masks = wanted[group_of(each.name)].masks if each.exclusive else {}
        for name, group in tree.items():
            if (
                name
                and not is_ours(name)
                and any(group.masks.get(cache, 0) & mask for cache, mask in masks.items())
            ):
                raise RefusedClassError(
                    f"class {each.name} shares its ways with group {name}, which somebody else has made;"
                    " give that one other ways, or take it away"
                )


def _masks(
    classes: list[CacheClass], others: int, ways: int, min_bits: int
) -> tuple[dict[str, int], int]:
    """(the ways of each class, those that are everybody's)."""
    least = max(1, min_bits)
    found: dict[str, int] = {}
    top = ways
    for each in classes:
        number = each.ways_of(ways, least)
        if number < least:
            raise RefusedClassError(
                f"class {each.name} has {number} ways, and the kernel gives {least} at least; give it more"
            )
        if not each.exclusive:
            continue
        low = top - number
        while low >= 0 and _run(number) << low & others:
            low -= 1
        if low < least:
            taken = sum(each.ways_of(ways, least) for each in classes if each.exclusive)
            theirs = f", {bin(others).count('1')} are other people's groups'" if others else ""
            raise RefusedClassError(
                f"the exclusive classes have {taken} ways, but the L3 cache has {ways}{theirs}, and {least} must be"
                " left for everybody; make classes smaller, or let them share (exclusive: false)"
            )
        found[each.name], top = _run(number) << low, low
    for each in classes:
        number = each.ways_of(ways, least)
        if not each.exclusive and number > top:
            raise RefusedClassError(
                f"class {each.name} has {number} of everybody's ways, and those are {top}; make it smaller"
            )
        found.setdefault(each.name, _run(number))
    return found, _run(top)


def _run(number: int) -> int:
    return (1 << number) - 1


def _of_others(tree: Tree, full: int) -> int:
    """The ways of groups that somebody else has made, to be kept off. Off one that has all, as mkdir
    makes it, nothing can be kept: refuse_shared tells of it."""
    found = 0
    for name, group in tree.items():
        if name and not is_ours(name):
            for mask in group.masks.values():
                found |= mask if mask != full else 0
    return found


def _check_number(classes: list[CacheClass], tree: Tree, seen: Mapping[str, Any]) -> None:
    others = sum(bool(name) and not is_ours(name) for name in tree)
    number = min(seen["num_closids"].values())
    if len(classes) + others + 1 > number:
        theirs = f", of which others have {others}" if others else ""
        raise RefusedClassError(
            f"the kernel has {number} classes of service{theirs}, one is everybody's, and {len(classes)} are asked"
            " for; name fewer classes"
        )


def _bandwidth(
    each: CacheClass, no_limit: Mapping[str, int], kernel: Mapping[str, int]
) -> dict[str, int]:
    """What the kernel makes of it: rounded up to a step."""
    if each.bandwidth is None:
        return dict(no_limit)
    if not no_limit:
        raise RefusedClassError(
            f"class {each.name} has a share of memory bandwidth, and the kernel divides none here; leave it out"
        )
    if any(value > _ALL for value in no_limit.values()):
        raise RefusedClassError(
            f"class {each.name} has memory bandwidth in percent, and the kernel takes MBps here; mount resctrl"
            " without mba_MBps"
        )
    if each.bandwidth < kernel["least"]:
        raise RefusedClassError(
            f"class {each.name} has {each.bandwidth} percent of memory bandwidth, and the kernel gives"
            f" {kernel['least']} at least; give it more"
        )
    step = kernel["step"]
    return dict.fromkeys(no_limit, -(-each.bandwidth // step) * step)


def _class(name: str, found: object) -> CacheClass:
    where = f"class {name!r} (option classes)"
    if not _NAME.fullmatch(name):
        raise RefusedClassError(
            f"{where} is no name; take at most 30 lower-case letters, digits and hyphens"
        )
    if not isinstance(found, Mapping):
        raise RefusedClassError(f"{where} is no map; write its ways, such as" + " {ways: 4}")
    if unknown := sorted(set(found) - _KEYS):
        raise RefusedClassError(
            f"{where} has {unknown[0]!r}; it may have {', '.join(sorted(_KEYS))}"
        )
    ways, percent, bandwidth = (
        _number(found, key, where) for key in ("ways", "percent", "bandwidth")
    )
    if (ways is None) == (percent is None):
        raise RefusedClassError(f"{where} has not one of ways and percent; write one of them")
    exclusive = found.get("exclusive", True)
    if not isinstance(exclusive, bool):
        raise RefusedClassError(f"{where} has exclusive {exclusive!r}; write true or false")
    return CacheClass(name, ways, percent, exclusive, bandwidth)


def _number(found: Mapping[str, Any], key: str, where: str) -> int | None:
    number = found.get(key)
    if number is None:
        return None
    fits = isinstance(number, int) and not isinstance(number, bool) and number > 0
    if not fits or (key != "ways" and number > _ALL):
        most = "" if key == "ways" else f" up to {_ALL}"
        raise RefusedClassError(f"{where} has {key} {number!r}; write a number from 1{most}")
    return int(number)
