# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record that is written before a plan is carried out, so that a later run finds all of it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._cluster.api_objects.labels import state_of
from .._json import Obj
from .apply_plan import ApplyPlanner, Planned
from .cleanup.ownership import gone_states, was_kept
from .preparation.prepare import Prepared
from .record import adopted, record_spec

Record = Mapping[str, Any]


def record_of_plan(planner: ApplyPlanner, record: Record | None, planned: Planned) -> Obj:
    """What was asked for, and what there will be once the plan is carried out."""
    prepared = planner.desired.prepared
    return record_spec.make_record(
        name=prepared.recipe.name,
        applyset_id=prepared.applyset_id,
        spec=prepared.spec,
        kinds=_kinds(planner, record, planned),
        namespaces=_namespaces(planner, record),
        made=_made_namespaces(prepared, record, planned),
        adopted=adopted.after(adopted.read(record), planned.changes),
    )


def _kinds(planner: ApplyPlanner, record: Record | None, planned: Planned) -> dict[str, list[str]]:
    """The kinds that each state has ever applied; without the states of which nothing is left."""
    kinds = record_spec.state_kinds(record)
    for name in planner.names:
        found = {
            f"{item.manifest['apiVersion']}/{item.manifest['kind']}"
            for item in planner.rendered[name].objects
        }
        kinds[name] = sorted({*kinds.get(name, []), *found})
    left = {state_of(change.before) for change in planned.changes}
    for name in gone_states(planner.desired.prepared, planner.names, record):
        # Its last object has gone with a run before this one.
        if name not in left and not planned.kept:
            del kinds[name]
    return kinds


def _namespaces(planner: ApplyPlanner, record: Record | None) -> set[str]:
    """Where objects are, or have ever been."""
    own = (obj["metadata"].get("namespace") for obj in planner.wanted)
    found = {str(namespace) for namespace in own if namespace}
    return found | {planner.desired.prepared.namespace, *record_spec.namespaces(record)}


def _made_namespaces(prepared: Prepared, record: Record | None, planned: Planned) -> set[str]:
    """The namespaces that were not there before this recipe was enabled, or that disabling it had to
    leave."""
    made = {
        change.key.name
        for change in planned.changes
        if change.key.kind == "Namespace"
        and (change.action == "create" or was_kept(change.before or {}, prepared.applyset_id))
    }
    return {*record_spec.made_namespaces(record), *made}
