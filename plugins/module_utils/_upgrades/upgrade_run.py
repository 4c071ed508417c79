# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of driver_upgrade: exchange the drivers that wait for a restart, wave by wave, and go back
to the version before where that fails."""

from __future__ import annotations

from dataclasses import replace

from .._cluster.api_client.client import Client, connect
from .._json import Obj, part
from .._runs.context import RunContext
from .._runs.guard import given_back
from .._runs.task import Task
from .._states import apply
from .._states.apply import AppliedStates, StateApplyRequest
from .._states.apply_plan import PlanRequest
from .._states.desired import Desired
from .._states.on_nodes.strays import MembershipRequest
from .._states.preparation.image_facts import ImageRequest
from .._states.record import record_store
from .exchange_request import ExchangeProofRequest
from .exchange_run import (
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
from .upgrade_settings import DriverUpgradeRequest, UpgradeSettings, make_settings


def run(request: DriverUpgradeRequest, context: RunContext) -> Obj:
    """Plan, exchange wave by wave, and where that fails go back to the version before if asked to."""
    client, proving = connect(request.connection), request.exchange.proving
    desired = deployed(client, request.given, context)
    settings = make_settings(desired.prepared, request)
    if not context.check_mode:
        refuse_missing_rights(client, desired)
    with given_back(client, desired.recipe.name, context):
        upgrade, report = _exchange(desired, settings, proving, context)
        result = {**result_of(upgrade, report), "rolled_back": False, "rollback": ""}
        if upgrade.outcome.failed and request.rollback:
            result |= _roll_back(client, upgrade, request, context)
    left = what_is_left(result, upgrade.outcome)
    if result["rollback"]:
        left.append(f"rollback: {result['rollback']}")
    short = "Not every driver was exchanged"
    return concluded(result, left, short, context, require_ready=proving.require_ready)


def _exchange(
    desired: Desired, settings: UpgradeSettings, proving: ExchangeProofRequest, context: RunContext
) -> tuple[FleetExchange, Obj]:
    return walk(
        desired,
        settings.exchange,
        lambda survey: OutdatedDrivers(survey, settings),
        proving,
        context,
        window=settings.window,
    )


def _roll_back(
    client: Client, upgrade: FleetExchange, request: DriverUpgradeRequest, context: RunContext
) -> Obj:
    """Put back what was asked for when all nodes were last proven, and exchange the drivers of the
    nodes that had changed."""
    given = request.given
    recipe = given.instance or given.recipe
    record = record_store.read(client, recipe) or {}
    proven = part(record, "status").get("proven")
    versions = part(record, "status", "versions")
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
    apply.run(_as_proven(request, proven), context)
    desired = deployed(client, given, context)
    settings = make_settings(desired.prepared, request)
    changed = upgrade.outcome.changed
    # What is broken is put back at once, and all of it.
    back = replace(
        settings, waves=("100%",), max_failures="100%", soak_s=0.0, window=None, only=changed
    )
    again, report = _exchange(desired, back, request.exchange.proving, context)
    return {
        "rolled_back": not again.outcome.quarantined,
        "rollback": f"{len(again.outcome.done)} of {len(changed)} nodes run the version before",
        "report": report,
    }


def _as_proven(request: DriverUpgradeRequest, proven: Obj) -> StateApplyRequest:
    """What was asked for when all nodes were last proven, by the record, with the options that no
    record has."""
    given = request.given
    options = {**proven["options"], **secret_options(given)}
    return StateApplyRequest(
        connection=request.connection,
        given=replace(given.as_recorded(), options=options, pools=proven["pools"]),
        options_replace=True,
        run_id=request.run_id,
        choice=AppliedStates(),
        planning=PlanRequest(),
        images=ImageRequest(driver_images=proven["images"]),
        membership=MembershipRequest(),
        proving=request.exchange.proving.to_walk(wait=False),
    )


TASK = Task(DriverUpgradeRequest, run)
