# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the RmdWorkload objects mean for each node: which workloads should run there, and which
should not. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ..workloads import RunningWorkload, Workload
from .uuids import legacy_owner
from .workload_spec import Declared, Name


@dataclass(frozen=True)
class WantedWorkloads:
    """One node's share. The first three are what plan.plan takes.

    present: in the order of the objects' age, so that an older one gets its cores. absent: uuids.
    adopted: by uuid, the ones that the operator has given. objects: by uuid, whose workload it is.
    orphans: those of absent that belong to no object any more.
    """

    present: tuple[Workload, ...]
    absent: frozenset[str]
    adopted: Mapping[str, Sequence[str]]
    objects: Mapping[str, Name]
    orphans: frozenset[str]

    def without(self, uuids: Collection[str]) -> WantedWorkloads:
        """The same, but nothing is done about these."""
        present = tuple(workload for workload in self.present if workload.uuid not in uuids)
        return replace(self, present=present, absent=self.absent - set(uuids))


def wanted_on(
    node: str,
    declared: Sequence[Declared],
    targets: Mapping[Name, Collection[str]],
    running: Sequence[RunningWorkload],
    cores: Collection[int],
    owned: Collection[str],
) -> WantedWorkloads:
    """What should and should not run on a node.

    declared: all objects, judged. targets: the nodes of each. running: what the node runs. cores:
    all of the node's, for allCores. owned: uuids that earlier runs have put there for objects.

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
        tuple(present.values()), frozenset(absent | orphans), adopted, objects, frozenset(orphans)
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
