# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of rmd_workload: make workloads run, or not run, on nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional

from .._cluster.api_client.client import connect
from .._cluster.api_objects.diff import make_diff
from .._errors import EnablementError
from .._json import Obj
from .._runs.context import RunContext
from .._runs.task import Task
from .daemon.daemons import select_nodes
from .node_backends import open_fleet
from .nodes.execute import each, execute, node_runs
from .nodes.node_results import (
    ROLLBACK,
    ROLLED_BACK,
    WITHHELD,
    NodeJob,
    NodeReport,
    WriteSettings,
)
from .nodes.node_run import NodeRun
from .workload_request import RmdWorkloadRequest

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
