# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of state_validate: prove states on nodes, set the marks, and say what waits and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, Optional

from .._cluster.api_client.client import connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._json import Obj, part
from .._nodes.facts import NodeFacts
from .._nodes.taint_ownership import without_own
from .._proofs.queries import StartPod
from .._recipes.loading.recipe import State
from .._recipes.render import render_pod
from .._runs.context import RunContext
from .._runs.guard import Guard
from .._runs.task import Task
from .._verdicts.verdict import Verdict
from . import phase_events
from .desired import Desired
from .drift import not_applied, tell_drift
from .later_changes import LaterChanges
from .on_nodes.holders import find_holders
from .on_nodes.proven_condition import is_wanted
from .on_nodes.strays import MembershipRequest
from .preparation.image_facts import ImageRequest
from .preparation.prepare import StateChoice, choose, prepare, tell_edited
from .preparation.recipe_request import RecipeRequest
from .proof_report import complete_report, find_outdated, make_report, narrow_to_node, result_of
from .proof_request import ProofRequest
from .validation.answers import Answers
from .validation.label_writer import LabelWriter, MarkSettings
from .validation.loop import ChangeHook, Loop, ProofScope, WriteAccess
from .validation.node_marks import READY
from .validation.phases import StatePlan
from .validation.progress import Progress
from .validation.record_memory import NOTHING_BEFORE
from .validation.walk import WalkSettings
from .walk_ending import WalkEnding


@dataclass(frozen=True, kw_only=True)
class StateValidateRequest:
    """Which states of a recipe to prove, and how."""

    connection: ConnectionRequest
    given: RecipeRequest
    run_id: Optional[str] = None
    choice: StateChoice
    membership: MembershipRequest
    images: ImageRequest
    proving: ProofRequest
    node: Optional[str] = None


def run(request: StateValidateRequest, context: RunContext) -> Obj:
    """state_validate: prove states; the result is the report, with changed, failed and msg as
    Ansible wants them."""
    request.proving.known_taints()
    client = connect(request.connection)
    prepared = prepare(request.given, context, client)
    if request.proving.show and not request.proving.wait:
        tell_edited(prepared, context)
    chosen = choose(prepared.recipe, request.choice.states, request.choice.role)
    desired = Desired(client, prepared, request.membership, request.images, context.clock)
    guard = Guard(client, prepared.recipe.name, context)
    return prove(desired, chosen, request.proving, context, guard, node=request.node or "")


def prove(
    desired: Desired,
    chosen: Sequence[State],
    request: ProofRequest,
    context: RunContext,
    guard: Guard,
    *,
    later: LaterChanges | None = None,
    hook: ChangeHook | None = None,
    drift: Sequence[Obj] = (),
    node: str = "",
) -> Obj:
    """Walk the nodes until all that can be told of the chosen states is; make what had to wait for
    that meanwhile, or do what a hook does. drift: what the run has put back before. node: what the
    table is about, if not all of them."""
    names = {state.name for state in chosen}
    ending = WalkEnding(desired, guard, context)
    reads = _reads(context, request, whole=_is_whole(desired.plans, names))
    drift = _drift(ending, drift, reads=reads)
    missing = not_applied(desired, drift)
    staged = _planned_anyway(later, missing)
    # All states are planned, since a chosen one may require others; only the chosen ones are
    # reported.
    plans = desired.plans_with(staged)
    needed = _with_requirements(plans, names | staged)
    dry = context.check_mode
    writer = LabelWriter(
        desired.client,
        plans,
        MarkSettings(
            desired.recipe.name,
            runtime_gates=desired.runtime_gates,
            by_nodes=desired.prepared.by_nodes,
            conditions=is_wanted(desired.prepared.options),
        ),
        guard.before_write,
        dry=dry,
        clock=context.clock,
    )
    access = _access(desired, request, guard, allowed=not dry)
    loop = _loop(desired, needed, request, context, access, writer)
    loop.hook = hook
    loop.walker.unapplied.update(missing)
    _settle(loop, desired.members, later, wait=request.wait and not dry)
    if not dry:
        _say_changes(desired, loop, context, recorded=request.record)
    if later:
        later.drop_departed(loop.walker)
        context.tell_changes(later.done)
    report = make_report(desired, plans, names, loop, request.report)
    released = ending.release_nodes()
    report["released"] = dict(desired.strays.leaving)
    if not dry:
        ending.clear_validators(loop)
    report["rivals"] = ending.find_rivals()
    report["unfinished"] = [str(error) for error in ending.refused]
    tell_drift(report, drift, is_there=reads)
    if reads:
        report["outdated"] = find_outdated(report, desired, writer.changed)
    complete_report(report, desired, context, wait=request.wait)
    narrow_to_node(report, node, desired, plans, loop, context.clock())
    result = result_of(
        report,
        {**released, **writer.changed},
        context,
        require_ready=request.require_ready,
        reading=reads and request.show,
    )
    if request.record:
        result = ending.record(result)
    if request.report == "all":
        result["record"] = ending.seen_as_record(report)
    _show(report["table"] if request.show else (), context)
    return result


def _show(lines: Sequence[str], context: RunContext) -> None:
    for line in lines:
        context.notice(line)


