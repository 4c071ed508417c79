# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of rmd_workload: make workloads run, or not run, on nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Optional

from .._cluster.api_client.client import connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._cluster.api_objects.diff import make_diff
from .._errors import EnablementError, InvalidInput
from .._json import Obj
from .._nodes.cpuset import parse_cores
from .._runs.context import RunContext
from .._runs.task import Task
from .._schema.requests import ParameterGroup
from .node_backends import DaemonsRequest, NodeChoice, open_fleet, select_nodes
from .nodes.execute import each, execute, node_runs
from .nodes.node_machine import Dialect
from .nodes.node_results import (
    ROLLBACK,
    ROLLED_BACK,
    WITHHELD,
    NodeJob,
    NodeReport,
    WriteRequest,
    WriteSettings,
)
from .nodes.node_run import NodeRun
from .nodes.rules import senseless
from .workloads import Cache, Mba, Pstate, Workload


@dataclass(frozen=True)
class WorkloadOptions(ParameterGroup):
    """What is said of a workload beside its uuid."""

    core_ids: Optional[Sequence[str]] = None
    policy: Optional[str] = None
    cache: Optional[Cache] = None
    mba: Optional[Mba] = None
    pstate: Optional[Pstate] = None


@dataclass(frozen=True)
class WorkloadItem:
    """A workload as it is given, alone or in a list."""

    uuid: str
    options: WorkloadOptions

    def to_workload(self) -> Workload:
        """What is wanted. Raises InvalidInput for core ids that are none."""
        options = self.options
        return Workload(
            self.uuid,
            parse_cores(options.core_ids or []),
            policy=options.policy or "",
            cache=options.cache,
            mba=options.mba,
            pstate=options.pstate,
        )


@dataclass(frozen=True)
class WorkloadsRequest(ParameterGroup):
    """Whether workloads should run, and which: one, by uuid and options, or a list of them."""

    state: Literal["present", "absent"]
    uuid: Optional[str]
    options: WorkloadOptions
    workloads: Optional[tuple[WorkloadItem, ...]]

    def named(self) -> Sequence[WorkloadItem]:
        """The one workload, or the list. Raises InvalidInput for both, or neither."""
        is_one = self.uuid is not None or self.options != WorkloadOptions()
        if self.workloads is not None and not is_one:
            return self.workloads
        if self.workloads is None and self.uuid is not None:
            return [WorkloadItem(self.uuid, self.options)]
        raise InvalidInput(
            "Cannot tell which workloads are meant",
            why="there is either one workload or a list of them",
            todo="give uuid and its options, or workloads",
        )


@dataclass(frozen=True)
class RmdWorkloadRequest:
    """What rmd_workload is to do, where and how."""

    connection: ConnectionRequest
    daemons: DaemonsRequest
    chosen: NodeChoice
    asked: WorkloadsRequest
    writing: WriteRequest
    run_id: Optional[str]
    dialect: Literal["auto", "v0.2", "v0.3"]

    @property
    def given_dialect(self) -> Optional[Dialect]:
        """None where the daemons tell it."""
        return None if self.dialect == "auto" else Dialect(self.dialect)

    def job(self) -> NodeJob:
        """What should run on each node, and what should not. Raises InvalidInput for what is taken
        on no machine."""
        named = self.asked.named()
        if self.chosen.nodes is None and not self.chosen.node_selector:
            raise InvalidInput(
                "Cannot tell which nodes are meant",
                why="none are named",
                todo="give nodes or node_selector",
            )
        uuids = tuple(workload.uuid for workload in named)
        _refuse_doubles(uuids)
        if self.asked.state == "absent":
            return NodeJob(absent=uuids)
        present = tuple(workload.to_workload() for workload in named)
        _refuse_senseless(present)
        return NodeJob(present)


def _refuse_doubles(uuids: Sequence[str]) -> None:
    """Raises InvalidInput where a uuid is given more than once."""
    if doubles := sorted({uuid for uuid in uuids if uuids.count(uuid) > 1}):
        raise InvalidInput(
            "Cannot ask for a workload twice", why=f"{', '.join(doubles)} is there more than once"
        )


