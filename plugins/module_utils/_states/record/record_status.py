# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a validation report to the status of a SpecialResource. Pure; times change only where
something else does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..._cluster.api_objects.object_conditions import condition
from ..._json import Obj, elements, part
from ..._times import seconds

WORST_NODES = 10
WORST_CAUSES = 10
# As a kubelet does with a node's status: what did not change is confirmed now and then, not each
# time.
CONFIRM_AFTER_S = 3600.0

# What validation does not say, and leaves as it is: driver_container writes the images.
LAST_CHECK, LAST_RUN_S = "lastChecked", "lastRunSeconds"
_KEPT = (LAST_CHECK, LAST_RUN_S, "images", "proven", "drift")
# What a row says of how things are, and not in which words.
_PLACE = ("phase", "reason")

# Condition reasons by the report's phase: (Ready, Progressing, Degraded) as status and reason.
_CONDITIONS = {
    "ready": (("True", "AllNodesReady"), ("False", "Complete"), ("False", "AsExpected")),
    "waiting": (("False", "Waiting"), ("True", "Waiting"), ("False", "AsExpected")),
    "failed": (("False", "Failed"), ("False", "Stopped"), ("True", "ValidationFailed")),
    "degraded": (("False", "Degraded"), ("False", "Stopped"), ("True", "Regressed")),
    "blocked": (("False", "Blocked"), ("False", "Stopped"), ("True", "ValidationFailed")),
    "vanished": (("False", "NodesVanished"), ("False", "Stopped"), ("True", "NodesVanished")),
    "starting": (("False", "NodesStarting"), ("True", "NodesStarting"), ("False", "AsExpected")),
    "leaving": (("False", "NodesLeaving"), ("False", "Stopped"), ("False", "AsExpected")),
    "drifted": (("False", "Drifted"), ("False", "Stopped"), ("True", "Drifted")),
    "unknown": (("Unknown", "NotEvaluated"), ("False", "Stopped"), ("False", "AsExpected")),
    "empty": (("False", "NoNodes"), ("False", "Complete"), ("False", "AsExpected")),
}


# Every phase of the whole.
PHASES = tuple(_CONDITIONS)


def make_status(
    report: Mapping[str, Any],
    before: Mapping[str, Any],
    generation: int,
    now: str,
    versions: Mapping[str, str] | None = None,
) -> Obj:
    """The new status: report is state_validate's result, before the status as it stands, now an API
    timestamp.

    States, causes and problems keep their "since", and conditions their lastTransitionTime, while
    phase and reason stay; lastChecked is what it was, see with_last_look. versions: {collection,
    recipe, driver}.
    """
    status: Obj = {
        "phase": report["phase"],
        "phaseSince": _phase_since(report, before, now),
        "message": report["message"],
        "observedGeneration": generation,
        "nodes": {
            "total": report["nodes_total"],
            "ready": report["nodes_ready"],
            "restartsPending": len(report["restarts_pending"]),
            "summary": f"{report['nodes_ready']}/{report['nodes_total']}",
        },
        "kernels": list(report["kernels"]),
        "kernelCount": len(report["kernels"]),
        "states": _with_since(report["states"], before.get("states"), ("name",)),
        "causes": _with_since(
            report["causes"][:WORST_CAUSES], before.get("causes"), ("state", "phase", "reason")
        ),
        "problems": _with_since(
            report["problems"][:WORST_NODES], before.get("problems"), ("node", "state")
        ),
        "conditions": _conditions(report, before, generation, now),
        **{name: before[name] for name in _KEPT if before.get(name)},
    }
    if versions:
        status["versions"] = {name: version for name, version in versions.items() if version}
    if report.get("drift"):
        status["drift"] = _put_back(report["drift"], now)
    if report["upgrades"]:
        status["upgrades"] = report["upgrades"][:WORST_NODES]
    return status


def _put_back(rows: Sequence[Mapping[str, Any]], now: str) -> Obj:
    """What a run has put back; it stays in the record until another run puts something back."""
    keys = ("object", "drift", "fields", "by", "since")
    named = [{key: row[key] for key in keys if row[key]} for row in rows[:WORST_NODES]]
    return {"seen": now, "count": len(rows), "objects": named}


