# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which RmdWorkload a workload on RMD belongs to. Pure.

The operator called a workload by its object's name, whatever the namespace, so that objects of two
namespaces could be one to RMD. Here only those in the namespace default have their name as uuid;
what the operator has left is adopted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..workloads import RunningWorkload, Workload
from .workload_spec import Declared, Name


def refuse_collisions(declared: Iterable[Declared]) -> list[Declared]:
    """The same in the order of their names, those whose uuid an older one has with a problem."""
    holders: dict[str, Name] = {}
    found: list[Declared] = []
    for entry in sorted(declared, key=lambda entry: entry.age):
        holder = holders.setdefault(entry.uuid, entry.name)
        why = f"RMD would know it as {entry.uuid}, as it does the older RmdWorkload {holder}; give it another name"
        found.append(entry if holder == entry.name else replace(entry, problem=why, rival=holder))
    return sorted(found, key=lambda entry: entry.name)


def legacy_owner(
    uuid: str,
    running: RunningWorkload,
    node: str,
    declared: Iterable[Declared],
    wanted: Mapping[Name, Workload],
) -> Name | None:
    """The object outside of the namespace default whose workload the operator has put on this node
    as uuid, or None.

    It is the one whose status names the workload's id; else the only one of that name that asks for
    the same. wanted: what the objects ask for on this node.
    """
    alike = [entry for entry in declared if entry.name.name == uuid and entry.uuid != uuid]
    for entry in alike:
        states = (entry.object.get("status") or {}).get("workloadStates") or {}
        if running.id and (states.get(node) or {}).get("id") == running.id:
            return entry.name
    same = [
        entry.name
        for entry in alike
        if entry.name in wanted and running.workload.is_same_as(wanted[entry.name])
    ]
    return same[0] if len(same) == 1 else None
