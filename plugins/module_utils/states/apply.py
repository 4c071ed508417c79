# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of state_apply: render, plan by dry run, and where something differs: lock, plan again, apply, prune."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.apply import Change, execute, plan
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client, connect
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.diff import render_diff
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.labels import STATE_LABEL, summary_label
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.objects import ObjectKey, key_of
from ansible_collections.hardware.enablement.plugins.module_utils.nodes.discovery import Discovery
from ansible_collections.hardware.enablement.plugins.module_utils.nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils.nodes.groups import group_id
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.model import State
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.render import (
    RenderedState,
    RenderFacts,
    check_recipe,
    render_images,
    render_state,
)
from ansible_collections.hardware.enablement.plugins.module_utils.states import discover as discovery_core
from ansible_collections.hardware.enablement.plugins.module_utils.states import remove, validate
from ansible_collections.hardware.enablement.plugins.module_utils.states.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils.states.foreign import (
    refuse_foreign_plugin,
    refuse_rivals,
)
from ansible_collections.hardware.enablement.plugins.module_utils.states.guard import Guard, given_back
from ansible_collections.hardware.enablement.plugins.module_utils.states.images import with_images
from ansible_collections.hardware.enablement.plugins.module_utils.states.ownership import find_owned
from ansible_collections.hardware.enablement.plugins.module_utils.states.prepare import (
    Prepared,
    choose,
    prepare,
    render_facts,
)
from ansible_collections.hardware.enablement.plugins.module_utils.states.prune import candidates, decide
from ansible_collections.hardware.enablement.plugins.module_utils.states.record import spec as record_spec
from ansible_collections.hardware.enablement.plugins.module_utils.states.record import store

Obj = dict[str, Any]


@dataclass(frozen=True)
class Planned:
    """What would be done to the cluster, and what is kept although nothing wants it."""

    changes: Sequence[Change]
    kept: Mapping[ObjectKey, str]

    @property
    def differing(self) -> list[Change]:
        """What has to be written."""
        return [change for change in self.changes if change.action != "unchanged"]


def run(params: Mapping[str, Any], context: RunContext) -> Obj:
    """Apply (or remove) the chosen states of a recipe."""
    prepared = prepare(params, context)
    chosen = choose(prepared.recipe, params.get("states"), params.get("played_by"))
    client = connect(params)
    if params["state"] == "absent":
        return remove.states(client, prepared, chosen, params, context)
    discovery, platform = discovery_core.discovery_of(client, prepared, params.get("discovery"))
    record = store.read(client, prepared.recipe.name)
    facts = render_facts(prepared, client, discovery, platform, params.get("images"))
    facts, _missing = with_images(prepared.recipe, facts, params.get("driver_images"), lambda: record)
    rendered = {state.name: render_state(prepared.recipe, state.name, facts) for state in chosen}
    application = _Application(client, prepared, chosen, rendered, discovery, facts, params, context)
    if not params["wait"] or not chosen:
        return application.run(record)
    with given_back(client, prepared.recipe.name, context):
        return _with_proof(application.run(record), params, context)


def _with_proof(result: Obj, params: Mapping[str, Any], context: RunContext) -> Obj:
    """Wait until the states are proven on every node, as state_validate does."""
    settings = {"on_regress": "keep", "require_ready": True, "report": "problems", "show": False}
    report = validate.run({**params, **settings}, context)
    ending: Obj = {key: report.pop(key) for key in ("failed", "msg") if key in report}
    changed = report.pop("changed") or result["changed"]
    return {**result, "changed": changed, "report": report, **ending}


