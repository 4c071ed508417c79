# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the RmdWorkload objects mean for each node: which workloads should run there, and which
should not. Pure.

The operator called a workload by its object's name, whatever the namespace, so that objects of two
namespaces could be one to RMD. Here only those in the namespace default have their name as uuid;
what the operator has left is adopted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Optional

from ..nodes.node_results import NodeJob
from ..workloads import RunningWorkload, Workload
from .workload_spec import Declared, Name


@dataclass(frozen=True)
class WantedWorkloads(NodeJob):
    """One node's share, present in the order of the objects' age, so that an older one gets its
    cores.

    objects: by uuid, whose workload it is. orphans: those of absent that belong to no object any
    more.
    """

    objects: Mapping[str, Name] = field(default_factory=dict)
    orphans: frozenset[str] = frozenset()


def refuse_collisions(declared: Iterable[Declared]) -> list[Declared]:
    """The same in the order of their names, those whose uuid an older one has with a problem."""
    holders: dict[str, Name] = {}
    found: list[Declared] = []
    for entry in sorted(declared, key=lambda entry: entry.age):
        holder = holders.setdefault(entry.uuid, entry.name)
        why = f"RMD would know it as {entry.uuid}, as it does the older RmdWorkload {holder}; give it another name"
        found.append(entry if holder == entry.name else replace(entry, problem=why, rival=holder))
    return sorted(found, key=lambda entry: entry.name)


def wanted_on(
    node: str,
    declared: Sequence[Declared],
    targets: Mapping[Name, Collection[str]],
    *,
    running: Sequence[RunningWorkload],
    cores: Collection[int],
    owned: Collection[str],
    is_fresh: bool = False,
) -> WantedWorkloads:
    """What should and should not run on a node.

    declared: all objects, judged. targets: the nodes of each. running: what the node runs. cores:
    all of the node's, for allCores. owned: uuids that earlier runs have put there for objects.
    is_fresh: as of NodeJob.

    A workload whose uuid is an object's is that object's, whoever made it. An object with a problem
    stays as it is.
    """
    objects = {entry.uuid: entry.name for entry in declared if entry.rival is None}
    here = [entry for entry in _sendable(declared) if node in targets[entry.name]]
    present = {entry.name: entry.workload(cores) for entry in here}
    adopted = _adopt(node, declared, running, present, objects)
    leaving = _leaving(declared, present)
    absent = {found.uuid for found in running if objects.get(found.uuid) in leaving}
    orphans = _orphans(running, owned, objects, declared)
    return WantedWorkloads(
        present=tuple(present.values()),
        absent=frozenset(absent | orphans),
        adopted=adopted,
        is_fresh=is_fresh,
        objects=objects,
        orphans=orphans,
    )


def _sendable(declared: Iterable[Declared]) -> list[Declared]:
    """The objects that are to run somewhere, the oldest first."""
    found = [entry for entry in declared if not entry.problem and not entry.is_deleted]
    return sorted(found, key=lambda entry: entry.age)


def _leaving(declared: Iterable[Declared], present: Collection[Name]) -> set[Name]:
    """The objects whose workloads leave the node. present: those whose workloads are wanted there."""
    return {
        entry.name
        for entry in declared
        if entry.is_deleted or not (entry.problem or entry.name in present)
    }


def _orphans(
    running: Iterable[RunningWorkload],
    owned: Collection[str],
    objects: Collection[str],
    declared: Iterable[Declared],
) -> frozenset[str]:
    """The uuids that earlier runs have put there, and that are no object's any more."""
    # What might be the operator's of an object that cannot be read is nobody's orphan.
    unsure = {entry.name.name for entry in declared if entry.problem}
    return frozenset({found.uuid for found in running} & set(owned) - set(objects) - unsure)


def _adopt(
    node: str,
    declared: Sequence[Declared],
    running: Sequence[RunningWorkload],
    present: Mapping[Name, Workload],
    objects: dict[str, Name],
) -> dict[str, list[str]]:
    """The operator's own workloads that are objects' by now, by uuid; adds them to objects."""
    adopted: dict[str, list[str]] = {}
    for found in running:
        if found.uuid and found.uuid not in objects:
            owner = _legacy_owner(found, node, declared, present)
            if owner is not None:
                objects[found.uuid] = owner
                adopted.setdefault(owner.uuid, []).append(found.uuid)
    return adopted


def _legacy_owner(
    running: RunningWorkload,
    node: str,
    declared: Iterable[Declared],
    wanted: Mapping[Name, Workload],
) -> Optional[Name]:
    """The object outside of the namespace default whose workload the operator has put on this node
    under the object's name alone, or None.

    It is the one whose status names the workload's id; else the only one of that name that asks for
    the same. wanted: what the objects ask for on this node.
    """
    uuid = running.uuid
    alike = [entry for entry in declared if entry.name.name == uuid and entry.uuid != uuid]
    for entry in alike:
        if running.id and entry.recorded_ids.get(node) == running.id:
            return entry.name
    asking = wanted.keys() & {entry.name for entry in alike}
    same = [name for name in asking if running.workload.is_same_as(wanted[name])]
    return same[0] if len(same) == 1 else None
