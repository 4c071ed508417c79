# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of rmd_reconcile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

from .._cluster.api_client.client import Client, connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._cluster.api_objects.changes import Change
from .._cluster.api_objects.diff import make_diff
from .._cluster.api_objects.objects import key_of
from .._errors import EnablementError
from .._json import Obj
from .._runs.context import RunContext
from .._runs.guard import Guard, given_back
from .._runs.task import Task
from .._schema.requests import ParameterGroup
from .node_backends import DaemonsRequest, open_fleet
from .nodes.node_results import FAILED, UNCHANGED, WriteRequest, WriteSettings
from .nodes.node_writer import Fleet
from .objects import object_store
from .objects.operator_crds import ensure_definitions
from .objects.operator_names import L3_CACHE_WAYS, WORKLOAD
from .objects.reconcile import Reconciliation
from .objects.view import View
from .objects.workload_spec import Declared, Name
from .objects.workload_state import OnNode
from .pods.pod_requests import Automatic, Form
from .pods.pod_work import REFUSED, PodWork, Policy
from .rmd_product import RECIPE

States = Mapping[Name, Mapping[str, OnNode]]

_SHOWN = 5


def make(
    reconciliation: Reconciliation,
    states: States,
    automatic: Automatic,
    offered: Mapping[str, int | None],
    pods: Sequence[Obj],
) -> Obj:
    """The result, but for changed and requests."""
    return {
        "workloads": [_workload(entry, states[entry.name]) for entry in reconciliation.declared],
        "nodes": [_node(view) for view in reconciliation.seen if _is_shown(view)],
        "pods": list(pods),
        "offered": dict(offered),
        "declared": [str(key_of(obj)) for obj in automatic.create],
    }


def _workload(entry: Declared, here: Mapping[str, OnNode]) -> Obj:
    """How an RmdWorkload stands. here: by node."""
    bad = {node: state for node, state in here.items() if not state.outcome.is_good}
    return {
        "namespace": entry.name.namespace,
        "name": entry.name.name,
        "uuid": entry.uuid,
        "ready": bool(here) and not bad and not entry.problem and not entry.is_deleted,
        "deleted": entry.is_deleted,
        "problem": entry.problem,
        "enforced": bool(here) and all(state.outcome.is_enforced for state in here.values()),
        "nodes": {node: state.outcome.value for node, state in here.items()},
        "failures": {node: state.why for node, state in bad.items()},
    }


def judged(result: Obj) -> Obj:
    """The result; raises EnablementError, which carries it, where a workload is not as it is asked
    for."""
    problems = [text for row in result["workloads"] if (text := _problem(row))]
    pods = [
        f"{row['pod']} ({row['why'].rstrip('.')})" for row in result["pods"] if not row["workload"]
    ]
    if not problems and not pods:
        return result
    kinds = [(problems, "workload"), (pods, "pod")]
    what = " and ".join(_counted(len(found), kind) for found, kind in kinds if found)
    every = [*problems, *pods]
    more = f", and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    error = EnablementError(
        f"{what} {'is' if len(every) == 1 else 'are'} not as asked for",
        why="; ".join((*every[:_SHOWN], *_kept(result["pods"]))) + more,
        todo="everything else was made true: repair this and run again",
    )
    error.result = result
    raise error


def _kept(pods: Sequence[Obj]) -> Iterator[str]:
    """Who was to be evicted for a workload that failed, and was not."""
    for row in pods:
        what, _colon, why = row["eviction"].partition(": ")
        if what == REFUSED:
            yield f"pod {row['pod']} is not evicted: {why.rstrip('.')}"


def _problem(row: Obj) -> str:
    """A workload, and why it is not as asked for; of several nodes the first. "" where it is."""
    whys = [row["problem"], *(f"{node}: {why}" for node, why in row["failures"].items())]
    why = next(filter(None, whys), "")
    return f"{row['namespace']}/{row['name']} ({why})" if why else ""


def _counted(number: int, kind: str) -> str:
    return f"{number} {kind}" if number == 1 else f"{number} {kind}s"


