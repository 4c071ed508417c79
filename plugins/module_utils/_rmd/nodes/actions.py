# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has to happen on one node: what is wanted against what runs there. Pure.

There is no update: RMD's PATCH frees the resources before it knows whether it can set the new ones,
keeps saying that all is well when it cannot, and does not look whose cores it takes. A change is a
DELETE and a POST."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Optional, TypeVar, Union

from ..workloads import Cache, RunningWorkload, Workload


@dataclass(frozen=True)
class Keep:
    """It runs as it is wanted, maybe under a uuid that it has from before (adopted)."""

    name: ClassVar[str] = "keep"
    running: RunningWorkload
    workload: Workload


@dataclass(frozen=True)
class Post:
    """It does not run."""

    name: ClassVar[str] = "post"
    workload: Workload


@dataclass(frozen=True)
class Replace:
    """It runs, but otherwise, or is not in force by the daemon's or the kernel's word, or it is
    there more than once."""

    name: ClassVar[str] = "replace"
    old: RunningWorkload
    workload: Workload


@dataclass(frozen=True)
class Delete:
    """It runs, and should not."""

    name: ClassVar[str] = "delete"
    old: RunningWorkload


@dataclass(frozen=True)
class Release:
    """CPUs lie in groups of workloads, and are no workload's. A shared workload that takes them and
    is deleted again gives them back to the default group, in both versions of RMD."""

    name: ClassVar[str] = "free"
    cores: tuple[int, ...]

    @property
    def workload(self) -> Workload:
        """That workload."""
        return Workload(RELEASING_UUID, self.cores, cache=Cache(0, 0))


Action = Union[Keep, Post, Replace, Delete, Release]
A = TypeVar("A", Post, Replace, Delete, Release)
# Of workloads that a run makes to free CPUs, and of none else.
RELEASING_UUID = "hardware-enablement.free"


@dataclass(frozen=True)
class Step:
    """One request of an action: its POST, or its DELETE."""

    action: Union[Post, Replace, Delete, Release]
    is_post: bool


def plan(
    present: Sequence[Workload],
    absent: Collection[str],
    running: Sequence[RunningWorkload],
    *,
    adopted: Optional[Mapping[str, Sequence[str]]] = None,
    broken: Container[str] = (),
    strays: Iterable[int] = (),
) -> tuple[Action, ...]:
    """The actions of a node, in the order of present; deletions first.

    absent: uuids that should not run. adopted: other uuids that a wanted one may run under, such as
    those of Intel's operator; it keeps such a name until it has to change. broken: ids of what is
    not in force on the node. strays: CPUs in groups of workloads that are no workload's.
    """
    by_uuid = _by_uuid(running)
    going = _called(sorted({*absent, RELEASING_UUID}), by_uuid)
    others: list[Action] = []
    for workload in present:
        alike = _called([workload.uuid, *(adopted or {}).get(workload.uuid, ())], by_uuid)
        others.append(_of_wanted(workload, alike, broken))
        # Parallel requests of others can make one uuid twice: both share a group, so neither is
        # worth keeping.
        going += alike[1:]
    return (*map(Delete, going), *_releases(strays, present), *others)


def _by_uuid(running: Iterable[RunningWorkload]) -> dict[str, list[RunningWorkload]]:
    found: dict[str, list[RunningWorkload]] = {}
    for entry in running:
        found.setdefault(entry.uuid, []).append(entry)
    return found


def _called(
    names: Iterable[str], by_uuid: Mapping[str, Sequence[RunningWorkload]]
) -> list[RunningWorkload]:
    """What runs under one of these names, in their order; no name is ""."""
    return [found for name in dict.fromkeys(names) if name for found in by_uuid.get(name, ())]


def _of_wanted(
    workload: Workload, alike: Sequence[RunningWorkload], broken: Container[str]
) -> Action:
    """What becomes of a wanted workload. alike: what runs under its names; of several none is kept."""
    if not alike:
        return Post(workload)
    first = alike[0]
    equal = first.workload.is_same_as(workload) and not first.has_more
    in_force = first.is_enforced and first.id not in broken
    if equal and in_force and len(alike) == 1:
        return Keep(first, workload)
    return Replace(first, workload)


def _releases(strays: Iterable[int], present: Iterable[Workload]) -> list[Release]:
    """Of the strays that no wanted workload takes anyway."""
    left = set(strays) - {core for workload in present for core in workload.cores}
    return [Release(tuple(sorted(left)))] if left else []


def steps(actions: Sequence[Action]) -> tuple[Step, ...]:
    """The requests of a node's actions, in an order in which none is in another's way.

    What only goes, goes first. Then what shrinks is replaced before what grows. Replacements that
    want each other's cores are all deleted before any of them is posted.
    """
    replacements = sorted(_only(Replace, actions), key=_growth)
    entangled = _entangled(replacements)
    found = [*_deletes(_only(Delete, actions)), *_posts(_only(Release, actions))]
    for action in replacements:
        if action not in entangled:
            found += [*_deletes([action]), *_posts([action])]
    found += [*_deletes(entangled), *_posts(entangled)]
    return (*found, *_posts(_only(Post, actions)))


def _only(kind: type[A], actions: Iterable[Action]) -> list[A]:
    return [action for action in actions if isinstance(action, kind)]


def _deletes(actions: Iterable[Union[Delete, Replace]]) -> Iterator[Step]:
    return (Step(action, is_post=False) for action in actions)


def _posts(actions: Iterable[Union[Post, Replace, Release]]) -> Iterator[Step]:
    return (Step(action, is_post=True) for action in actions)


def uuid_of(action: Action) -> str:
    """The uuid that an action is about: the wanted one, or of what goes."""
    return action.old.uuid if isinstance(action, Delete) else action.workload.uuid


def changes(actions: Iterable[Action]) -> list[Action]:
    """The actions that are no Keep."""
    return [action for action in actions if not isinstance(action, Keep)]


def posted_by(actions: Iterable[Action]) -> list[Workload]:
    """What these actions make, also in place of something else."""
    return [action.workload for action in actions if isinstance(action, (Post, Replace))]


def removed_by(actions: Iterable[Action]) -> list[RunningWorkload]:
    """What these actions delete, also in order to replace it."""
    return [action.old for action in actions if isinstance(action, (Delete, Replace))]


def wanted_by(actions: Iterable[Action]) -> list[Workload]:
    """What is wanted after these actions."""
    return [action.workload for action in actions if isinstance(action, (Keep, Post, Replace))]


def _growth(action: Replace) -> int:
    before = action.old.workload.cache
    after = action.workload.cache
    return (after.max if after else 0) - (before.max if before else 0)


def _entangled(replacements: Sequence[Replace]) -> list[Replace]:
    """Those that want a core that another one of them has, and those that have it."""
    found: list[Replace] = []
    for one in replacements:
        for other in replacements:
            if one is not other and set(one.workload.cores) & set(other.old.workload.cores):
                found += [action for action in (one, other) if action not in found]
    return [action for action in replacements if action in found]
