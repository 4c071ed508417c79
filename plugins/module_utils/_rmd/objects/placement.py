# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the RmdWorkload objects mean for each node: which workloads should run there, and which
should not. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ..nodes.node_results import NodeJob
from ..workloads import RunningWorkload, Workload
from .uuids import legacy_owner
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


def wanted_on(
    node: str,
    declared: Sequence[Declared],
    targets: Mapping[Name, Collection[str]],
    running: Sequence[RunningWorkload],
    cores: Collection[int],
    owned: Collection[str],
    *,
    is_fresh: bool = False,
) -> WantedWorkloads:
    """What should and should not run on a node.

    declared: all objects, judged. targets: the nodes of each. running: what the node runs. cores:
    all of the node's, for allCores. owned: uuids that earlier runs have put there for objects. is_fresh: as of NodeJob.

    A workload whose uuid is an object's is that object's, whoever made it. An object with a problem
    stays as it is.
    """
    objects = {entry.uuid: entry.name for entry in declared if entry.rival is None}
    here = [
        entry
        for entry in sorted(declared, key=lambda entry: entry.age)
        if not entry.problem and not entry.is_deleted and node in targets[entry.name]
    ]
    present = {entry.name: entry.workload(cores) for entry in here}
    adopted = _adopt(node, declared, running, present, objects)
    goes = {
        entry.name
        for entry in declared
        if entry.is_deleted or not (entry.problem or entry.name in present)
    }
    absent = {found.uuid for found in running if objects.get(found.uuid) in goes}
    # What might be the operator's of an object that cannot be read is nobody's orphan.
    unsure = {entry.name.name for entry in declared if entry.problem}
    orphans = {found.uuid for found in running} & set(owned) - set(objects) - unsure
    return WantedWorkloads(
        tuple(present.values()),
        frozenset(absent | orphans),
        adopted,
        is_fresh,
        objects,
        frozenset(orphans),
    )


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
            owner = legacy_owner(found.uuid, found, node, declared, present)
            if owner is not None:
                objects[found.uuid] = owner
                adopted.setdefault(owner.uuid, []).append(found.uuid)
    return adopted
