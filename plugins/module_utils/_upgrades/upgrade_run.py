# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of driver_upgrade: exchange the drivers that wait for a restart, wave by wave, and go back
to the version before where that fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .._cluster.api_client.client import Client, connect
from .._json import Obj
from .._runs.context import RunContext
from .._runs.guard import given_back
from .._runs.task import Task
from .._states import apply
from .._states.desired import Desired
from .._states.record import record_store
from .exchange_run import (
    PROVING,
    concluded,
    deployed,
    refuse_missing_rights,
    result_of,
    secret_options,
    walk,
    what_is_left,
)
from .fleet_exchange import FleetExchange
from .outdated_drivers import OutdatedDrivers
from .upgrade_settings import UpgradeSettings, make_settings

# What applying takes beside what an upgrade is asked.
_APPLIED: Mapping[str, Any] = {
    **dict.fromkeys(("states", "role", "tags", "skip_tags")),
    **dict.fromkeys(("adopt", "allow_empty", "recreate", "force", "with_requirements"), False),
    "state": "present",
    "wait": False,
}


def run(params: Mapping[str, Any], context: RunContext) -> Obj:
    """Plan, exchange wave by wave, and where that fails go back to the version before if asked to."""
    client = connect(params)
    proving = {**params, **PROVING}
    desired = deployed(client, proving, context)
    settings = make_settings(desired.prepared, proving)
    if not context.check_mode:
        refuse_missing_rights(client, desired)
    with given_back(client, desired.recipe.name, context):
        upgrade, report = _exchange(desired, settings, proving, context)
        result = {**result_of(upgrade, report), "rolled_back": False, "rollback": ""}
        if upgrade.outcome.failed and params["rollback"]:
            result |= _roll_back(client, upgrade, proving, context)
    left = what_is_left(result, upgrade.outcome)
    if result["rollback"]:
        left.append(f"rollback: {result['rollback']}")
    return concluded(result, left, "Not every driver was exchanged", params, context)


def _exchange(
    desired: Desired, settings: UpgradeSettings, params: Mapping[str, Any], context: RunContext
) -> tuple[FleetExchange, Obj]:
    return walk(
        desired,
        settings.exchange,
        settings.window,
        lambda survey: OutdatedDrivers(survey, settings),
        params,
        context,
    )


def _roll_back(
    client: Client, upgrade: FleetExchange, params: Mapping[str, Any], context: RunContext
) -> Obj:
    """Put back what was asked for when all nodes were last proven, and exchange the drivers of the
    nodes that had changed."""
    recipe = str(params["instance"] or params["recipe"])
    record = record_store.read(client, recipe) or {}
    proven = (record.get("status") or {}).get("proven")
    versions = (record.get("status") or {}).get("versions") or {}
    if not proven:
        return {"rolled_back": False, "rollback": "the record knows no version that was proven"}
    if proven.get("recipe") != versions.get("recipe"):
        return {
            "rolled_back": False,
            "rollback": f"what was proven was version {proven.get('recipe')} of the recipe, and this is"
            f" {versions.get('recipe')}: install the collection, or the recipe, of that time",
        }
    context.notice(
        f"{recipe} goes back to driver {proven.get('driver') or 'options'} of {proven['since']}"
    )
    apply.TASK.run(
        {
            **params,
            **_APPLIED,
            "options": {**proven["options"], **secret_options(params)},
            "pools": proven["pools"],
            "driver_images": proven["images"],
        },
        context,
    )
    desired = deployed(client, params, context)
    settings = make_settings(desired.prepared, params)
    changed = upgrade.outcome.changed
    # What is broken is put back at once, and all of it.
    back = replace(
        settings, waves=("100%",), max_failures="100%", soak_s=0.0, window=None, only=changed
    )
    again, report = _exchange(desired, back, params, context)
    return {
        "rolled_back": not again.outcome.quarantined,
        "rollback": f"{len(again.outcome.done)} of {len(changed)} nodes run the version before",
        "report": report,
    }


TASK = Task(None, run)
