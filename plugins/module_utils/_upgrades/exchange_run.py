# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What upgrades and remedies have in common as runs: what is deployed, the walk, and what is said of
the nodes in the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from .._charts.recipe_reading import read_recipe
from .._cluster.api_client.client import Client
from .._cluster.api_objects.change_report import name_some
from .._cluster.authorization import access
from .._errors import EnablementError, InvalidInput
from .._json import Obj
from .._recipes.loading.instances import as_instance
from .._recipes.loading.options import resolve
from .._recipes.loading.recipe import Recipe
from .._runs.context import RunContext
from .._runs.guard import Guard
from .._states.desired import Desired
from .._states.on_nodes.node_devices import RESOURCE_SLICE
from .._states.on_nodes.strays import MembershipRequest
from .._states.preflight import of_run, refuse_lacking
from .._states.preparation.image_facts import ImageRequest
from .._states.preparation.prepare import prepare
from .._states.record import record_store
from .._states.validate import prove
from .exchange_choice import ExchangeChoice
from .exchange_request import EnabledRecipeRequest, ExchangeProofRequest
from .exchange_steps import ExchangeSettings
from .fleet_exchange import ExchangeOutcome, FleetExchange
from .maintenance_window import MaintenanceWindow
from .upgrade_survey import UpgradeSurvey

_NAMED = 3


def deployed(client: Client, given: EnabledRecipeRequest, context: RunContext) -> Desired:
    """What is deployed; raises EnablementError where that is nothing."""
    asked = replace(given.as_recorded(), options=_as_recorded(client, given))
    prepared = prepare(asked, context, client)
    if prepared.record is None:
        raise EnablementError(
            f"{prepared.recipe.name} is not enabled, so it has no drivers", todo="enable it first"
        )
    return Desired(client, prepared, MembershipRequest(), ImageRequest(), context.clock)


def _as_recorded(client: Client, given: EnabledRecipeRequest) -> Obj | None:
    """The options of the record with the secret ones that are given; None where none is given."""
    if not (given.options and given.bundle):
        return None
    recipe, options = _options(given)
    record = record_store.read(client, recipe.name) or {}
    recorded = (record.get("spec") or {}).get("options") or {}
    for name, value in options.items():
        known = recorded.get(name, recipe.options[name].default)
        if not recipe.options[name].no_log and value != known:
            raise InvalidInput(
                f"option {name} is given as {value!r}, and {known!r} is deployed",
                why="nothing is deployed here",
                todo="enable it with this option first, or leave it out",
            )
    return {**recorded, **_secret(recipe, options)}


def _options(given: EnabledRecipeRequest) -> tuple[Recipe, Obj]:
    """The recipe, and the options that are given, each of its type."""
    recipe = as_instance(read_recipe(given.bundle or {}, given.recipe), given.instance)
    options = given.options or {}
    values = resolve(recipe, options, complete=False)
    return recipe, {name: values[name] for name in options}


def secret_options(given: EnabledRecipeRequest) -> Obj:
    """Those of the options that are given which no record has."""
    return _secret(*_options(given))


def _secret(recipe: Recipe, options: Obj) -> Obj:
    return {name: value for name, value in options.items() if recipe.options[name].no_log}


def walk(
    desired: Desired,
    settings: ExchangeSettings,
    choose: Callable[[UpgradeSurvey], ExchangeChoice],
    proving: ExchangeProofRequest,
    context: RunContext,
    *,
    window: MaintenanceWindow | None = None,
) -> tuple[FleetExchange, Obj]:
    """Lead the nodes that are chosen, while all states are proven; returns also the report."""
    guard = Guard(desired.client, desired.recipe.name, context)
    fleet = FleetExchange(desired, settings, window, choose, guard, context)
    every = list(desired.recipe.states.values())
    report = prove(desired, every, proving.to_walk(wait=True), context, guard, hook=fleet)
    return fleet, report


def result_of(fleet: FleetExchange, report: Obj) -> Obj:
    """What became of the nodes, as a task returns it."""
    outcome, plan = fleet.outcome, fleet.plan
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
        "message": "",
    }
    if "diff" in report:
        lines = "\n".join(result["table"])
        result["diff"] = [{"prepared": f"{lines}\n"}, *report.pop("diff")]
    return {**result, "report": report}


def what_is_left(result: Obj, outcome: ExchangeOutcome) -> list[str]:
    """Which nodes are not where they should be, in words."""
    blocked = {row["node"]: row["blocked"] for row in result["plan"] if row["blocked"]}
    parts = (
        _of_nodes(outcome.quarantined, "in quarantine"),
        _of_nodes({**blocked, **outcome.postponed}, "left as they were"),
        f"no further node was begun: {outcome.stopped}" if outcome.stopped else "",
    )
    return [part for part in parts if part]


def concluded(
    result: Obj, left: Sequence[str], short: str, context: RunContext, *, require_ready: bool
) -> Obj:
    """The result, and whether every node is where it should be, which fails where it is not and
    that is required. left: what is not, in words; short: what that falls short of."""
    if context.check_mode:
        return result
    said = "; ".join(left)
    result["message"] = f"{short}: {said}" if said else ""
    if said and require_ready:
        result.update(failed=True, msg=result["message"])
    return result


def _of_nodes(nodes: Mapping[str, str], what: str) -> str:
    if not nodes:
        return ""
    first = min(nodes)
    return f"{name_some(sorted(nodes), _NAMED)} {what} ({first}: {nodes[first]})"


def refuse_missing_rights(client: Client, desired: Desired) -> None:
    """Before the first node is cordoned, whether it can be freed, exchanged and given back."""
    pods, nodes = client.kind("v1", "Pod"), client.kind("v1", "Node")
    namespace = desired.prepared.namespace
    rights = of_run(client, desired, proves=True)
    rights |= {
        access(pods, None, "create", "eviction"): set(),
        access(pods, None, "watch"): set(),
        access(pods, namespace, "create"): set(),
        access(pods, namespace, "delete"): set(),
        access(nodes, None, "get"): set(),
    }
    if desired.recipe.devices.allocation and client.serves(*RESOURCE_SLICE):
        rights[access(client.kind(*RESOURCE_SLICE), None, "list")] = set()
    refuse_lacking(client, rights, f"restart the drivers of {desired.recipe.name}")
