# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of state_validate: prove states on nodes, set the marks, and say what waits and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client, connect
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.labels import RECIPE_LABEL, VALIDATION_LABEL
from ansible_collections.hardware.enablement.plugins.module_utils.nodes.discovery import discover
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.asks import StartPod
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.pod_status import seconds
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.render import render_pod, render_state
from ansible_collections.hardware.enablement.plugins.module_utils.states.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils.states.discover import list_nodes, platform
from ansible_collections.hardware.enablement.plugins.module_utils.states.guard import Guard
from ansible_collections.hardware.enablement.plugins.module_utils.states.images import with_images
from ansible_collections.hardware.enablement.plugins.module_utils.states.leftovers import clear_stray_marks
from ansible_collections.hardware.enablement.plugins.module_utils.states.prepare import choose, prepare, render_facts
from ansible_collections.hardware.enablement.plugins.module_utils.states.record import store
from ansible_collections.hardware.enablement.plugins.module_utils.states.validation import table
from ansible_collections.hardware.enablement.plugins.module_utils.states.validation.answers import Answers
from ansible_collections.hardware.enablement.plugins.module_utils.states.validation.loop import Loop
from ansible_collections.hardware.enablement.plugins.module_utils.states.validation.plan import make_plans
from ansible_collections.hardware.enablement.plugins.module_utils.states.validation.progress import Progress
from ansible_collections.hardware.enablement.plugins.module_utils.states.validation.report import summarize
from ansible_collections.hardware.enablement.plugins.module_utils.states.validation.walk import Settings
from ansible_collections.hardware.enablement.plugins.module_utils.states.validation.writer import Writer

Obj = dict[str, Any]


def run(params: Mapping[str, Any], context: RunContext) -> Obj:
    """Validate; the result is the report, with changed, failed and msg as Ansible wants them."""
    prepared = prepare(params, context)
    chosen = choose(prepared.recipe, params.get("states"), params.get("played_by"))
    client = connect(params)
    recipe = prepared.recipe
    nodes = list_nodes(client, prepared.selector)
    discovery = discover(nodes, prepared.selector, recipe.resources)
    facts = render_facts(prepared, client, discovery, platform(client), params.get("images"))
    facts, without_image = with_images(
        recipe, facts, params.get("driver_images"), lambda: store.read(client, recipe.name)
    )
    rendered = {name: render_state(recipe, name, facts) for name in recipe.states}
    # All states are planned, since a chosen one may require others; only the chosen ones are reported.
    plans = make_plans(recipe, prepared.enabled(), rendered, without_image)
    guard = Guard(client, recipe.name, context)
    settings = Settings(
        recipe=recipe.name,
        namespace=prepared.namespace,
        failure_grace=float(params["failure_grace"]),
        timeout=float(params["timeout"]) if params.get("timeout") is not None else None,
    )
    groups = {group.id: group for group in discovery.groups}

    def make_pod(start: StartPod) -> Obj:
        proof = rendered[start.state].proofs[start.proof]
        pod = render_pod(recipe, start.state, proof, facts, groups[loop.snapshot.groups[start.node]], start.node)
        pod["metadata"]["name"] = start.name
        pod["metadata"].pop("generateName", None)
        return pod

    write = not context.check_mode
    writer = Writer(client, plans, recipe.name, guard.before_write, dry=not write)
    looked_at = _with_requirements(plans, {state.name for state in chosen})
    loop = Loop(
        client=client,
        plans=looked_at,
        selector=prepared.selector,
        settings=settings,
        answers=Answers(client, make_pod),
        writer=writer,
        progress=Progress(context.progress, context.clock()),
        guard=guard.keep,
        clock=context.clock,
        write=write,
        withdraw=params["on_regress"] == "withdraw",
        complete=len(looked_at) == len(plans),
    )
    if not loop.look_once(nodes):
        loop.run(wait=bool(params["wait"]) and write)
    names = {state.name for state in chosen}
    reported = [plan for plan in plans if plan.name in names]
    report = summarize(reported, loop.results, discovery.groups, loop.snapshot.groups, params["report"] == "all")
    stray = clear_stray_marks(client, prepared, guard.before_write, write, bool(nodes) or bool(params["allow_empty"]))
    if write:
        _clear_validators(client, prepared.namespace, recipe.name, guard)
    if context.check_mode and params["wait"] and not report["ready"] and nodes:
        report.update(table.would_validate(report))
    else:
        report["table"] = table.render(recipe.name, report, context.clock(), seconds)
    if params["show"]:
        for line in report["table"]:
            context.progress(line)
    return _result(report, writer, stray, params, context)


def _with_requirements(plans: list[Any], names: set[str]) -> list[Any]:
    """The plans of the named states and of everything that they require."""
    wanted = set(names)
    for plan in reversed(plans):
        if plan.name in wanted:
            wanted.update(plan.requires)
    return [plan for plan in plans if plan.name in wanted]


def _clear_validators(client: Client, namespace: str, recipe: str, guard: Guard) -> None:
    """Remove the pods that have done their work, also those of a run that was killed; failed ones keep their logs."""
    kind, labels, fields = (
        client.kind("v1", "Pod"),
        f"{RECIPE_LABEL}={recipe},{VALIDATION_LABEL}",
        "status.phase=Succeeded",
    )
    if client.list(kind, namespace=namespace, labels=labels, fields=fields).items:
        guard.before_write()
        client.delete_collection(kind, namespace=namespace, labels=labels, fields=fields)


def _result(
    report: Obj, writer: Writer, stray: Mapping[str, Any], params: Mapping[str, Any], context: RunContext
) -> Obj:
    changes = {**stray, **writer.changed}
    result: Obj = {"changed": bool(changes), **report, "shown": bool(params["show"]) and context.has_screen}
    if context.diff:
        after = "".join(f"{node}: {_flat(patch)}\n" for node, patch in sorted(changes.items()))
        result["diff"] = {"before": "", "after": after, "before_header": "nodes", "after_header": "nodes"}
    if params["require_ready"] and not report["acceptable"] and not context.check_mode:
        result.update(failed=True, msg=report["message"])
    return result


def _flat(patch: Mapping[str, Any]) -> str:
    labels = (patch.get("metadata") or {}).get("labels") or {}
    return ", ".join(f"{name}={value}" for name, value in sorted(labels.items())) or "proofs"
