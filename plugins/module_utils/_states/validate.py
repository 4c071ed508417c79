# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of state_validate: prove states on nodes, set the marks, and say what waits and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal, Optional, TypeVar

from .._cluster.api_client.api_errors import ApiError, Unreachable
from .._cluster.api_client.client import connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._cluster.api_objects.change_report import count_nodes, report_labels
from .._cluster.api_objects.labels import RECIPE_LABEL, VALIDATION_LABEL
from .._errors import EnablementError
from .._json import Obj
from .._nodes.upgrade_marks import upgrade_rows
from .._proofs.queries import StartPod
from .._proofs.snapshot import node_of
from .._recipes.loading.recipe import State
from .._recipes.render import render_pod
from .._runs.context import RunContext
from .._runs.guard import Guard
from .._runs.task import Task
from .._times import seconds
from . import phase_events
from .desired import Desired
from .later_changes import LaterChanges
from .on_nodes.holders import find_holders
from .on_nodes.leftovers import clear_marks
from .on_nodes.strays import MembershipRequest
from .preparation.image_facts import ImageRequest
from .preparation.prepare import StateChoice, choose, prepare
from .preparation.recipe_request import RecipeRequest
from .proof_request import ProofRequest
from .record import record_store
from .special_resource import write_report
from .validation import table
from .validation.answers import Answers
from .validation.label_writer import LabelWriter
from .validation.loop import ChangeHook, Loop, ProofScope, WriteAccess
from .validation.node_marks import READY
from .validation.phases import Phase, StatePlan
from .validation.progress import Progress
from .validation.report import summarize
from .validation.walk import WalkSettings

T = TypeVar("T")

WORKERS = 8
# The phase of pods that have proven what they were for.
_FINISHED = "Succeeded"


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


def run(request: StateValidateRequest, context: RunContext) -> Obj:
    """state_validate: prove states; the result is the report, with changed, failed and msg as
    Ansible wants them."""
    client = connect(request.connection)
    prepared = prepare(request.given, context, client)
    chosen = choose(prepared.recipe, request.choice.states, request.choice.role)
    desired = Desired(client, prepared, request.membership, request.images, context.clock)
    guard = Guard(client, prepared.recipe.name, context)
    return prove(desired, chosen, request.proving, context, guard)


def prove(
    desired: Desired,
    chosen: Sequence[State],
    request: ProofRequest,
    context: RunContext,
    guard: Guard,
    *,
    later: LaterChanges | None = None,
    hook: ChangeHook | None = None,
) -> Obj:
    """Walk the nodes until all that can be told of the chosen states is; make what had to wait for
    that meanwhile, or do what a hook does."""
    names = {state.name for state in chosen}
    staged = {stage.state for stage in (later.left if later else ())}
    # All states are planned, since a chosen one may require others; only the chosen ones are
    # reported.
    plans = desired.plans_with(staged)
    needed = _with_requirements(plans, names | staged)
    dry = context.check_mode
    writer = LabelWriter(
        desired.client,
        plans,
        desired.recipe.name,
        guard.before_write,
        dry=dry,
        runtime_gates=desired.runtime_gates,
        by_nodes=desired.prepared.by_nodes,
    )
    loop = _loop(desired, needed, request, context, guard, writer)
    loop.hook = hook
    _settle(loop, desired.members, later, wait=request.wait and not dry)
    if not dry:
        _say_changes(desired, loop, context, recorded=request.record)
    if later:
        later.drop_departed(loop.walker)
        context.tell_changes(later.done)
    report = _report(desired, plans, names, loop, request.report)
    refused: list[EnablementError] = []
    released = _insist(partial(_release, desired, guard, context), refused) or {}
    report["released"] = dict(desired.strays.leaving)
    if not dry:
        known = bool(desired.members) or desired.membership.allow_empty
        _insist(partial(_clear_validators, desired, guard, loop if known else None), refused)
    report["rivals"] = _insist(lambda: desired.rival_plugins, refused) or []
    report["unfinished"] = [str(error) for error in refused]
    _complete(report, desired, context, wait=request.wait)
    result = _result(
        report, {**released, **writer.changed}, context, require_ready=request.require_ready
    )
    if request.record:
        result = _recorded(desired, result, context, refused)
    for line in report["table"] if request.show else ():
        context.notice(line)
    return result


def _settle(loop: Loop, nodes: Sequence[Obj], later: LaterChanges | None, wait: bool) -> None:
    """Walk until all that can be told is; where nothing waits to be made, a quick check may do."""
    if later and later.left:
        loop.hook = later
    elif not loop.hook and loop.check_quickly(nodes):
        return
    loop.mirror.take_nodes(nodes)
    loop.run(wait)