def with_proven(status: Obj, report: Mapping[str, Any], spec: Mapping[str, Any], now: str) -> Obj:
    """The status with what was asked for when all nodes were last proven with it: spec, where report
    says that they are now, else what was noted before.

    status: with what was noted before. now: an API timestamp.
    """
    pending = any(row["way"] != row["wanted"] for row in report["allocation"])
    if not report["ready"] or report["restarts_pending"] or report["upgrades"] or pending:
        return status
    before = part(status, "proven")
    found = _asked_for(status, spec)
    if found == {name: value for name, value in before.items() if name != "since"}:
        return {**status, "proven": before}
    return {**status, "proven": {**found, "since": now}}


def _asked_for(status: Obj, spec: Mapping[str, Any]) -> Obj:
    """What a rollback would ask for again."""
    versions = part(status, "versions")
    return {
        "options": part(spec, "options"),
        "pools": elements(spec, "pools"),
        "images": elements(status, "images"),
        **{name: versions[name] for name in ("recipe", "driver") if name in versions},
    }


def in_public(report: Any, masked: Callable[[str], str]) -> Any:
    """The report as anybody may read it: masked takes secrets out of messages, which quote logs and
    the API server."""
    if isinstance(report, Mapping):
        return {
            key: masked(value)
            if key == "message" and isinstance(value, str)
            else in_public(value, masked)
            for key, value in report.items()
        }
    return [in_public(item, masked) for item in report] if isinstance(report, list) else report


def with_last_check(
    status: Mapping[str, Any], before: Mapping[str, Any], now: str, took_s: float | None = None
) -> Obj:
    """The status with lastChecked as now, where something else in it is new or the time noted
    before is long ago; then with how long this run took, too, as far as that is known (took_s).

    A run that finds everything as it was an hour ago or less has nothing to write.
    """
    noted = seconds(before.get(LAST_CHECK))
    if status == before and noted is not None and (seconds(now) or 0.0) - noted < CONFIRM_AFTER_S:
        return dict(status)
    # Whole seconds, and one at least: what is empty is not kept.
    took = {} if took_s is None else {LAST_RUN_S: max(1, int(took_s))}
    rest = {name: value for name, value in status.items() if name != LAST_RUN_S}
    return {**rest, LAST_CHECK: now, **took}


def _phase_since(report: Mapping[str, Any], before: Mapping[str, Any], now: str) -> str:
    """When the resource came into its phase."""
    if before.get("phase") == report["phase"] and "phaseSince" in before:
        return str(before["phaseSince"])
    return now


def _with_since(
    rows: Iterable[Mapping[str, Any]],
    before: Iterable[Mapping[str, Any]] | None,
    identity: Sequence[str],
) -> list[Obj]:
    """Rows with the time since when they are so: of what was known before, by the fields that make a
    row the same."""
    known = {_fields(row, identity): row for row in before or ()}
    return [_keep_since(row, known.get(_fields(row, identity))) for row in rows]


def _fields(row: Mapping[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(map(row.get, names))


def _keep_since(row: Mapping[str, Any], known: Mapping[str, Any] | None) -> Obj:
    """A row as it was known, while phase and reason stay."""
    if known is None or _fields(known, _PLACE) != _fields(row, _PLACE):
        return dict(row)
    if known.get("since") and row.get("since"):
        return {**row, "since": known["since"]}
    return dict(row)


def _conditions(
    report: Mapping[str, Any], before: Mapping[str, Any], generation: int, now: str
) -> list[Obj]:
    kinds = zip(("Ready", "Progressing", "Degraded"), _CONDITIONS[report["phase"]], strict=True)
    return [
        condition(
            elements(before, "conditions"),
            kind,
            {"True": True, "False": False}.get(status),
            reason,
            report["message"],
            now=seconds(now) or 0.0,
            generation=generation,
        )
        for kind, (status, reason) in kinds
    ]