class _Application:
    """One run of state_apply with everything that it works on."""

    def __init__(
        self,
        client: Client,
        prepared: Prepared,
        chosen: Sequence[State],
        rendered: Mapping[str, RenderedState],
        discovery: Discovery,
        facts: RenderFacts,
        params: Mapping[str, Any],
        context: RunContext,
    ) -> None:
        self.client = client
        self.prepared = prepared
        self.recipe = prepared.recipe
        self.chosen = chosen
        self.names = [state.name for state in chosen]
        self.rendered = rendered
        self.discovery = discovery
        self.facts = facts
        self.params = params
        self.context = context
        self.desired: list[Obj] = [item.manifest for name in self.names for item in rendered[name].objects]
        self.guard = Guard(client, self.recipe.name, context)

    def run(self, record: Mapping[str, Any] | None) -> Obj:
        """Plan; where something differs and this is no check: lock, plan again, write."""
        refuse_rivals(self.client, self.recipe)
        if record is None and not self.params["adopt"]:
            refuse_foreign_plugin(self.client, self.recipe, self.discovery)
        planned = self._plan(record)
        if planned.differing:
            # A mistake anywhere in the recipe, or an object in two states, is found before the first write.
            check_recipe(self.recipe, replace(self.facts, resolved=None))
        if planned.differing and not self.context.check_mode:
            self.guard.before_write()
            record = store.read(self.client, self.recipe.name)
            planned = self._plan(record)
            self._remember(record, planned)
            changes = execute(self.client, planned.changes, guard=self.guard.before_write)
            planned = Planned(changes, planned.kept)
        return self._result(planned)

    def _plan(self, record: Mapping[str, Any] | None) -> Planned:
        live = find_owned(self.client, self.prepared, self.names, record, self.desired)
        changes = plan(
            self.client,
            self.desired,
            live=live,
            adopt=bool(self.params["adopt"]),
            owner=self.prepared.part_of,
            recreate=bool(self.params["recreate"]),
        )
        unwanted = candidates(live, {key_of(obj) for obj in self.desired})
        if not unwanted:
            return Planned(changes, {})
        pruning = decide(
            unwanted, live, self._groups_in_use(), bool(self.discovery.matched), bool(self.params["allow_empty"])
        )
        deletions = [Change(key, "delete", live[key], None) for key in pruning.delete]
        return Planned([*changes, *deletions], pruning.keep)

    def _namespaces(self, record: Mapping[str, Any] | None) -> list[str]:
        found = {obj["metadata"]["namespace"] for obj in self.desired if obj["metadata"].get("namespace")}
        return sorted(found | {self.prepared.namespace, *record_spec.namespaces(record)})

    def _groups_in_use(self) -> set[str]:
        """The kernel groups of our nodes, by nodeInfo; ours are also those that have lost the hardware's labels."""
        marked = self.client.list(self.client.kind("v1", "Node"), labels=summary_label(self.recipe.name)).items
        return {group.id for group in self.discovery.groups} | {
            group_id(NodeFacts.from_object(node)) for node in marked
        }

    def _remember(self, record: Mapping[str, Any] | None, planned: Planned) -> None:
        """Write the record before anything that it has to find again is created."""
        store.ensure_definition(self.client)
        kinds = record_spec.state_kinds(record)
        for name in self.names:
            found = {f"{i.manifest['apiVersion']}/{i.manifest['kind']}" for i in self.rendered[name].objects}
            kinds[name] = sorted({*kinds.get(name, []), *found})
        made = set(record_spec.made_namespaces(record))
        created = [change.key for change in planned.changes if change.action == "create"]
        made.update(key.name for key in created if key.kind == "Namespace")
        wanted = record_spec.make_record(
            name=self.recipe.name,
            applyset_id=self.prepared.part_of,
            spec=record_spec.make_spec(self.recipe, self.prepared.namespace, self.prepared.options),
            kinds=kinds,
            namespaces=self._namespaces(record),
            made=made,
        )
        store.write(self.client, wanted)

    def _result(self, planned: Planned) -> Obj:
        differing = planned.differing
        result: Obj = {
            "changed": bool(differing),
            "states": [self._state_result(name, planned) for name in self.names],
            "nodes": self.discovery.matched,
            "requests": dict(self.client.requests),
        }
        self._tell_skipped(result["states"])
        for name in self.names:
            if self.recipe.states[name].image or self.recipe.states[name].build:
                result.setdefault("images", {}).update(render_images(self.recipe, name, self.facts))
        if self.context.diff:
            result["diff"] = render_diff(differing, self.context.secrets)
        return result

    def _tell_skipped(self, rows: Sequence[Obj]) -> None:
        """Show what a state does without, in a run that changes it. Nobody misses OpenShift's APIs elsewhere."""
        everything = self.facts.cluster.get("platform") == "openshift"
        for row in rows:
            for item in self.rendered[row["name"]].skipped if row["changes"] else ():
                if everything or not item.needs_api.partition("/")[0].endswith(".openshift.io"):
                    self.context.progress(f"{row['name']} does without {item.source}: {item.reason}")

    def _state_result(self, name: str, planned: Planned) -> Obj:
        rendered = self.rendered[name]
        keys = {key_of(item.manifest) for item in rendered.objects}
        return {
            "name": name,
            "enabled": rendered.enabled,
            "objects": len(rendered.objects),
            "changes": [_row(change) for change in planned.differing if self._is_in(name, keys, change)],
            "skipped": [{"source": item.source, "reason": item.reason} for item in rendered.skipped],
            "kept": [{"object": str(key), "reason": why} for key, why in planned.kept.items()],
        }

    def _is_in(self, name: str, keys: set[ObjectKey], change: Change) -> bool:
        """Whether a change belongs to a state: it renders the object, or the object says so itself."""
        if change.key in keys:
            return True
        labels = ((change.before or {}).get("metadata") or {}).get("labels") or {}
        return bool(change.action == "delete" and labels.get(STATE_LABEL) == name)


def _row(change: Change) -> Obj:
    row: Obj = {"action": change.action, "object": str(change.key)}
    if change.note:
        row["note"] = change.note
    return row
