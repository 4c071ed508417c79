# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of state_apply: make what is wanted of the chosen states, and prove it.

Rivals are refused, then everything is rendered and planned by dry run. Where nothing differs, nothing
is written. Where something does, mistakes and missing rights are refused before the first write; then
the lock is taken, the plan made again, since another run may have ended meanwhile, and the record
written by it. What waits for no proof is made at once, and what is not wanted any more removed; the
rest is made by the walk that proves the states, node after node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Optional

from .._cluster.api_client.client import Client, connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._cluster.executing import execute
from .._json import Obj
from .._recipes.loading.recipe import State
from .._recipes.render import check_recipe
from .._runs.context import RunContext
from .._runs.guard import Guard, given_back
from .._runs.task import Task
from .._runs.wait_progress import WaitProgress
from . import validate
from .apply_plan import ApplyPlanner, Planned, PlanRequest
from .apply_result import ApplyResult, with_report
from .cleanup import remove
from .cleanup.remove import RemovalRequest
from .desired import Desired
from .drift import drift_in, kept_by_tools
from .later_changes import LaterChanges
from .on_nodes.adopted_pods import label_pods
from .on_nodes.strays import MembershipRequest, refuse_left_out_in_use
from .preflight import refuse_missing_rights, refuse_others
from .preparation.image_facts import ImageRequest
from .preparation.prepare import (
    Prepared,
    StateChoice,
    choose,
    prepare,
    refuse_dropped,
    tell_differences,
    with_requirements,
)
from .preparation.recipe_request import RecipeRequest
from .preparation.runtime_facts import missing_push_secret, missing_toolkits
from .preparation.shared import refuse_shared
from .preparation.tags import Tags
from .proof_request import ProofRequest
from .record import record_store
from .record_lock import RecordLock
from .record_of_plan import record_of_plan


@dataclass(frozen=True)
class AppliedStates(StateChoice):
    """tags, skip_tags: of the ansible-playbook command. with_requirements: also what the states
    require."""

    tags: Optional[Sequence[str]] = None
    skip_tags: Optional[Sequence[str]] = None
    with_requirements: bool = False


@dataclass(frozen=True, kw_only=True)
class StateApplyRequest:
    """Which states to apply, or to remove, and how. discovery: the result of nfd_info.
    options_replace: see refuse_dropped."""

    connection: ConnectionRequest
    given: RecipeRequest
    run_id: Optional[str] = None
    choice: AppliedStates = field(default_factory=AppliedStates)
    state: Literal["present", "absent"] = "present"
    options_replace: bool = False
    discovery: Optional[Mapping[str, Any]] = None
    images: ImageRequest = field(default_factory=ImageRequest)
    membership: MembershipRequest = field(default_factory=MembershipRequest)
    planning: PlanRequest = field(default_factory=PlanRequest)
    removal: RemovalRequest = field(default_factory=RemovalRequest)
    proving: ProofRequest


def run(request: StateApplyRequest, context: RunContext) -> Obj:
    """Apply (or remove) the chosen states of a recipe."""
    request.proving.known_taints()
    client = connect(request.connection)
    present = request.state == "present"
    prepared = prepare(request.given, context, client, complete=present)
    tags = Tags.of(request.choice.tags, request.choice.skip_tags)
    chosen = choose(prepared.recipe, request.choice.states, request.choice.role, tags)
    if present:
        refuse_dropped(prepared, request.given, replace_all=request.options_replace)
        return _apply(client, prepared, chosen, tags, request, context)
    show = request.proving.show
    return remove.states(client, prepared, chosen, request.removal, context, show=show)


def _apply(
    client: Client,
    prepared: Prepared,
    chosen: list[State],
    tags: Tags,
    request: StateApplyRequest,
    context: RunContext,
) -> Obj:
    """Settle which states are applied, and which of them are waited for: at least those that are
    here only since others require them."""
    if not request.discovery and not tags.given:
        tell_differences(prepared, context)
    applied = chosen
    if request.choice.with_requirements:
        applied = with_requirements(prepared.recipe, chosen)
    proven = [state for state in applied if state not in chosen]
    if request.proving.wait and tags.validates:
        proven = list(prepared.recipe.states.values()) if tags.given else applied
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
    application = _Application(desired, applied, proven, request, context)
    if not (request.proving.wait and proven):
        return application.run()
    with given_back(client, prepared.recipe.name, context):
        return application.run()


