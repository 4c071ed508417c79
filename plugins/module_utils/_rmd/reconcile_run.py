# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of rmd_reconcile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._cluster.api_client.client import Client, connect
from .._json import Obj
from .._runs.context import RunContext
from .._runs.guard import Guard, given_back
from .._runs.task import Task
from . import reconcile_results
from .node_backends import open_fleet
from .nodes.node_fleet import Fleet
from .nodes.node_results import WriteSettings
from .objects import object_store
from .objects.operator_crds import ensure_definitions
from .objects.operator_names import WORKLOAD
from .objects.reconcile import Reconciliation
from .pods.pod_work import PodWork
from .rmd_rights import RECIPE


def run(params: Mapping[str, Any], context: RunContext) -> Obj:
    """Make RMD on all nodes equal to the RmdWorkload objects."""
    client = connect(params)
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
    with open_fleet(client, params, None) as fleet:
        objects, pods = _observe(client, fleet, params, context, dry=True)
        if (objects.has_work or pods.changed) and not context.check_mode:
            # The lock is the deployment's, too: daemons are not replaced or removed meanwhile.
            with given_back(client, RECIPE, context):
                Guard(client, RECIPE, context).before_write(float(params["lock_wait"]))
                objects, pods = _observe(client, fleet, params, context, dry=False)
                result = _finish(objects, pods, params, context)
        else:
            result = _finish(objects, pods, params, context)
        result["requests"] = fleet.requests
    result["changed"] = result["changed"] or defined
    must_be_ready = params["require_ready"] and not context.check_mode
    return reconcile_results.judged(result) if must_be_ready else result


def _observe(
    client: Client, fleet: Fleet, params: Mapping[str, Any], context: RunContext, *, dry: bool
) -> tuple[Reconciliation, PodWork]:
    """See what is declared, what pods ask for (writing that unless dry) and what runs; decide what
    to send."""
    settings = WriteSettings.of(params, check_mode=context.check_mode)
    snapshot = object_store.observe(client)
    objects = Reconciliation(client, snapshot, fleet, settings, context)
    pods = PodWork(client, params["pod_form"], params["failure_policy"], context)
    objects.observe()
    workloads = snapshot.workloads
    if params["pods"] and fleet.agents:
        workloads = pods.declare(workloads, objects.views, dry=dry)
    objects.decide(workloads)
    return objects, pods


def _finish(
    objects: Reconciliation, pods: PodWork, params: Mapping[str, Any], context: RunContext
) -> Obj:
    """Send what differs, and tell what came of it."""
    objects.converge()
    if not context.check_mode:
        objects.tell()
    offered = objects.offer() if params["extended_resource"] else {}
    states = {entry.name: objects.states(entry) for entry in objects.declared}
    rows = pods.report(pods.failures(objects.declared, states)) if params["pods"] else []
    result = reconcile_results.make(objects, states, pods.decided, offered, rows)
    result["changed"] = objects.changed or pods.changed
    return result | reconcile_results.show(objects, pods.decided, offered, context)


TASK = Task(None, run)
