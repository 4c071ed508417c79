# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What taking over does, before it is done: which pods stay and which leave, node by node. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._json import Obj, part
from .operator_survey import DEPLOY, OperatorSurvey, deploy_labels

OPTION = "operator_import_stop"


@dataclass(frozen=True)
class NodeRow:
    """One node. driver: its driver's pod, which stays, "" for none; leaving: the pods that leave; new:
    operands that the operator was told to leave out there, and that come now."""

    node: str
    driver: str
    leaving: Sequence[str]
    new: Sequence[str]

    def line(self) -> str:
        """As a person reads it."""
        kept = f"driver {self.driver} stays" if self.driver else "no driver's pod"
        gone = f"; {', '.join(self.leaving)} make room" if self.leaving else ""
        comes = f"; it had no {', '.join(self.new)}, and gets them" if self.new else ""
        return f"  {self.node}: {kept}{gone}{comes}"


@dataclass(frozen=True)
class TakeoverPlan:
    """All of it. programs: the operator's Deployments; resources: what it was asked for."""

    recipe: str
    namespace: str
    nodes: Sequence[NodeRow]
    programs: Sequence[str]
    resources: Sequence[str]

    def rows(self) -> list[Obj]:
        """As data."""
        return [
            {
                "node": row.node,
                "driver": row.driver,
                "leaving": list(row.leaving),
                "new": list(row.new),
            }
            for row in self.nodes
        ]

    def table(self) -> list[str]:
        """The steps in their order."""
        drivers = sum(bool(row.driver) for row in self.nodes)
        stopped = ", ".join(f"Deployment {self.namespace}/{name}" for name in self.programs)
        return [
            f"{stopped} is scaled to 0" if stopped else "no program of the operator runs",
            f"{drivers} drivers' pods stay in namespace {self.namespace}, none restarts; they wait for upgrade",
            f"{len(self.nodes)} nodes change from the operator's operands to those of {self.recipe}:",
            *(row.line() for row in self.nodes),
            f"then {', '.join(self.resources)} is deleted, and what is left of its objects with it",
        ]

    def consent(self) -> str:
        """What to do for it to be done."""
        return f"nothing was changed; {OPTION}=true stops the operator and takes its nodes over"


def plan_of(
    survey: OperatorSurvey, nodes: Sequence[Mapping[str, Any]], recipe: str
) -> TakeoverPlan:
    """The plan for the recipe's nodes, of which any may be taken over already."""
    drivers = survey.driver_pods()
    rows = []
    for node in sorted(nodes, key=lambda each: str(each["metadata"]["name"])):
        name = str(node["metadata"]["name"])
        leaving = [str(pod["metadata"]["name"]) for pod in survey.operands(name)]
        if not (deploy_labels(node) or leaving):
            continue
        driver = drivers.get(name)
        rows.append(
            NodeRow(
                node=name,
                driver=str(driver["metadata"]["name"]) if driver else "",
                leaving=sorted(leaving),
                new=_left_out(node),
            )
        )
    return TakeoverPlan(
        recipe,
        survey.namespace,
        rows,
        [str(each["metadata"]["name"]) for each in survey.deployments],
        [f"{each['kind']} {each['metadata']['name']}" for each in survey.resources],
    )


def _left_out(node: Mapping[str, Any]) -> list[str]:
    labels = part(node["metadata"], "labels")
    return sorted(
        name.removeprefix(DEPLOY)
        for name, value in labels.items()
        if name.startswith(DEPLOY) and value == "false"
    )
