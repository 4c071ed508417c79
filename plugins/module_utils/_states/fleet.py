# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of fleet_report: how a run over clusters ended, as a table of clusters and recipes, as a page
with its data, and as a file of metrics."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from .._errors import InvalidInput
from .._json import Obj, elements, part
from .._runs.context import RunContext
from .._runs.junit import to_xml
from .._runs.report_file import write_whole
from .._runs.task import Task
from .._times import timestamp
from .page import junit_report, page, page_data
from .record import openmetrics
from .validation.table import aligned

_HEAD = ("CLUSTER", "RECIPE", "PHASE", "NODES", "MESSAGE")
_NONE = "-"


@dataclass(frozen=True)
class FleetReportRequest:
    """clusters: host -> what its tasks have registered, in order. require_ready: whether all has to
    be ready. page, metrics, junit: files to write. show: whether a person is shown the table."""

    clusters: Mapping[str, Sequence[Mapping[str, Any]]]
    recipe: str = ""
    require_ready: bool = False
    page: Optional[str] = None
    metrics: Optional[str] = None
    junit: Optional[str] = None
    show: bool = True


def run(request: FleetReportRequest, context: RunContext) -> Obj:
    """Rows and a table from the registered results of each cluster's tasks, and what is not as it
    should be. Raises InvalidInput where a file cannot be written."""
    recipe = request.recipe or _NONE
    found = [
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
    rows = [row for row, _report in found]
    table = aligned([_HEAD, *(_cells(row) for row in rows)])
    for line in table if request.show else ():
        context.notice(line)
    if request.page or request.metrics:
        _write_files(request, recipe, timestamp(context.clock()))
    if request.junit:
        _write(request.junit, _to_junit(found))
    return {
        "changed": False,
        "rows": rows,
        "table": table,
        "problems": _problems(rows),
    }


def _problems(rows: Sequence[Obj]) -> dict[str, str]:
    """Cluster -> what is wrong with it, of those that have something."""
    messages: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["failed"]:
            messages[row["cluster"]].append(row["message"])
    return {cluster: "; ".join(texts) for cluster, texts in messages.items()}


def _to_junit(found: Sequence[tuple[Obj, Mapping[str, Any]]]) -> str:
    """The text of a file. found: the rows, each with its report."""
    suites = {
        f"{row['cluster']}.{row['recipe']}": list(junit_report.cases_of(row, report))
        for row, report in found
    }
    return to_xml(suites)


def _write_files(request: FleetReportRequest, recipe: str, now: str) -> None:
    """The page with its data beside it, and the metrics: of these, what is asked for."""
    reports = {
        cluster: [each for result in results for each in _reports(recipe, result)]
        for cluster, results in request.clusters.items()
    }
    if request.page:
        beside = Path(request.page).with_suffix(".json")
        if beside == Path(request.page):
            raise InvalidInput(
                "The report cannot be written",
                where=request.page,
                why="its data would overwrite it, since they have the ending .json",
                todo="give it another ending, such as .html",
            )
        data = page_data.page_data(
            [
                page_data.cluster_data(cluster, results, reports[cluster])
                for cluster, results in request.clusters.items()
            ],
            now,
        )
        _write(request.page, page.render(data))
        _write(str(beside), json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    if request.metrics:
        records = [
            (cluster, report["record"])
            for cluster, entries in reports.items()
            for _name, report in dict(entries).items()
            if report.get("record")
        ]
        _write(request.metrics, openmetrics.to_text(records))


def _write(path: str, text: str) -> None:
    write_whole("The report", path, text.encode())


def rows_of(
    cluster: str,
    recipe: str,
    results: Sequence[Mapping[str, Any]],
    *,
    require_ready: bool,
    check: bool,
) -> list[tuple[Obj, Mapping[str, Any]]]:
    """A row for each recipe that the results tell of, with the report that says so, and one for an error,
    with none.

    results: what the tasks of one cluster have registered, in order. require_ready: whether all has
    to be ready; else what is unknown, but was proven before, is no failure, and neither is anything
    in check mode.
    """
    rows: list[tuple[Obj, Mapping[str, Any]]] = []
    for result in results:
        reports = [*_reports(recipe, result), *_checks(result)]
        for name, report in reports:
            failed = not report["ready"] if require_ready else not (check or report["acceptable"])
            rows.append((_row(cluster, name, report, failed=failed), report))
        message = page_data.failure_of(result)
        if not reports and message:
            rows.append((_row(cluster, recipe, _error(message), failed=True), {}))
    if rows:
        return rows
    if not results:
        return [(_row(cluster, recipe, _error("the run said nothing"), failed=True), {})]
    message = "nothing is enabled" if require_ready else ""
    nothing = {"phase": _NONE, "message": message}
    return [(_row(cluster, recipe, nothing, failed=require_ready), {})]


def _error(message: str) -> Obj:
    return {"phase": "error", "message": message}


def _reports(recipe: str, result: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The reports of validation in a task's result: its own, or one for each item of its loop."""
    if "phase" in part(result, "report"):
        yield recipe, result["report"]
    for entry in elements(result, "results"):
        if "phase" in entry:
            yield str(entry["item"]["name"]), entry


def _checks(result: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What checks of NUMA-aware scheduling have found, where none of it is a failure."""
    if "findings" in result and not page_data.failure_of(result):
        nodes, wrong = len(result["nodes"]), {each["node"] for each in result["findings"]}
        yield (
            "numa",
            {
                "phase": "ready",
                "ready": True,
                "acceptable": True,
                "nodes_total": nodes,
                "nodes_ready": nodes - len(wrong - {""}),
                "message": result["table"][0],
            },
        )


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
