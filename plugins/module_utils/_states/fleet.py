# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of fleet_report: how a run over many clusters ended, as a table of clusters and recipes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._json import Obj, part
from .._runs.context import RunContext
from .._runs.task import Task
from .validation.table import aligned

_HEAD = ("CLUSTER", "RECIPE", "PHASE", "NODES", "MESSAGE")
_NONE = "-"


@dataclass(frozen=True)
class FleetReportRequest:
    """clusters: host -> what its tasks have registered, in order. require_ready: whether all has to
    be ready."""

    clusters: Mapping[str, Sequence[Mapping[str, Any]]]
    recipe: str = ""
    require_ready: bool = False


def run(request: FleetReportRequest, context: RunContext) -> Obj:
    """Rows and a table from the registered results of each cluster's tasks, and what is not as it
    should be."""
    recipe = request.recipe or _NONE
    rows = [
        row
        for cluster, results in request.clusters.items()
        for row in rows_of(
            cluster,
            recipe,
            results,
            require_ready=request.require_ready,
            check=context.check_mode,
        )
    ]
    messages: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["failed"]:
            messages[row["cluster"]].append(row["message"])
    table = aligned([_HEAD, *(_cells(row) for row in rows)])
    for line in table:
        context.notice(line)
    return {
        "changed": False,
        "rows": rows,
        "table": table,
        "problems": {cluster: "; ".join(texts) for cluster, texts in messages.items()},
    }


def rows_of(
    cluster: str,
    recipe: str,
    results: Sequence[Mapping[str, Any]],
    *,
    require_ready: bool,
    check: bool,
) -> list[Obj]:
    """A row for each recipe that the results tell of, and one for an error.

    results: what the tasks of one cluster have registered, in order. require_ready: whether all has
    to be ready; else what is unknown, but was proven before, is no failure, and neither is anything
    in check mode.
    """
    rows = []
    for result in results:
        reports = list(_reports(recipe, result))
        for name, report in reports:
            failed = not report["ready"] if require_ready else not (check or report["acceptable"])
            rows.append(_row(cluster, name, report, failed=failed))
        if not reports and (result.get("failed") or result.get("unreachable")):
            message = str(result.get("msg") or "the run failed")
            rows.append(_row(cluster, recipe, {"phase": "error", "message": message}, failed=True))
    if rows:
        return rows
    if not results:
        return [
            _row(
                cluster, recipe, {"phase": "error", "message": "the run said nothing"}, failed=True
            )
        ]
    message = "nothing is enabled" if require_ready else ""
    return [_row(cluster, recipe, {"phase": _NONE, "message": message}, failed=require_ready)]


def _reports(recipe: str, result: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The reports of validation in a task's result: its own, or one for each item of its loop."""
    if "phase" in part(result, "report"):
        yield recipe, result["report"]
    for entry in result.get("results") or ():
        if "phase" in entry:
            yield str(entry["item"]["name"]), entry


def _row(cluster: str, recipe: str, report: Mapping[str, Any], *, failed: bool) -> Obj:
    return {
        "cluster": cluster,
        "recipe": recipe,
        "phase": report["phase"],
        "nodes_ready": report.get("nodes_ready", 0),
        "nodes_total": report.get("nodes_total", 0),
        "message": report["message"],
        "failed": failed,
    }


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    nodes = f"{row['nodes_ready']}/{row['nodes_total']}" if row["nodes_total"] else _NONE
    message = "" if row["phase"] == "ready" else row["message"]
    return row["cluster"], row["recipe"], row["phase"], nodes, message


TASK = Task(FleetReportRequest, run)
