# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a validation report to the status of a SpecialResource. Pure; times change only where
something else does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..._cluster.api_objects.object_conditions import condition
from ..._json import Obj
from ..._times import seconds

WORST_NODES = 10
WORST_CAUSES = 10
# As a kubelet does with a node's status: what did not change is confirmed now and then, not each
# time.
CONFIRM_AFTER_S = 3600.0

# Condition reasons by the report's phase: (Ready, Progressing, Degraded) as status and reason.
_CONDITIONS = {
    "ready": (("True", "AllNodesReady"), ("False", "Complete"), ("False", "AsExpected")),
    "waiting": (("False", "Waiting"), ("True", "Waiting"), ("False", "AsExpected")),
    "failed": (("False", "Failed"), ("False", "Stopped"), ("True", "ValidationFailed")),
    "degraded": (("False", "Degraded"), ("False", "Stopped"), ("True", "Regressed")),
    "blocked": (("False", "Blocked"), ("False", "Stopped"), ("True", "ValidationFailed")),
    "vanished": (("False", "NodesVanished"), ("False", "Stopped"), ("True", "NodesVanished")),
    "unknown": (("Unknown", "NotEvaluated"), ("False", "Stopped"), ("False", "AsExpected")),
    "empty": (("False", "NoNodes"), ("False", "Complete"), ("False", "AsExpected")),
}


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
    known_causes = {
        (row.get("state"), row.get("phase"), row.get("reason")): row
        for row in before.get("causes") or []
    }
    known_states = {row["name"]: row for row in before.get("states") or []}
    known_problems = {
        (row.get("node"), row.get("state")): row for row in before.get("problems") or []
    }
    states = [_keep_since(row, known_states.get(row["name"])) for row in report["states"]]
    problems = [
        _keep_since(row, known_problems.get((row["node"], row["state"])))
        for row in report["problems"][:WORST_NODES]
    ]
    causes = [
        _keep_since(row, known_causes.get((row["state"], row["phase"], row["reason"])))
        for row in report["causes"][:WORST_CAUSES]
    ]
    same_phase = before.get("phase") == report["phase"] and "phaseSince" in before
    status: Obj = {
        "phase": report["phase"],
        "phaseSince": before["phaseSince"] if same_phase else now,
        "message": report["message"],
        "observedGeneration": generation,
        "nodes": {
            "total": report["nodes_total"],
            "ready": report["nodes_ready"],
            "summary": f"{report['nodes_ready']}/{report['nodes_total']}",
        },
        "kernels": list(report["kernels"]),
        "kernelCount": len(report["kernels"]),
        "states": states,
        "causes": causes,
        "problems": problems,
    }
    if versions:
        status["versions"] = {name: version for name, version in versions.items() if version}
    if "lastChecked" in before:
        status["lastChecked"] = before["lastChecked"]
    if report["upgrades"]:
        status["upgrades"] = report["upgrades"][:WORST_NODES]
    if before.get("images"):
        # Not of validation: driver_container writes them.
        status["images"] = before["images"]
    if before.get("proven"):
        status["proven"] = before["proven"]
    status["conditions"] = _conditions(report, before, generation, now)
    return status


def with_proven(status: Obj, report: Mapping[str, Any], spec: Mapping[str, Any], now: str) -> Obj:
    """The status with what was asked for when all nodes were last proven with it: spec, where report
    says that they are now, else what was noted before.

    status: with what was noted before. now: an API timestamp.
    """
    if not report["ready"] or report["restarts_pending"] or report["upgrades"]:
        return status
    before = status.get("proven") or {}
    versions = status.get("versions") or {}
    found = {
        "options": spec.get("options") or {},
        "pools": spec.get("pools") or [],
        "images": status.get("images") or [],
        **{name: versions[name] for name in ("recipe", "driver") if name in versions},
    }
    known = {name: value for name, value in before.items() if name != "since"}
    return {**status, "proven": before if known == found else {**found, "since": now}}


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


def with_last_check(status: Mapping[str, Any], before: Mapping[str, Any], now: str) -> Obj:
    """The status with lastChecked as now, where something else in it is new or the time noted
    before is long ago.

    A run that finds everything as it was an hour ago or less has nothing to write.
    """
    noted = seconds(before.get("lastChecked"))
    if status == before and noted is not None and (seconds(now) or 0.0) - noted < CONFIRM_AFTER_S:
        return dict(status)
    return {**status, "lastChecked": now}


def _keep_since(row: Mapping[str, Any], known: Mapping[str, Any] | None) -> Obj:
    same = known is not None and all(known.get(key) == row.get(key) for key in ("phase", "reason"))
    if same and known is not None and known.get("since") and row.get("since"):
        return {**row, "since": known["since"]}
    return dict(row)


def _conditions(
    report: Mapping[str, Any], before: Mapping[str, Any], generation: int, now: str
) -> list[Obj]:
    kinds = zip(("Ready", "Progressing", "Degraded"), _CONDITIONS[report["phase"]], strict=True)
    return [
        condition(
            before.get("conditions") or [],
            kind,
            {"True": True, "False": False}.get(status),
            reason,
            report["message"],
            now=seconds(now) or 0.0,
            generation=generation,
        )
        for kind, (status, reason) in kinds
    ]
