# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the page about clusters says, as data: from what the tasks of each cluster have registered. Its
form is docs/admin/report.schema.json. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._json import Obj, elements, part

# Of the form: a field that goes, or means something else, makes it 2.
VERSION = 1

# What a report has that the page shows as it is.
_OF_REPORT = (
    *("phase", "ready", "message", "nodes_total", "nodes_ready", "kernels", "causes", "problems"),
    *(
        "restarts_pending",
        "unwanted",
        "left",
        "leaving",
        "rivals",
        "unfinished",
        "upgrades",
        "drift",
        "outdated",
    ),
)
_OF_EXCHANGE = ("plan", "done", "postponed", "quarantined", "stopped", "rollback")

Result = Mapping[str, Any]
Reports = Sequence[tuple[str, Mapping[str, Any]]]


def cluster_data(name: str, results: Sequence[Result], reports: Reports) -> Obj:
    """One cluster. results: of its tasks, in order. reports: those of validation among them, each with
    its recipe; of a recipe the last one counts."""
    failures = list(filter(None, map(failure_of, results)))
    latest = dict(reports)
    return {
        "name": name,
        "host": next((str(each["host"]) for each in results if "uid" in each), ""),
        # What failed although there is no report that says so.
        "error": failures[-1]
        if failures and all(each["ready"] for each in latest.values())
        else "",
        "resources": [_resource(recipe, report) for recipe, report in latest.items()],
        "exchange": _exchange(results),
        "checks": _checks(results),
    }


def failure_of(result: Result) -> str:
    """Why a task has failed; empty where it has not. Checks that were made have not, so that no failed task
    carries all that they found: the play stops after them, with their sentence."""
    has_failed = result.get("failed") or result.get("unreachable")
    if has_failed or ("findings" in result and "msg" in result):
        return str(result.get("msg") or "the run failed")
    return ""


def page_data(clusters: Sequence[Obj], made: str) -> Obj:
    """All of it; made: an API timestamp."""
    return {"version": VERSION, "made": made, "clusters": list(clusters)}


def _resource(name: str, report: Mapping[str, Any]) -> Obj:
    record = part(report, "record")
    spec, status = part(record, "spec"), part(record, "status")
    graph = part(report, "graph")
    return {
        "name": name,
        "recipe": spec.get("recipe") or name,
        "namespace": spec.get("namespace") or "",
        **{key: report.get(key) for key in _OF_REPORT},
        "states": [
            {**row, "requires": graph.get(row["name"], [])} for row in elements(report, "states")
        ],
        "nodes": part(report, "nodes"),
        "since": status.get("phaseSince") or "",
        "last_run": status.get("lastChecked") or "",
        "put_back": part(status, "drift"),
        "versions": part(status, "versions"),
        "images": elements(status, "images"),
        "options": part(spec, "options"),
        "secret_options": elements(spec, "secretOptions"),
        "pools": elements(spec, "pools"),
    }


def _exchange(results: Sequence[Result]) -> Obj:
    """What an upgrade did, or would do; empty where there was none."""
    found = next((each for each in reversed(results) if "plan" in each and "done" in each), {})
    return {key: found[key] for key in _OF_EXCHANGE if key in found}


def _checks(results: Sequence[Result]) -> Obj:
    """What checks of NUMA-aware scheduling have found; empty where there were none."""
    found = next((each for each in reversed(results) if "findings" in each), {})
    return {key: found[key] for key in ("summary", "findings") if key in found}
