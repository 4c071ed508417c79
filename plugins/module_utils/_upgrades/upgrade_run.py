# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of driver_upgrade: exchange the drivers that wait for a restart, wave by wave, and go back
to the version before where that fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .._cluster.authorization import access
from .._cluster.change_report import name_some
from .._cluster.client import Client, connect
from .._errors import EnablementError, InvalidInput
from .._json import Obj
from .._recipes.instances import as_instance
from .._recipes.load import load
from .._recipes.options import resolve
from .._recipes.recipe import Recipe
from .._runs.context import RunContext
from .._runs.guard import Guard, given_back
from .._states import apply
from .._states.desired import Desired
from .._states.preflight import of_record, refuse_lacking
from .._states.prepare import prepare
from .._states.record import record_store
from .._states.validate import prove
from .fleet_upgrade import FleetUpgrade, UpgradeOutcome
from .upgrade_settings import UpgradeSettings, make_settings

_NAMED = 3
# How states are proven meanwhile.
_PROVING: Mapping[str, Any] = {
    **dict.fromkeys(("pools", "namespace", "images", "driver_images", "discovery")),
    **dict.fromkeys(("require_ready", "allow_empty", "show"), False),
    "wait": True,
    "record": True,
    "release_nodes": [],
    "vanished_grace": 3600,
    "on_regress": "keep",
    "report": "problems",
}
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
    proving = {**params, **_PROVING}
    desired, settings = _prepare(client, proving, context)
    if desired.record is None:
        raise EnablementError(
            f"{desired.recipe.name} is not enabled, so it has no drivers to exchange",
            todo="enable it first",
        )
    if not context.check_mode:
        _refuse_missing_rights(client, desired)
    with given_back(client, desired.recipe.name, context):
        upgrade, report = _walk(desired, settings, proving, context)
        result = _result(upgrade, report)
        if upgrade.outcome.failed and params["rollback"]:
            result |= _roll_back(client, upgrade, proving, context)
    return _ended(result, upgrade.outcome, params, context)


def _prepare(
    client: Client, params: Mapping[str, Any], context: RunContext
) -> tuple[Desired, UpgradeSettings]:
    """What is deployed, and how it is exchanged."""
    prepared = prepare({**params, "options": _as_recorded(client, params)}, context, client)
    return Desired(client, prepared, params, context.clock), make_settings(prepared, params)


def _as_recorded(client: Client, params: Mapping[str, Any]) -> Obj | None:
    """The options of the record with the secret ones that are given; None where none is given."""
    if not (params["options"] and params["bundle"]):
        return None
    recipe, given = _given(params)
    record = record_store.read(client, recipe.name) or {}
    recorded = (record.get("spec") or {}).get("options") or {}
    for name, value in given.items():
        deployed = recorded.get(name, recipe.options[name].default)
        if not recipe.options[name].no_log and value != deployed:
            raise InvalidInput(
                f"option {name} is given as {value!r}, and {deployed!r} is deployed",
                why="an upgrade deploys nothing, it exchanges what is deployed",
                todo="enable it with this option first, or leave it out",
            )
    return {**recorded, **_secret(params)}


def _given(params: Mapping[str, Any]) -> tuple[Recipe, Obj]:
    """The recipe, and the options that are given, each of its type."""
    recipe = as_instance(load(params["bundle"], str(params["recipe"])), params["instance"])
    options = params["options"] or {}
    values = resolve(recipe, options, complete=False)
    return recipe, {name: values[name] for name in options}


def _secret(params: Mapping[str, Any]) -> Obj:
    recipe, given = _given(params)
    return {name: value for name, value in given.items() if recipe.options[name].no_log}


def _walk(
    desired: Desired, settings: UpgradeSettings, params: Mapping[str, Any], context: RunContext
) -> tuple[FleetUpgrade, Obj]:
    guard = Guard(desired.client, desired.recipe.name, context)
    upgrade = FleetUpgrade(desired, settings, guard, context)
    every = list(desired.recipe.states.values())
    report = prove(desired, every, params, context, guard, hook=upgrade)
    return upgrade, report


def _roll_back(
    client: Client, upgrade: FleetUpgrade, params: Mapping[str, Any], context: RunContext
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
    apply.run(
        {
            **params,
            **_APPLIED,
            "options": {**proven["options"], **_secret(params)},
            "pools": proven["pools"],
            "driver_images": proven["images"],
        },
        context,
    )
    desired, settings = _prepare(client, params, context)
    changed = upgrade.outcome.changed
    # What is broken is put back at once, and all of it.
    back = replace(
        settings, waves=("100%",), max_failures="100%", soak_s=0.0, window=None, only=changed
    )
    again, report = _walk(desired, back, params, context)
    return {
        "rolled_back": not again.outcome.quarantined,
        "rollback": f"{len(again.outcome.done)} of {len(changed)} nodes run the version before",
        "report": report,
    }


def _result(upgrade: FleetUpgrade, report: Obj) -> Obj:
    outcome, plan = upgrade.outcome, upgrade.plan
    begun = bool(outcome.done or outcome.quarantined or outcome.postponed)
    would = bool(plan and any(row.wave for row in plan.nodes))
    result: Obj = {
        "changed": bool(report.pop("changed", False)) or begun or would,
        "plan": [row.to_dict() for row in plan.nodes] if plan else [],
        "table": plan.table() if plan else [],
        "done": sorted(outcome.done),
        "postponed": dict(sorted(outcome.postponed.items())),
        "quarantined": dict(sorted(outcome.quarantined.items())),
        "stopped": outcome.stopped,
        "reboot": outcome.reboot,
        "rolled_back": False,
        "rollback": "",
        "message": "",
    }
    if "diff" in report:
        lines = "\n".join(result["table"])
        result["diff"] = [{"prepared": f"{lines}\n"}, *report.pop("diff")]
    return {**result, "report": report}


def _ended(
    result: Obj, outcome: UpgradeOutcome, params: Mapping[str, Any], context: RunContext
) -> Obj:
    """The result, and whether every node is where it should be."""
    if context.check_mode:
        return result
    blocked = {row["node"]: row["blocked"] for row in result["plan"] if row["blocked"]}
    parts = [
        _of_nodes(outcome.quarantined, "in quarantine"),
        _of_nodes({**blocked, **outcome.postponed}, "left as they were"),
        f"no further node was begun: {outcome.stopped}" if outcome.stopped else "",
        f"rollback: {result['rollback']}" if result["rollback"] else "",
    ]
    said = "; ".join(filter(None, parts))
    result["message"] = f"Not every driver was exchanged: {said}" if said else ""
    if said and params["require_ready"]:
        result.update(failed=True, msg=result["message"])
    return result


def _of_nodes(nodes: Mapping[str, str], what: str) -> str:
    if not nodes:
        return ""
    first = min(nodes)
    return f"{name_some(sorted(nodes), _NAMED)} {what} ({first}: {nodes[first]})"


def _refuse_missing_rights(client: Client, desired: Desired) -> None:
    """Before the first node is cordoned, whether it can be freed, exchanged and given back."""
    pods, nodes = client.kind("v1", "Pod"), client.kind("v1", "Node")
    namespace = desired.prepared.namespace
    rights = of_record(desired.recipe.name, exists=True)
    rights |= {
        access(pods, None, "create", "eviction"): set(),
        access(pods, None, "watch"): set(),
        access(pods, namespace, "create"): set(),
        access(pods, namespace, "delete"): set(),
        access(nodes, None, "get"): set(),
        access(nodes, None, "patch"): set(),
    }
    refuse_lacking(client, rights, f"exchange the drivers of {desired.recipe.name}")
