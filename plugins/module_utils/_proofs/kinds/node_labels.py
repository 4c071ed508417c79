# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""node_labels: the node carries labels that the state's pods bring about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from ..._json import Obj
from ..._schema.shapes import Items, MapOf, Text
from ..._schema.terms import LABEL
from ..._verdicts.pod_status import POD_REASONS, is_ready, judge
from ..._verdicts.reasons import Reason
from ..._verdicts.verdict import PASSED, Outcome, Verdict
from ..container_logs import with_last_line
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
    **POD_REASONS,
    "LabelsMissing": Reason(
        "the node does not carry labels that the state's pods should bring about",
        "look at the pod's log, and whether NFD runs and may publish these labels",
    ),
}


def evaluate(observation: Observation[NodeLabelsSettings]) -> Verdict:
    """The verdict for one node."""
    differing = _differing(observation.settings, observation.node.labels)
    if not differing:
        return PASSED
    # One after the other: a trouble that is told asks for a log.
    troubles = (_trouble(observation, pod) for pod in _unready_pods(observation))
    text = f"the node has {'; '.join(differing)}"
    return next(filter(None, troubles), Verdict(Outcome.PENDING, "LabelsMissing", text))


def _differing(settings: NodeLabelsSettings, labels: Mapping[str, str]) -> list[str]:
    """The labels that are not as they should be, in words: those that are missing first."""
    equal = settings.equal or {}
    missing = [label for label in settings.present if label not in labels]
    missing += [f"{label}={value}" for label, value in equal.items() if label not in labels]
    wrong = [
        f"{label} is {labels[label]!r}, wanted {value!r}"
        for label, value in equal.items()
        if labels.get(label, str(value)) != str(value)
    ]
    return [f"no label {', '.join(missing)}", *wrong] if missing else wrong


def _unready_pods(observation: Observation[NodeLabelsSettings]) -> list[Obj]:
    pods = observation.snapshot.pods_of(observation.node.name, observation.plan.name)
    return [pod for pod in pods if not is_ready(pod)]


def _trouble(observation: Observation[NodeLabelsSettings], pod: Obj) -> Verdict | None:
    """What keeps a pod from bringing the labels about."""
    verdict = judge(pod)
    return (
        with_last_line(observation, pod, verdict)
        if verdict.outcome is not Outcome.PENDING
        else None
    )


KIND = ProofKind(
    name="node_labels",
    holds_when="the node carries labels that the state's pods bring about",
    settings=NodeLabelsSettings,
    evaluate=evaluate,
    reasons=REASONS,
    observed=True,
    by_node=True,
    scope=lambda _settings: Scope.NODE,
)