def _say_changes(desired: Desired, loop: Loop, context: RunContext, recorded: bool) -> None:
    """An Event for each node whose summary has changed. Of the nodes that are ready in the first run
    the record's own Event tells, where there is to be one."""
    first = recorded and not ((desired.record or {}).get("status") or {}).get("phase")
    said = [
        phase_events.of_node(desired.recipe.name, node, before, after, loop.results)
        for node, before, after in loop.changed_summaries()
        if not (first and after == READY)
    ]
    phase_events.say(desired.client, [occurrence for occurrence in said if occurrence], context)


def _report(
    desired: Desired,
    plans: Sequence[StatePlan],
    names: Set[str],
    loop: Loop,
    which: Literal["problems", "all"],
) -> Obj:
    """What is known of the named states on the nodes that are there now."""
    proving = {plan.name for plan in desired.plans}
    chosen = [plan for plan in plans if plan.name in names]
    reported = [plan for plan in chosen if plan.name in proving or _is_open(plan, loop)]
    reported, groups = _as_they_are_now(reported, desired, loop)
    report = summarize(
        reported, loop.results, groups, loop.snapshot.groups, which == "all", loop.left
    )
    report["kernels"] = sorted({node.kernel for node in loop.snapshot.nodes.values()})
    report["upgrades"] = upgrade_rows(loop.snapshot.nodes.values(), desired.recipe.name)
    return report


def _complete(report: Obj, desired: Desired, context: RunContext, *, wait: bool) -> None:
    """Complete the report's message, and draw its table."""
    nodes, nfd = desired.members, desired.discovery.nfd["message"]
    if not report["nodes_total"] and not nodes:
        report["message"] = nfd or report["message"]
    elif not desired.nodes:
        report["message"] = f"{report['message']}; {nfd}"
    if report["rivals"]:
        served = f"{', '.join(desired.recipe.resources)} is served by another device plugin, too"
        report["message"] = f"{report['message']}; {served}: {', '.join(report['rivals'])}"
    if context.check_mode and wait and not report["ready"] and nodes:
        report.update(table.would_validate(report))
    else:
        report["table"] = table.render(desired.recipe.name, report, context.clock(), seconds)


def _insist(step: Callable[[], T], refused: list[EnablementError]) -> T | None:
    """Do what comes after the proofs, once more where that is refused; what stays refused costs no
    result.

    refused takes it. Once there is no API server any more, nothing else is tried.
    """
    for last in (False, True):
        if any(isinstance(error, Unreachable) and not error.status for error in refused):
            break
        try:
            return step()
        except EnablementError as error:
            if last or isinstance(error, Unreachable):
                refused.append(error)
    return None


def _recorded(
    desired: Desired, result: Obj, context: RunContext, refused: list[EnablementError]
) -> Obj:
    """The result, once the record says the same; a failure where it cannot be made to."""

    def write() -> Obj:
        live = record_store.read(desired.client, desired.recipe.name)
        return write_report(desired.client, desired.prepared, live, result, context)

    written = _insist(write, refused)
    if written is None:
        said = str(refused[-1])
        return {
            **result,
            "failed": True,
            "msg": result.get("msg") or f"The record does not say what was found: {said}",
        }
    result["changed"] = result["changed"] or written["changed"]
    if "diff" in written:
        result["diff"] += written["diff"]
    return result


def _release(desired: Desired, guard: Guard, context: RunContext) -> dict[str, Obj]:
    """Take our marks off the nodes that leave, and say why; returns the patches by node."""
    recipe, strays = desired.recipe.name, desired.strays
    for name, why in strays.leaving.items():
        context.notice(f"node {name} leaves {recipe}: {why}")
    gone = [strays.objects[name] for name in strays.leaving]
    patches = clear_marks(desired.client, recipe, gone, guard.before_write, not context.check_mode)
    if not context.check_mode:
        phase_events.say(
            desired.client,
            [phase_events.of_departure(recipe, node, strays.leaving) for node in gone],
            context,
        )
    return patches


def make_due(desired: Desired, context: RunContext, guard: Guard, later: LaterChanges) -> None:
    """Make what waits for proofs that are there already; nothing is proven for it, and nothing is
    waited for."""
    plans = desired.plans_with({stage.state for stage in later.left})
    writer = LabelWriter(desired.client, plans, desired.recipe.name, guard.before_write, dry=True)
    request = ProofRequest(wait=False, failure_grace=0)
    loop = _loop(desired, plans, request, context, guard, writer, write=False)
    loop.hook = later
    loop.mirror.take_nodes(desired.members)
    loop.run(wait=False)


