# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""metrics: the state's pod on the node serves the named series, read through the API server's
proxy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from ..._schema.shapes import Integer, Items, Text
from ..._verdicts.pod_status import NO_POD, name
from ..._verdicts.reasons import UNDER_WAY, Reason
from ..._verdicts.verdict import PASSED, Outcome, Verdict
from ..declaration import ProofKind, Scope, Setting
from ..evaluation import Observation
from ..queries import ReadMetrics


@dataclass(frozen=True)
class MetricsSettings:
    """What is read, and what has to be in it."""

    port: Annotated[
        int, Setting(Integer(1, 65_535, template=True), "the pod's port, or a template of it")
    ]
    series: Annotated[
        Sequence[str],
        Setting(
            Items(Text("the name of a series", r"[A-Za-z_:][A-Za-z0-9_:]*"), minimum=1),
            "names of series that are served",
        ),
    ]
    path: Annotated[str, Setting(Text("an absolute path", r"/\S*"), "where they are served")] = (
        "/metrics"
    )
    scheme: Annotated[
        str,
        Setting(
            Text("http, https, or a template of one", r"https?|.*\{[{%].*"),
            "`https` where it serves TLS (its certificate is not checked), or a template of it",
        ),
    ] = "http"


REASONS = {
    "MetricsUnreadable": Reason(
        "the pod's metrics could not be read through the API server",
        "look whether the exporter listens on that port, and whether the API server reaches pods",
    ),
    "ReadingMetrics": UNDER_WAY,
    "SeriesMissing": Reason(
        "the metrics do not contain series that the recipe names",
        "look at the exporter's log and at its list of series",
    ),
    "NoPod": NO_POD,
}


READ_EVERY_S = 5.0
_SERIES = re.compile(r"^([A-Za-z_:][A-Za-z0-9_:]*)(?=[{ \t])", re.MULTILINE)


def series_in(text: str) -> set[str]:
    """The names of the series in a text of the Prometheus exposition format."""
    return set(_SERIES.findall(text))


def evaluate(observation: Observation[MetricsSettings]) -> Verdict:
    """The verdict for one node: every pod of the state there has to serve every series."""
    pods = list(observation.snapshot.pods_of(observation.node.name, observation.plan.name))
    if not pods:
        return Verdict(Outcome.PENDING, "NoPod", "there is no pod whose metrics could be read")
    settings = observation.settings
    port, path = settings.port, settings.path
    for pod in pods:
        metadata = pod["metadata"]
        answer = observation.query(
            ReadMetrics(
                metadata["namespace"],
                metadata["name"],
                metadata["uid"],
                port,
                path,
                settings.scheme,
            ),
            READ_EVERY_S,
        )
        if answer is None:
            return Verdict(
                Outcome.PENDING, "ReadingMetrics", f"the metrics of {name(pod)} are being read"
            )
        if answer.error:
            return Verdict(
                Outcome.TROUBLE,
                "MetricsUnreadable",
                f"{name(pod)} port {port}{path}: {answer.error}",
            )
        missing = [
            series for series in settings.series if series not in series_in(str(answer.value))
        ]
        if missing:
            return Verdict(
                Outcome.TROUBLE, "SeriesMissing", f"{name(pod)} serves no {', '.join(missing)}"
            )
    return PASSED


KIND = ProofKind(
    name="metrics",
    holds_when="the state's pod on the node serves the named series, read through the API server's proxy",
    settings=MetricsSettings,
    evaluate=evaluate,
    reasons=REASONS,
    observed=False,
    by_node=False,
    scope=lambda _settings: Scope.NODE,
    removed={"container": "none, since a port of a pod belongs to no container"},
)