def show(
    reconciliation: Reconciliation,
    automatic: Automatic,
    offered: Mapping[str, int | None],
    context: RunContext,
) -> Obj:
    """What changed, or would: objects of pods, and for each node RMD's workloads and what the node
    offers."""
    objects = [Change(key_of(obj), "create", None, obj) for obj in automatic.create]
    objects += [Change(key_of(old), "update", old, new) for old, new in automatic.change]
    objects += [Change(key_of(obj), "delete", obj, None) for obj in automatic.remove]
    nodes = []
    for view in reconciliation.seen:
        before, after = view.report.lines() if view.report is not None else ([], [])
        if view.node in offered:
            after.append(f"{L3_CACHE_WAYS}: {offered[view.node]}")
        if before or after:
            nodes.append(make_diff(f"node {view.node}", before, after))
    if context.diff:
        return {"diff": [*context.diff_of(objects), *nodes]}
    context.tell_changes(objects)
    return context.show(nodes)


def _is_shown(view: View) -> bool:
    return (
        view.report is None
        or view.snapshot is None
        or bool(view.refused)
        or view.report.fate.outcome != UNCHANGED
    )


def _node(view: View) -> Obj:
    if view.report is None:
        return {"node": view.node, "outcome": FAILED, "message": view.why}
    orphans = sorted(view.wanted.orphans) if view.wanted is not None else []
    return {**view.report.describe(), **({"orphans": orphans} if orphans else {})}


@dataclass(frozen=True)
class PodsRequest(ParameterGroup):
    """What is done for pods. pods: whether they get RmdWorkloads. extended_resource: whether nodes
    offer cache ways to them. pod_form: by which version of the operator new ones are called.
    failure_policy: what happens to a pod whose workload fails."""

    pods: bool
    extended_resource: bool
    pod_form: Form
    failure_policy: Policy


@dataclass(frozen=True)
class RmdReconcileRequest:
    """What rmd_reconcile is to do, and how. require_ready: fail where a workload is not as it is
    asked for."""

    connection: ConnectionRequest
    daemons: DaemonsRequest
    writing: WriteRequest
    of_pods: PodsRequest
    run_id: Optional[str]
    require_ready: bool


def run(request: RmdReconcileRequest, context: RunContext) -> Obj:
    """Make RMD on all nodes equal to the RmdWorkload objects."""
    client = connect(request.connection)
    # In check mode the kinds may be missing still; then there are no objects.
    defined = False if context.check_mode else ensure_definitions(client)
    if context.check_mode and not client.serves(WORKLOAD.api_version, WORKLOAD.kind):
        return {
            "changed": True,
            "workloads": [],
            "nodes": [],
            "pods": [],
            "requests": {},
            "offered": {},
        }
    with open_fleet(client, request.daemons) as fleet:
        objects, pods = _observe(client, fleet, request, context, dry=True)
        if (objects.has_work or pods.changed) and not context.check_mode:
            # The lock is the deployment's, too: daemons are not replaced or removed meanwhile.
            with given_back(client, RECIPE, context):
                Guard(client, RECIPE, context).before_write(float(request.writing.lock_wait))
                objects, pods = _observe(client, fleet, request, context, dry=False)
                result = _finish(objects, pods, request.of_pods, context)
        else:
            result = _finish(objects, pods, request.of_pods, context)
        result["requests"] = fleet.requests
    result["changed"] = result["changed"] or defined
    must_be_ready = request.require_ready and not context.check_mode
    return judged(result) if must_be_ready else result


def _observe(
    client: Client, fleet: Fleet, request: RmdReconcileRequest, context: RunContext, *, dry: bool
) -> tuple[Reconciliation, PodWork]:
    """See what is declared, what pods ask for (writing that unless dry) and what runs; decide what
    to send."""
    settings = WriteSettings.of(request.writing, check_mode=context.check_mode)
    snapshot = object_store.observe(client)
    objects = Reconciliation(client, snapshot, fleet, settings, context)
    asked = request.of_pods
    pods = PodWork(client, asked.pod_form, asked.failure_policy, context)
    objects.observe()
    workloads = snapshot.workloads
    if asked.pods and fleet.agents:
        workloads = pods.declare(workloads, objects.views, dry=dry)
    objects.decide(workloads)
    return objects, pods


def _finish(objects: Reconciliation, pods: PodWork, asked: PodsRequest, context: RunContext) -> Obj:
    """Send what differs, and tell what came of it."""
    objects.converge()
    if not context.check_mode:
        objects.tell()
    offered = objects.offer() if asked.extended_resource else {}
    states = {entry.name: objects.states(entry) for entry in objects.declared}
    rows = pods.report(pods.failures(objects.declared, states)) if asked.pods else []
    result = make(objects, states, pods.decided, offered, rows)
    result["changed"] = objects.changed or pods.changed
    return result | show(objects, pods.decided, offered, context)


TASK = Task(RmdReconcileRequest, run)
