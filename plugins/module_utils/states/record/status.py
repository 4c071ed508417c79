# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a validation report to the status of a SpecialResource. Pure; times change only where something else does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Obj = dict[str, Any]

WORST_NODES = 10

# Condition reasons by the report's phase: (Ready, Progressing, Degraded) as status and reason.
_CONDITIONS = {
    "ready": (("True", "AllNodesReady"), ("False", "Complete"), ("False", "AsExpected")),
    "waiting": (("False", "Waiting"), ("True", "Waiting"), ("False", "AsExpected")),
    "failed": (("False", "Failed"), ("False", "Stopped"), ("True", "ValidationFailed")),
    "degraded": (("False", "Degraded"), ("False", "Stopped"), ("True", "Regressed")),
    "blocked": (("False", "Blocked"), ("False", "Stopped"), ("True", "ValidationFailed")),
    "unknown": (("Unknown", "NotEvaluated"), ("False", "Stopped"), ("False", "AsExpected")),
    "empty": (("False", "NoNodes"), ("False", "Complete"), ("False", "AsExpected")),
}


def make_status(report: Mapping[str, Any], before: Mapping[str, Any], generation: int, now: str) -> Obj:
    """The new status: report is state_validate's result, before the status as it stands, now an API timestamp.

    States and problems keep their "since", and conditions their lastTransitionTime, while phase and reason stay.
    """
    known_states = {row["name"]: row for row in before.get("states") or []}
    known_problems = {(row.get("node"), row.get("state")): row for row in before.get("problems") or []}
    states = [_keep_since(row, known_states.get(row["name"])) for row in report["states"]]
    problems = [
        _keep_since(row, known_problems.get((row["node"], row["state"]))) for row in report["problems"][:WORST_NODES]
    ]
    status: Obj = {
        "phase": report["phase"],
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
        "problems": problems,
    }
    if before.get("images"):
        # Not of validation: driver_container writes them.
        status["images"] = before["images"]
    status["conditions"] = _conditions(report, before, generation, now)
    return status


def _keep_since(row: Mapping[str, Any], known: Mapping[str, Any] | None) -> Obj:
    same = known is not None and all(known.get(key) == row.get(key) for key in ("phase", "reason"))
    if same and known is not None and known.get("since") and row.get("since"):
        return {**row, "since": known["since"]}
    return dict(row)


def _conditions(report: Mapping[str, Any], before: Mapping[str, Any], generation: int, now: str) -> list[Obj]:
    known = {row.get("type"): row for row in before.get("conditions") or []}
    conditions = []
    for kind, (status, reason) in zip(("Ready", "Progressing", "Degraded"), _CONDITIONS[report["phase"]], strict=True):
        old = known.get(kind) or {}
        conditions.append(
            {
                "type": kind,
                "status": status,
                "reason": reason,
                "message": report["message"],
                "observedGeneration": generation,
                "lastTransitionTime": old.get("lastTransitionTime") if old.get("status") == status else now,
            }
        )
    return conditions