def _refuse_senseless(present: Sequence[Workload]) -> None:
    """Raises InvalidInput for the first workload that neither RMD nor the kernel would take."""
    for workload in present:
        others = [other for other in present if other is not workload]
        found = senseless(workload, others)
        if found:
            why = "; ".join(problem.why for problem in found)
            raise InvalidInput(
                f"Cannot ask for workload {workload.uuid}", why=why, todo=found[0].todo
            )


# Nodes that an error names before it only counts them.
_NAMED = 5


def run(request: RmdWorkloadRequest, context: RunContext) -> Obj:
    """rmd_workload. Raises EnablementError with the nodes' results where one of them is not as it
    should be."""
    job = request.job()
    client = connect(request.connection)
    nodes = select_nodes(client, request.chosen) or []
    settings = WriteSettings.of(request.writing, check_mode=context.check_mode)
    with open_fleet(client, request.daemons, nodes, dialect=request.given_dialect) as fleet:
        runs = node_runs(client, fleet, nodes, settings, context)
        _converge(runs, job, settings)
        requests = fleet.requests
    reports = [run_of_node.report for run_of_node in runs]
    result = _result(reports, requests, context)
    error = summary([report for report in reports if report.fate.error], reports, settings)
    if error is not None:
        error.result = result
        raise error
    return result


def _converge(runs: Sequence[NodeRun], job: NodeJob, settings: WriteSettings) -> None:
    """See what runs on the nodes, send what differs, and prove what needs nothing to be sent."""
    each(runs, lambda run: run.observe(required=bool(job.present)), settings)
    for run_of_node in runs:
        run_of_node.decide(job)
    execute(runs, settings)
    kept = [run_of_node for run_of_node in runs if not (run_of_node.failed or run_of_node.has_work)]
    each(kept, NodeRun.prove_kept, settings)


def _result(reports: Sequence[NodeReport], requests: Mapping[str, int], context: RunContext) -> Obj:
    """What the task returns, whether it fails or not."""
    result: Obj = {
        "changed": any(report.fate.changed for report in reports),
        "nodes": [report.describe() for report in reports],
        "requests": requests,
    }
    warnings = [f"node {report.node}: {text}" for report in reports for text in report.warnings]
    if warnings:
        result["warnings"] = warnings
    changed = [report for report in reports if report.fate.changed]
    return result | context.show(
        [make_diff(f"node {report.node}", *report.lines()) for report in changed]
    )


def summary(
    failed: Sequence[NodeReport], reports: Sequence[NodeReport], settings: WriteSettings
) -> Optional[EnablementError]:
    """One sentence for a run of which these nodes failed; None for none."""
    if not failed:
        return None
    first = failed[0].fate.error or EnablementError("")
    names = ", ".join(report.node for report in failed[:_NAMED])
    names += f" and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
    what = f"The workloads are not as they should be on {len(failed)} of {len(reports)} nodes ({names})"
    why = (
        f"{first.what} ({first.where}): {first.why}"
        if first.where
        else f"{first.what}: {first.why}"
    )
    others = [report for report in reports if report not in failed]
    fate = _fate(failed, others, settings)
    return EnablementError(what, why=f"{why}; {fate}" if fate else why, todo=first.todo)


def _fate(
    failed: Sequence[NodeReport], others: Sequence[NodeReport], settings: WriteSettings
) -> str:
    """What became of the nodes."""
    if settings.check_mode:
        return "nothing was written"
    if settings.on_partial_failure != ROLLBACK:
        return f"{sum(report.fate.changed for report in others)} of the other nodes were changed and kept so"
    outcomes = {report.fate.outcome for report in others}
    if ROLLED_BACK in outcomes or any(report.fate.outcome == ROLLED_BACK for report in failed):
        stuck = [report.node for report in failed if report.fate.is_stuck]
        back = "all nodes were rolled back to what they were"
        return f"{back}, but for {', '.join(stuck[:_NAMED])}" if stuck else back
    return "nothing was written on the other nodes" if WITHHELD in outcomes else ""


TASK = Task(RmdWorkloadRequest, run)
