# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""node_labels: the node carries labels that the state's pods bring about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from ..._schema.shapes import Items, MapOf, Text
from ..._schema.terms import LABEL
from ..._verdicts.reasons import Reason
from ..._verdicts.verdict import PASSED, Outcome, Verdict
from ..declaration import ProofKind, Scope, Setting
from ..evaluation import Observation


@dataclass(frozen=True)
class NodeLabelsSettings:
    """Labels that the node has to carry."""

    present: Annotated[
        Sequence[str], Setting(Items(LABEL), "labels that are there, with whatever value")
    ] = ()
    equal: Annotated[
        Mapping[str, str] | None,
        Setting(MapOf(Text("a label's value in quotes", r".*"), LABEL), "labels with their values"),
    ] = None


REASONS = {
    "LabelsMissing": Reason(
        "the node does not carry labels that the state's pods should bring about",
        "look at the pod's log, and whether NFD runs and may publish these labels",
    ),
}


def evaluate(observation: Observation[NodeLabelsSettings]) -> Verdict:
    """The verdict for one node."""
    if observation.node is None:
        return PASSED
    labels = observation.node.labels
    missing = [label for label in observation.settings.present if label not in labels]
    wrong = [
        f"{label} is {labels.get(label)!r}, wanted {value!r}"
        for label, value in (observation.settings.equal or {}).items()
        if labels.get(label) != str(value)
    ]
    if not missing and not wrong:
        return PASSED
    text = "; ".join(([f"no label {', '.join(missing)}"] if missing else []) + wrong)
    return Verdict(Outcome.PENDING, "LabelsMissing", f"the node has {text}")


KIND = ProofKind(
    name="node_labels",
    holds_when="the node carries labels that the state's pods bring about",
    settings=NodeLabelsSettings,
    evaluate=evaluate,
    reasons=REASONS,
    observed=True,
    scope=lambda _settings: Scope.NODE,
)
