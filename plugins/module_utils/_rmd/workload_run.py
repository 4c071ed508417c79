# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of rmd_workload: make workloads run, or not run, on nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

from .._cluster.api_client.client import connect
from .._cluster.api_objects.diff import make_diff
from .._errors import EnablementError, InvalidInput
from .._json import Obj
from .._nodes.cpuset import parse_cores
from .._runs.context import RunContext
from .._runs.task import Task
from .daemon.daemons import select_nodes
from .node_backends import open_fleet
from .nodes.execute import each, execute, node_runs
from .nodes.node_results import (
    FAILED,
    ROLLBACK,
    ROLLED_BACK,
    WITHHELD,
    NodeJob,
    NodeReport,
    WriteSettings,
)
from .nodes.node_run import NodeRun
from .nodes.rules import senseless
from .workloads import PARTS, TEXTS, Workload

# Of one workload, whether it is given alone or in a list.
_OWN = ("uuid", "core_ids", *TEXTS, *PARTS)
# Nodes that an error names before it only counts them.
_NAMED = 5


def run(params: Mapping[str, Any], context: RunContext) -> Obj:
    """rmd_workload. Raises EnablementError with the nodes' results where one of them is not as it
    should be."""
    present, absent = _wanted(params)
    client = connect(params)
    nodes = select_nodes(client, params) or []
    settings = WriteSettings.of(params, check_mode=context.check_mode)
    with open_fleet(client, params, nodes) as fleet:
        runs = node_runs(client, fleet, nodes, settings, context)
        each(runs, lambda run: run.observe(required=bool(present)), settings)
        for run_of_node in runs:
            run_of_node.decide(NodeJob(present, absent))
        execute(runs, settings)
        kept = [each_run for each_run in runs if not (each_run.failed or each_run.has_work)]
        each(kept, NodeRun.prove_kept, settings)
        requests = fleet.requests
    reports = [each_run.report for each_run in runs]
    result: Obj = {
        "changed": any(report.changed for report in reports),
        "nodes": [report.describe() for report in reports],
        "requests": requests,
    }
    warnings = [f"node {report.node}: {text}" for report in reports for text in report.warnings]
    if warnings:
        result["warnings"] = warnings
    changed = [report for report in reports if report.changed]
    result |= context.show([make_diff(f"node {each.node}", *each.lines()) for each in changed])
    error = summary([report for report in reports if report.error], reports, settings)
    if error is not None:
        error.result = result
        raise error
    return result


def parse_workload(values: Mapping[str, Any]) -> Workload:
    """A workload from options of rmd_workload. Raises InvalidInput for core ids that are none."""
    said: Obj = {name: kind(**values[name]) for name, kind in PARTS.items() if values.get(name)}
    said |= {name: values[name] for name in TEXTS if values.get(name)}
    return Workload(values["uuid"], parse_cores(values.get("core_ids") or []), **said)


def summary(
    failed: Sequence[NodeReport], reports: Sequence[NodeReport], settings: WriteSettings
) -> Optional[EnablementError]:
    """One sentence for a run of which these nodes failed; None for none."""
    if not failed:
        return None
    first = failed[0].error or EnablementError("")
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
        return f"{sum(report.changed for report in others)} of the other nodes were changed and kept so"
    stuck = [report.node for report in failed if report.outcome == FAILED and report.changed]
    if any(report.outcome == ROLLED_BACK for report in (*failed, *others)):
        back = "all nodes were rolled back to what they were"
        return f"{back}, but for {', '.join(stuck[:_NAMED])}" if stuck else back
    if any(report.outcome == WITHHELD for report in others):
        return "nothing was written on the other nodes"
    return ""


def _wanted(params: Mapping[str, Any]) -> tuple[tuple[Workload, ...], tuple[str, ...]]:
    """(what should run, uuids that should not); raises InvalidInput for what is taken on no
    machine."""
    listed = params.get("workloads")
    alone = {name: params[name] for name in _OWN if params.get(name) is not None}
    if (listed is None) != ("uuid" in alone) or (listed is not None and alone):
        why, todo = (
            "there is either one workload or a list of them",
            "give uuid and its options, or workloads",
        )
        raise InvalidInput("Cannot tell which workloads are meant", why=why, todo=todo)
    if params.get("nodes") is None and not params.get("node_selector"):
        raise InvalidInput(
            "Cannot tell which nodes are meant",
            why="none are named",
            todo="give nodes or node_selector",
        )
    entries: Sequence[Mapping[str, Any]] = [alone] if listed is None else listed
    uuids = [str(entry["uuid"]) for entry in entries]
    if doubles := sorted({uuid for uuid in uuids if uuids.count(uuid) > 1}):
        raise InvalidInput(
            "Cannot ask for a workload twice", why=f"{', '.join(doubles)} is there more than once"
        )
    if params["state"] == "absent":
        return (), tuple(uuids)
    present = tuple(parse_workload(entry) for entry in entries)
    for workload in present:
        others = [other for other in present if other is not workload]
        found = senseless(workload, others)
        if found:
            why = "; ".join(problem.why for problem in found)
            raise InvalidInput(
                f"Cannot ask for workload {workload.uuid}", why=why, todo=found[0].todo
            )
    return present, ()


TASK = Task(None, run)