def _drift(ending: WalkEnding, drift: Sequence[Obj], *, reads: bool) -> Sequence[Obj]:
    """Who merely reads finds what others have done; a run has put that back (drift)."""
    return ending.find_drift() if reads else drift


def _planned_anyway(
    later: LaterChanges | None, missing: Mapping[tuple[str, str], Verdict]
) -> set[str]:
    """The states of which something is to be told although they may prove nothing."""
    staged = {stage.state for stage in later.left} if later else set()
    return staged | {state for state, _group in missing}


def _is_whole(plans: list[StatePlan], names: set[str]) -> bool:
    """Whether the named states, with what they require, are all that prove something."""
    return len(_with_requirements(plans, names)) == len(plans)


def _reads(context: RunContext, request: ProofRequest, *, whole: bool) -> bool:
    """Whether somebody merely reads how all (whole) of a recipe stands; a plan tells of drift itself."""
    return context.check_mode and not request.wait and whole


def _settle(
    loop: Loop, nodes: Sequence[NodeFacts], later: LaterChanges | None, *, wait: bool
) -> None:
    """Walk until all that can be told is; where nothing waits to be made, a quick check may do."""
    if later and later.left:
        loop.hook = later
    elif not loop.hook and loop.check_quickly(nodes):
        return
    loop.mirror.take_nodes(nodes)
    loop.run(wait=wait)


def _say_changes(desired: Desired, loop: Loop, context: RunContext, *, recorded: bool) -> None:
    """An Event for each node whose summary has changed. Of the nodes that are ready in the first run
    the record's own Event tells, where there is to be one."""
    first = recorded and not part(desired.record or {}, "status").get("phase")
    said = [
        phase_events.of_node(desired.recipe.name, node, before, after, loop.results)
        for node, before, after in loop.changed_summaries()
        if not (first and after == READY)
    ]
    phase_events.say(desired.client, [occurrence for occurrence in said if occurrence], context)


def make_due(desired: Desired, context: RunContext, guard: Guard, later: LaterChanges) -> None:
    """Make what waits for proofs that are there already; nothing is proven for it, and nothing is
    waited for."""
    plans = desired.plans_with({stage.state for stage in later.left})
    settings = MarkSettings(desired.recipe.name)
    writer = LabelWriter(desired.client, plans, settings, guard.before_write, dry=True)
    request = ProofRequest(wait=False, failure_grace=0)
    access = _access(desired, request, guard, allowed=False)
    loop = _loop(desired, plans, request, context, access, writer)
    loop.hook = later
    loop.mirror.take_nodes(desired.members)
    loop.run(wait=False)


def _loop(
    desired: Desired,
    plans: list[StatePlan],
    request: ProofRequest,
    context: RunContext,
    access: WriteAccess,
    writer: LabelWriter,
) -> Loop:
    recipe, groups = desired.recipe, {group.id: group for group in desired.discovery.node_groups}

    def make_pod(start: StartPod) -> Obj:
        proof = desired.rendered[start.state].proofs[start.proof]
        group = groups[loop.snapshot.groups[start.node]]
        pod = render_pod(recipe, start.state, proof, desired.facts, group, start.node)
        pod["metadata"]["name"] = start.name
        pod["metadata"].pop("generateName", None)
        return pod

    loop = Loop(
        desired.client,
        ProofScope(
            plans=plans,
            members=desired.strays,
            settings=WalkSettings(
                recipe=recipe.name,
                namespace=desired.prepared.namespace,
                failure_grace=float(request.failure_grace),
                timeout=float(request.timeout) if request.timeout is not None else None,
                by_nodes=desired.prepared.by_nodes,
                controller_taints=without_own(recipe.name, request.known_taints()),
                facets=desired.prepared.facets,
                acts=access.allowed,
                # A run gives everything its whole patience again: its causes may be mended by now.
                record_memory=NOTHING_BEFORE if access.allowed else desired.record_memory,
            ),
            grouping=desired.discovery.grouping,
            complete={plan.name for plan in plans} >= {plan.name for plan in desired.plans},
        ),
        access,
        answers=Answers(desired.client, make_pod),
        writer=writer,
        progress=Progress(context, recipe.name),
        clock=context.clock,
    )
    return loop


def _access(desired: Desired, request: ProofRequest, guard: Guard, *, allowed: bool) -> WriteAccess:
    """Whether nodes may be written to, by whose lock, and whose gates may go."""
    return WriteAccess(
        allowed=allowed,
        guard=guard.keep,
        before_write=guard.before_write,
        withdraw=_withdraw(desired, request.on_regress),
    )


def _withdraw(desired: Desired, on_regress: Literal["keep", "withdraw"]) -> Callable[[str], bool]:
    """Whether a node's gates may go: not while pods hold its devices. Each node is asked about
    once."""

    @cache
    def is_free(node: str) -> bool:
        return not find_holders(desired.client, desired.prepared, {node})

    return is_free if on_regress == "withdraw" else lambda _node: False


def _with_requirements(plans: list[StatePlan], names: set[str]) -> list[StatePlan]:
    """The plans of the named states and of everything that they require."""
    wanted = set(names)
    for plan in reversed(plans):
        if plan.name in wanted:
            wanted.update(plan.requires)
    return [plan for plan in plans if plan.name in wanted]


TASK = Task(StateValidateRequest, run)
