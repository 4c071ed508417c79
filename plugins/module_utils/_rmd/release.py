# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of rmd_release: nothing on nodes and in the cluster is RMD's, waits for it, or counts on
it, any more.

It never fails for a daemon that is gone or broken: that may be why RMD is removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from .._cluster import batch
from .._cluster.api_client.client import Client, connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._cluster.api_objects.diff import make_diff
from .._errors import EnablementError
from .._json import Obj, elements, part
from .._runs.context import RunContext
from .._runs.guard import Guard, given_back
from .._runs.task import Task
from .node_backends import DaemonsRequest, open_fleet
from .nodes.execute import each, execute, node_runs
from .nodes.node_results import KEEP, NodeJob, NodeReport, WriteSettings
from .nodes.node_run import NodeRun
from .objects import capacity, object_store
from .objects.node_state import is_ours
from .objects.operator_names import CONFIG, FINALIZER, NODE_STATE, WORKLOAD
from .objects.workload_state import REMOVED, removed_status
from .rmd_product import RECIPE


@dataclass(frozen=True)
class _Leftovers:
    """What RMD has left in the cluster's objects: finalizers, amounts on nodes, RmdNodeStates, and
    statuses that say that something is divided."""

    held: list[Obj]
    withdrawn: list[tuple[Obj, Obj]]
    states: list[Obj]
    statuses: list[tuple[Obj, Obj]]
    config: list[tuple[Obj, Obj]]

    @property
    def is_there(self) -> bool:
        """Whether there are any."""
        return any(vars(self).values())


@dataclass(frozen=True)
class RmdReleaseRequest:
    """What rmd_release is to do. parallel: nodes at once. free: also take all workloads off the
    nodes that answer."""

    connection: ConnectionRequest
    daemons: DaemonsRequest
    run_id: Optional[str]
    parallel: int
    free: bool


def run(request: RmdReleaseRequest, context: RunContext) -> Obj:
    """rmd_release: no workload runs, our finalizer off all RmdWorkloads, no cache ways on nodes, no
    RmdNodeStates, and nothing that says Ready."""
    client = connect(request.connection)
    freed, problems = _free(client, request, context) if request.free else ({}, [])
    left = _leftovers(client, context)
    result: Obj = {
        "changed": bool(freed) or left.is_there,
        "freed": freed,
        "problems": problems,
        "workloads": sorted(_title(workload["metadata"]) for workload in left.held),
        "nodes": sorted(node["metadata"]["name"] for node, _body in left.withdrawn),
        "node_states": sorted(_title(metadata) for metadata in left.states),
    }
    if left.is_there and not context.check_mode:
        with given_back(client, RECIPE, context):
            Guard(client, RECIPE, context).before_write()
            batch.write_statuses(client, WORKLOAD, left.statuses)
            batch.write_statuses(client, CONFIG, left.config)
            batch.set_finalizer(client, WORKLOAD, left.held, FINALIZER, held=False)
            batch.merge_statuses(client, object_store.NODE, left.withdrawn)
            _delete(client, left.states)
    return {**result, **context.show([make_diff("what is given back", _released(result), ())])}


def _leftovers(client: Client, context: RunContext) -> _Leftovers:
    found = object_store.observe(client)
    return _Leftovers(
        held=[workload for workload in found.workloads if _has_finalizer(workload)],
        withdrawn=[
            (node, body)
            for node in found.nodes.values()
            if (body := capacity.patch(node, None)) is not None
        ],
        states=[state["metadata"] for state in found.node_states.values() if is_ours(state)],
        statuses=_statuses(found.workloads, context),
        config=_config_status(found.config, context),
    )


def _statuses(workloads: Sequence[Obj], context: RunContext) -> list[tuple[Obj, Obj]]:
    """What RmdWorkloads that say something have to say from now on."""
    now = context.clock()
    wanted = [
        (obj, removed_status(obj["status"], int(obj["metadata"].get("generation") or 0), now))
        for obj in workloads
        if obj.get("status")
    ]
    return [(obj, status) for obj, status in wanted if obj["status"] != status]


def _config_status(config: Obj, context: RunContext) -> list[tuple[Obj, Obj]]:
    before = part(config, "status")
    if not before:
        return []
    status = object_store.config_status(config, (), REMOVED, context.clock())
    return [(config, status)] if status != before else []


def _delete(client: Client, states: Sequence[Obj]) -> None:
    for metadata in states:
        client.delete(NODE_STATE, metadata["name"], metadata["namespace"])


def _has_finalizer(workload: Obj) -> bool:
    return FINALIZER in elements(workload["metadata"], "finalizers")


def _released(result: Obj) -> Iterator[str]:
    """What goes, a line each."""
    for node, uuids in result["freed"].items():
        yield from (f"Node {node}: workload {uuid}" for uuid in uuids)
    yield from (f"RmdWorkload {name}: finalizer {FINALIZER}" for name in result["workloads"])
    yield from (f"Node {name}: intel.com/l3_cache_ways" for name in result["nodes"])
    yield from (f"RmdNodeState {name}" for name in result["node_states"])


def _free(
    client: Client, request: RmdReleaseRequest, context: RunContext
) -> tuple[dict[str, list[str]], list[str]]:
    """Take all workloads off all nodes that answer; (node -> uuids that went, why others did not)."""
    settings = WriteSettings(
        on_partial_failure=KEEP, parallel=request.parallel, check_mode=context.check_mode
    )
    try:
        with open_fleet(client, request.daemons) as fleet:
            runs = node_runs(client, fleet, fleet.writers, settings, context)
            _remove_all(runs, settings)
    except EnablementError as error:
        return {}, [str(error)]
    reports = [run.report for run in runs]
    problems = [str(report.fate.error) for report in reports if report.fate.error]
    freed = {report.node: _removed(report) for report in reports}
    return {node: uuids for node, uuids in freed.items() if uuids}, problems


def _remove_all(runs: Sequence[NodeRun], settings: WriteSettings) -> None:
    """Whatever runs on these nodes, whoever made it."""
    each(runs, lambda run: run.observe(required=False), settings)
    for run in runs:
        there = run.snapshot.running if run.snapshot else ()
        run.decide(NodeJob(absent=[found.uuid for found in there if found.uuid]))
    execute([run for run in runs if run.job.absent], settings)


def _removed(report: NodeReport) -> list[str]:
    """The uuids that went."""
    return [write.uuid for write in report.writes if write.action == "delete" and not write.problem]


def _title(metadata: Mapping[str, Any]) -> str:
    return f"{metadata['namespace']}/{metadata['name']}"


TASK = Task(RmdReleaseRequest, run)
