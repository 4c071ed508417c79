# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of state_apply: render, plan by dry run, and where something differs: lock, plan again,
apply, prune.

What has to wait until something is proven is made by the walk over the nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, Optional

from .._cluster.api_client.api_errors import UnknownKind
from .._cluster.api_client.client import connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._cluster.api_objects.changes import Change
from .._cluster.api_objects.labels import KERNEL, fact_label, state_of
from .._cluster.api_objects.objects import ObjectKey, key_of
from .._cluster.executing import execute
from .._cluster.planning import plan
from .._json import Obj
from .._nodes.facts import NodeFacts
from .._recipes.loading.recipe import State
from .._recipes.render import RenderedState, check_recipe, render_images, render_notes
from .._runs.context import RunContext
from .._runs.guard import Guard, given_back
from .._runs.task import Task
from . import validate
from .cleanup import remove
from .cleanup.ownership import find_owned, gone_states
from .cleanup.prune import candidates, decide
from .desired import Desired
from .later_changes import LaterChanges
from .on_nodes.adopted_pods import label_pods
from .on_nodes.strays import MembershipRequest, refuse_left_out_in_use
from .preflight import refuse_missing_rights
from .preparation.foreign import refuse_foreign_plugin, refuse_rival_plugins, refuse_rivals
from .preparation.image_facts import ImageRequest
from .preparation.prepare import choose, prepare, tell_differences, with_requirements
from .preparation.recipe_request import RecipeRequest
from .preparation.shared import refuse_shared
from .preparation.tags import Tags
from .proof_request import ProofRequest
from .record import adopted, record_spec, record_store
from .staging import Stage, Staged, acts, divide, members_of


@dataclass(frozen=True)
class Planned:
    """What would be done to the cluster, and what is kept although nothing wants it."""

    changes: Sequence[Change]
    kept: Mapping[ObjectKey, str]

    @property
    def differing(self) -> list[Change]:
        """What has to be written."""
        return [change for change in self.changes if change.action != "unchanged"]


@dataclass(frozen=True, kw_only=True)
class StateApplyRequest:
    """Which states to apply, or to remove, and how.

    discovery: the result of nfd_info. adopt: take over what somebody else has made. recreate:
    delete and make anew what cannot be changed. force: remove also what is in use.
    with_requirements: also what the states require. wait_timeout: seconds until removed objects
    have to be gone.
    """

    connection: ConnectionRequest
    given: RecipeRequest
    run_id: Optional[str] = None
    states: Optional[Sequence[str]] = None
    role: Optional[str] = None
    tags: Optional[Sequence[str]] = None
    skip_tags: Optional[Sequence[str]] = None
    with_requirements: bool = False
    state: Literal["present", "absent"] = "present"
    discovery: Optional[Mapping[str, Any]] = None
    images: ImageRequest
    membership: MembershipRequest
    adopt: bool = False
    recreate: bool = False
    force: bool = False
    wait_timeout: int = 300
    proving: ProofRequest


def run(request: StateApplyRequest, context: RunContext) -> Obj:
    """Apply (or remove) the chosen states of a recipe."""
    client = connect(request.connection)
    present = request.state == "present"
    prepared = prepare(request.given, context, client, complete=present)
    tags = Tags.of(request.tags, request.skip_tags)
    chosen = choose(prepared.recipe, request.states, request.role, tags)
    if not present:
        return remove.states(
            client,
            prepared,
            chosen,
            context,
            force=request.force,
            timeout_s=float(request.wait_timeout),
        )
    if not request.discovery and not tags.given:
        tell_differences(prepared, context)
    required: Sequence[State] = ()
    if request.with_requirements:
        every = with_requirements(prepared.recipe, chosen)
        chosen, required = every, [state for state in every if state not in chosen]
    proven = required
    if request.proving.wait and tags.validates:
        proven = list(prepared.recipe.states.values()) if tags.given else chosen
    # Who proves looks at the nodes as they are; who does not may take them as the run has found
    # them.
    desired = Desired(
        client,
        prepared,
        request.membership,
        request.images,
        context.clock,
        discovery=None if proven else request.discovery,
    )
    application = _Application(desired, chosen, proven, request, context)
    if not (request.proving.wait and proven):
        return application.run()
    with given_back(client, prepared.recipe.name, context):
        return application.run()