class _Application:
    """One run of state_apply with everything that it works on. proven: the states to wait for."""

    def __init__(
        self,
        desired: Desired,
        applied: Sequence[State],
        proven: Sequence[State],
        request: StateApplyRequest,
        context: RunContext,
    ) -> None:
        self._desired = desired
        self._client = desired.client
        self._recipe = desired.recipe
        self._proven = proven
        self._request = request
        self._context = context
        self._guard = Guard(self._client, self._recipe.name, context)
        names = [state.name for state in applied]
        self._planner = ApplyPlanner(desired, names, request.planning, context.warning)
        self._lock = RecordLock(self._guard, self._plan_and_record)
        self._drift: Sequence[Obj] = ()

    def run(self) -> Obj:
        """Refuse what cannot be, plan, write what need not wait, prove, and make then what had to
        wait for that. In check mode nothing is written."""
        # What else serves these devices, or these nodes, is found before anything is planned.
        refuse_others(self._client, self._desired, adopt=self._request.planning.adopt)
        planned, later = self._planner.plan(self._desired.record), None
        self._drift = drift_in(self._desired, planned.differing)
        if planned.differing:
            self._refuse_changes()
            facts = self._desired.facts
            for text in (
                *missing_toolkits(self._recipe.source.format, facts),
                *missing_push_secret(self._recipe.source.format, facts),
                *kept_by_tools(planned.differing),
            ):
                self._context.warning(text)
        if planned.differing and not self._context.check_mode:
            self._refuse_missing_rights(planned)
            planned, later = self._write(planned)
        self._context.tell_changes(planned.differing)
        report = self._prove(later)
        result = self._result(planned, later)
        return with_report(result, report) if report is not None else result

    def _refuse_changes(self) -> None:
        """What may stay as it is, and must not be changed to: nodes in use that are left out, nodes of
        another recipe. A mistake anywhere in the recipe, or an object in two states, is found before
        the first write, too."""
        refuse_left_out_in_use(self._client, self._desired.prepared, self._desired.strays)
        if self._desired.record is not None:
            refuse_shared(self._client, self._desired.prepared, self._desired.discovery)
        check_recipe(self._recipe, replace(self._desired.facts, resolved=None))

    def _refuse_missing_rights(self, planned: Planned) -> None:
        refuse_missing_rights(
            self._client, self._desired, planned.changes, proves=bool(self._proven)
        )

    def _write(self, planned: Planned) -> tuple[Planned, LaterChanges]:
        """Take the lock where it is needed by now, and make what need not wait; the plan as it was
        carried out, and what waits."""
        staged = self._planner.divide(planned)
        if staged.needs_lock:
            staged = self._planner.divide(self._lock.take() or planned)
        label_pods(self._client, staged.now, self._lock.before_write)
        made = execute(
            self._client, staged.now, guard=self._lock.before_write, say=WaitProgress(self._context)
        )
        later = LaterChanges(
            self._client,
            staged,
            plan_again=self._planner.plan_stage,
            take_lock=self._lock.take,
            guard=self._lock.before_write,
            # A block is drawn meanwhile, so that these are lines below it.
            say=WaitProgress(replace(self._context, terminal=None)),
            clock=self._context.clock,
        )
        return replace(planned, changes=made), later

    def _plan_and_record(self) -> Planned:
        """Plan again, now that nobody else writes, and write the record by it."""
        record = record_store.read(self._client, self._recipe.name)
        planned = self._planner.plan(record)
        record_store.ensure_definition(self._client)
        record_store.write(self._client, record_of_plan(self._planner, record, planned))
        return planned

    def _prove(self, later: LaterChanges | None) -> Obj | None:
        """The report of the states to wait for; None where there are none, and only what is proven
        already is made use of."""
        if self._proven:
            # What is required is waited for in any case: that is why it is here.
            proving = replace(self._request.proving, wait=True)
            return validate.prove(
                self._desired,
                self._proven,
                proving,
                self._context,
                self._guard,
                later=later,
                drift=self._drift,
            )
        if later and later.left:
            validate.make_due(self._desired, self._context, self._guard, later)
            self._context.tell_changes(later.done)
        return None

    def _result(self, planned: Planned, later: LaterChanges | None) -> Obj:
        if later is None:
            return ApplyResult(self._planner, planned).tell(self._context)
        # A report tells of the others.
        reported = {state.name for state in self._proven}
        return ApplyResult(
            self._planner,
            replace(planned, changes=[*planned.changes, *later.done]),
            later.left,
            [error for state, error in later.refused if state not in reported],
            partly=later.partly,
        ).tell(self._context)


TASK = Task(StateApplyRequest, run)