def _loop(
    desired: Desired,
    plans: list[StatePlan],
    request: ProofRequest,
    context: RunContext,
    guard: Guard,
    writer: LabelWriter,
    write: bool | None = None,
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
            ),
            grouping=desired.discovery.grouping,
            complete={plan.name for plan in plans} >= {plan.name for plan in desired.plans},
        ),
        WriteAccess(
            allowed=not context.check_mode if write is None else write,
            guard=guard.keep,
            before_write=guard.before_write,
            withdraw=_withdraw(desired, request.on_regress),
        ),
        answers=Answers(desired.client, make_pod),
        writer=writer,
        progress=Progress(context, recipe.name),
        clock=context.clock,
    )
    return loop


def _withdraw(desired: Desired, on_regress: Literal["keep", "withdraw"]) -> Callable[[str], bool]:
    """Whether a node's gates may go: not while pods hold its devices. Each node is asked about
    once."""

    @cache
    def is_free(node: str) -> bool:
        return not find_holders(desired.client, desired.prepared, {node})

    return is_free if on_regress == "withdraw" else lambda _node: False


def _is_open(plan: StatePlan, loop: Loop) -> bool:
    """Whether a state is not as it should be on some node, or on the cluster."""
    return any(
        name == plan.name and result.phase is not Phase.READY
        for (_node, name), result in loop.results.items()
    )


def _with_requirements(plans: list[StatePlan], names: set[str]) -> list[StatePlan]:
    """The plans of the named states and of everything that they require."""
    wanted = set(names)
    for plan in reversed(plans):
        if plan.name in wanted:
            wanted.update(plan.requires)
    return [plan for plan in plans if plan.name in wanted]


def _as_they_are_now(
    plans: Sequence[StatePlan], desired: Desired, loop: Loop
) -> tuple[list[StatePlan], Any]:
    """The plans with rows for the groups of the nodes that are there now, and these groups."""
    discovery, grouping = desired.discovery, desired.discovery.grouping
    if discovery.group_of == loop.snapshot.groups:
        return list(plans), discovery.groups
    finest = grouping.groups(loop.snapshot.nodes.values())
    per = {plan.name: desired.recipe.states[plan.name].per or ("kernel",) for plan in plans}
    return [replace(plan, rows=grouping.coarse(finest, per[plan.name])) for plan in plans], finest


def _clear_validators(desired: Desired, guard: Guard, loop: Loop | None) -> None:
    """Remove the pods that have done their work, also those of a run that was killed, and those
    that nobody waits for: of nodes that left, also where another one has their name now. Failed
    ones keep their logs until their state is proven. loop: None where it is not known which nodes
    there are."""
    client, namespace = desired.client, desired.prepared.namespace
    kind, labels = (
        client.kind("v1", "Pod"),
        f"{RECIPE_LABEL}={desired.recipe.name},{VALIDATION_LABEL}",
    )
    list_pods = partial(client.list, kind, namespace=namespace, labels=labels)
    # Two for each node, and of those that have done their work nothing else is read.
    found = list_pods(metadata_only=True).items
    if not found:
        return
    others = list_pods(fields=f"status.phase!={_FINISHED}", leanly=True).items
    done = {pod["metadata"]["uid"] for pod in found} - {pod["metadata"]["uid"] for pod in others}
    left = [pod for pod in others if loop and not _is_awaited(pod, loop)]
    if done or left:
        guard.before_write()
    if done:
        client.delete_collection(
            kind, namespace=namespace, labels=labels, fields=f"status.phase={_FINISHED}"
        )
    calls = [
        partial(client.delete, kind, pod["metadata"]["name"], namespace, uid=pod["metadata"]["uid"])
        for pod in left
    ]
    for answer in client.parallel(calls, workers=WORKERS):
        if isinstance(answer, ApiError):
            raise answer


def _is_awaited(pod: Obj, loop: Loop) -> bool:
    """Whether a validation pod is on a node that is there, and its state is not proven there
    without it."""
    node, state = node_of(pod), pod["metadata"]["labels"][VALIDATION_LABEL]
    if node not in loop.snapshot.nodes:
        return False
    result = loop.results.get((node, state))
    return result is None or result.phase is not Phase.READY


def _result(
    report: Obj,
    patches: Mapping[str, Obj],
    context: RunContext,
    *,
    require_ready: bool,
) -> Obj:
    result: Obj = {"changed": bool(patches), **report}
    if context.diff:
        result["diff"] = []
    if patches:
        done = "would change" if context.check_mode else "changed"
        text = f"{done} our labels and annotations of {count_nodes(patches)}"
        details = report_labels(patches) if context.diff else []
        result |= context.tell("\n".join([text, *details]))
    if require_ready and not report["acceptable"] and not context.check_mode:
        result.update(failed=True, msg=report["message"])
    return result


TASK = Task(StateValidateRequest, run)