class _Application:
    """One run of state_apply with everything that it works on. proven: the states to wait for."""

    def __init__(
        self,
        desired: Desired,
        chosen: Sequence[State],
        proven: Sequence[State],
        request: StateApplyRequest,
        context: RunContext,
    ) -> None:
        self.desired = desired
        self.client = desired.client
        self.recipe = desired.recipe
        self.names = [state.name for state in chosen]
        self.proven = proven
        self.request = request
        self.context = context
        self.rendered: Mapping[str, RenderedState] = {
            name: desired.rendered[name] for name in self.names
        }
        self.wanted: list[Obj] = [
            item.manifest for name in self.names for item in self.rendered[name].objects
        ]
        self.members = members_of({name: item.objects for name, item in self.rendered.items()})
        self.guard = Guard(self.client, self.recipe.name, context)
        self._begun = False

    def run(self) -> Obj:
        """Plan; where something differs and this is no check: lock, plan again, write what can be
        written now. Then prove, and make what had to wait for that."""
        record = self.desired.record
        refuse_rivals(self.client, self.recipe, self.desired.facts.options_of(None))
        if record is None:
            refuse_shared(self.client, self.desired.prepared, self.desired.discovery)
        if record is None and not self.request.adopt:
            refuse_foreign_plugin(
                self.recipe, self.desired.discovery, lambda: self.desired.foreign_plugins
            )
        if not self.request.adopt:
            refuse_rival_plugins(self.recipe, self.desired.rival_plugins)
        planned, later = self._plan(record), None
        if planned.differing:
            refuse_left_out_in_use(self.client, self.desired.prepared, self.desired.strays)
            if record is not None:
                refuse_shared(self.client, self.desired.prepared, self.desired.discovery)
            # A mistake anywhere in the recipe, or an object in two states, is found before the
            # first write.
            check_recipe(self.recipe, replace(self.desired.facts, resolved=None))
        if planned.differing and not self.context.check_mode:
            refuse_missing_rights(
                self.client, self.desired, planned.changes, proves=bool(self.proven)
            )
            staged = self._divide(planned)
            if staged.needs_lock:
                staged = self._divide(self._begin())
            label_pods(self.client, staged.now, self._before_write)
            planned = replace(
                planned, changes=execute(self.client, staged.now, guard=self._before_write)
            )
            later = LaterChanges(
                self.client,
                staged,
                self._plan_stage,
                self._take_lock,
                self._before_write,
                self.context.clock,
            )
        self.context.tell_changes(planned.differing)
        if self.proven:
            # What is required is waited for in any case: that is why it is here.
            proving = replace(self.request.proving, wait=True)
            report = validate.prove(
                self.desired, self.proven, proving, self.context, self.guard, later=later
            )
            return self._with_report(self._result(planned, later), report)
        if later and later.left:
            validate.make_due(self.desired, self.context, self.guard, later)
            self.context.tell_changes(later.done)
        return self._result(planned, later)

    def _plan(self, record: Mapping[str, Any] | None) -> Planned:
        names = [*self.names, *gone_states(self.desired.prepared, self.names, record)]
        live = find_owned(self.client, self.desired.prepared, names, record, self.wanted)
        changes = self._plan_objects(self.wanted, live, self._awaited())
        unwanted = candidates(live, {key_of(obj) for obj in self.wanted})
        if not unwanted:
            return Planned(changes, {})
        discovery = self.desired.discovery
        pruning = decide(
            unwanted,
            live,
            self._groups_in_use(),
            self._groups_kept(),
            bool(discovery.matched),
            self.request.membership.allow_empty,
            {(name, group) for name, item in self.rendered.items() for group in item.turned_off},
        )
        taken_over = adopted.read(record)
        deletions = [adopted.removal(key, live[key], taken_over) for key in pruning.delete]
        return Planned([*changes, *deletions], pruning.keep)

    def _plan_objects(
        self,
        objects: Sequence[Obj],
        live: Mapping[ObjectKey, Obj],
        awaited: Set[ObjectKey] = frozenset(),
    ) -> list[Change]:
        return plan(
            self.client,
            objects,
            live=live,
            adopt=self.request.adopt,
            owner=self.desired.prepared.applyset_id,
            recreate=self.request.recreate,
            awaited=awaited,
            renewed=self._renewed(objects),
        )

    def _renewed(self, objects: Sequence[Obj]) -> set[ObjectKey]:
        """The objects that run anew when they change."""
        form = self.recipe.format
        return {key_of(obj) for obj in objects if form is not None and form.is_renewed(obj)}

    def _awaited(self) -> set[ObjectKey]:
        """The objects whose kind may come with what their state requires."""
        waiting = {name for name in self.names if self.desired.order.requires[name]}
        found = [obj for obj in self.wanted if acts(obj)]
        return {key_of(obj) for obj in found if self.members[key_of(obj)].state in waiting}

    def _divide(self, planned: Planned) -> Staged:
        return divide(planned.changes, self.members, self.desired.order)

    def _before_write(self) -> None:
        """Take the lock, or look whether it is still this run's. What only waits to be made needs
        no lock yet."""
        if self._begun:
            self.guard.before_write()
        else:
            self._begin()

    def _take_lock(self) -> None:
        """Take the lock, unless this run has it: whether it still has is looked at before each batch
        of writes."""
        if not self._begun:
            self._begin()

    def _begin(self) -> Planned:
        """Take the lock, plan again, and write the record before anything that it has to find again
        is created."""
        self.guard.before_write()
        self._begun = True
        record = record_store.read(self.client, self.recipe.name)
        planned = self._plan(record)
        self._remember(record, planned)
        return planned

    def _plan_stage(self, stage: Stage) -> list[Change]:
        """Plan a stage when its turn has come: what it requires may have brought kinds, namespaces
        and defaults."""
        for key in stage.keys:
            with suppress(UnknownKind):
                self.client.kind(key.api_version, key.kind, refresh=True)
        objects = [
            item.manifest
            for item in self.desired.render(stage.state).objects
            if item.group == stage.group
        ]
        return self._plan_objects(
            [obj for obj in objects if acts(obj) or key_of(obj) in stage.keys], {}
        )

    def _namespaces(self, record: Mapping[str, Any] | None) -> list[str]:
        found = {
            obj["metadata"]["namespace"] for obj in self.wanted if obj["metadata"].get("namespace")
        }
        return sorted(found | {self.desired.prepared.namespace, *record_spec.namespaces(record)})

    def _groups_in_use(self) -> set[str]:
        """The groups of the nodes that have the hardware."""
        return {group.id for per in self._pers for group in self.desired.discovery.coarse(per)}

    def _groups_kept(self) -> set[str]:
        """The groups of the nodes that have lost the hardware's labels, by their facts and by what
        they carry."""
        grouping, ours = self.desired.discovery.grouping, fact_label(self.recipe.name, KERNEL)
        kept = self.desired.strays.kept
        found = {str(node["metadata"]["labels"][ours]) for node in kept}
        return found.union(
            *(grouping.ids_of(NodeFacts.from_object(node), self._pers) for node in kept)
        )

    @property
    def _pers(self) -> set[tuple[str, ...]]:
        return {state.per for state in self.recipe.states.values() if state.per}

    def _remember(self, record: Mapping[str, Any] | None, planned: Planned) -> None:
        record_store.ensure_definition(self.client)
        kinds = record_spec.state_kinds(record)
        for name in self.names:
            found = {
                f"{i.manifest['apiVersion']}/{i.manifest['kind']}"
                for i in self.rendered[name].objects
            }
            kinds[name] = sorted({*kinds.get(name, []), *found})
        left = {state_of(change.before) for change in planned.changes}
        for name in gone_states(self.desired.prepared, self.names, record):
            # Its last object has gone with a run before this one.
            if name not in left and not planned.kept:
                del kinds[name]
        made = set(record_spec.made_namespaces(record))
        created = [change.key for change in planned.changes if change.action == "create"]
        made.update(key.name for key in created if key.kind == "Namespace")
        prepared = self.desired.prepared
        wanted = record_spec.make_record(
            name=self.recipe.name,
            applyset_id=prepared.applyset_id,
            spec=prepared.spec,
            kinds=kinds,
            namespaces=self._namespaces(record),
            made=made,
            adopted=adopted.after(adopted.read(record), planned.changes),
        )
        record_store.write(self.client, wanted)

    def _result(self, planned: Planned, later: LaterChanges | None) -> Obj:
        planned = replace(planned, changes=[*planned.changes, *(later.done if later else ())])
        differing = planned.differing
        result: Obj = {
            "changed": bool(differing) or bool(later and later.partly),
            "states": [self._state_result(name, planned, later) for name in self.names],
            "nodes": self.desired.discovery.matched,
            "differences": list(self.desired.prepared.differences),
            "requests": dict(self.client.requests),
        }
        reported = {state.name for state in self.proven}
        refused = [
            error for state, error in (later.refused if later else ()) if state not in reported
        ]
        if refused:
            # No report tells of these states, so the task itself has to.
            result.update(failed=True, msg=str(refused[0]))
        self._tell_skipped(result["states"])
        self._tell_waiting(result["states"])
        for name in self.names:
            if self.recipe.states[name].image or self.recipe.states[name].build:
                result.setdefault("images", {}).update(
                    render_images(self.recipe, name, self.desired.facts)
                )
        if differing and self.names[-1:] == list(self.recipe.states)[-1:]:
            result.update(self._notes())
        if self.context.diff:
            result["diff"] = self.context.diff_of(differing)
        return result

    def _notes(self) -> Obj:
        """What the recipe's author says to it, and what is odd about its files; shown once something
        of its last state has changed."""
        notes = render_notes(self.recipe, self.desired.facts)
        for line in notes.splitlines():
            self.context.notice(line)
        found = self.recipe.format.warnings if self.recipe.format else ()
        warnings = [f"{path}, line {line}: {text}" for path, line, text in found]
        return {
            **({"notes": notes} if notes else {}),
            **({"warnings": warnings} if warnings else {}),
        }

    @staticmethod
    def _with_report(result: Obj, report: Obj) -> Obj:
        """Both as one result: how the proof ended is how the task ends."""
        ending: Obj = {key: report.pop(key) for key in ("failed", "msg") if key in report}
        result["changed"] = report.pop("changed") or result["changed"]
        if "diff" in report:
            result["diff"] += report.pop("diff")
        return {**result, "report": report, **ending}

    def _tell_skipped(self, rows: Sequence[Obj]) -> None:
        """Show what a state does without, in a run that changes it. Nobody misses OpenShift's APIs
        elsewhere."""
        everything = self.desired.facts.cluster.get("platform") == "openshift"
        for row in rows:
            for item in self.rendered[row["name"]].skipped if row["changes"] else ():
                if everything or not item.needs_api.partition("/")[0].endswith(".openshift.io"):
                    self.context.progress(
                        f"{row['name']} does without {item.source}: {item.reason}"
                    )

    def _tell_waiting(self, rows: Sequence[Obj]) -> None:
        """Show what is not done yet, and for what it waits."""
        for row in rows:
            for item in row["waiting"]:
                what = f"{item['action']} {item['object']}"
                self.context.progress(
                    f"{row['name']}: {what} waits for {', '.join(item['requires'])} to be proven"
                )

    def _state_result(self, name: str, planned: Planned, later: LaterChanges | None) -> Obj:
        rendered = self.rendered[name]
        keys = {key_of(item.manifest) for item in rendered.objects}
        left = [stage for stage in (later.left if later else ()) if stage.state == name]
        return {
            "name": name,
            "enabled": rendered.enabled,
            "objects": len(rendered.objects),
            "changes": [
                _row(change) for change in planned.differing if self._is_in(name, keys, change)
            ],
            "waiting": [
                {
                    "action": change.action,
                    "object": str(change.key),
                    "requires": list(stage.requires),
                }
                for stage in left
                for change in stage.changes
            ],
            "skipped": [
                {"source": item.source, "reason": item.reason} for item in rendered.skipped
            ],
            "kept": [{"object": str(key), "reason": why} for key, why in planned.kept.items()],
        }

    def _is_in(self, name: str, keys: set[ObjectKey], change: Change) -> bool:
        """Whether a change belongs to a state: it renders the object, or the object says so itself."""
        if change.key in keys:
            return True
        return change.action in ("delete", "restore") and state_of(change.before) == name


def _row(change: Change) -> Obj:
    row: Obj = {"action": change.action, "object": str(change.key)}
    if change.note:
        row["note"] = change.note
    return row


TASK = Task(StateApplyRequest, run)
