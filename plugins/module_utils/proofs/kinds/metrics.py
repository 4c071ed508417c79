# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""metrics: the state's pod on the node serves the named series, read through the API server's proxy."""

from __future__ import annotations

import re

from ansible_collections.hardware.enablement.plugins.module_utils.proofs.asks import ReadMetrics
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.evaluation import Look
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.pod_status import name
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.verdict import PASSED, Outcome, Verdict

READ_EVERY_S = 5.0
_SERIES = re.compile(r"^([A-Za-z_:][A-Za-z0-9_:]*)(?=[{ \t])", re.MULTILINE)


def series_in(text: str) -> set[str]:
    """The names of the series in a text of the Prometheus exposition format."""
    return set(_SERIES.findall(text))


def evaluate(look: Look) -> Verdict:
    """The verdict for one node: every pod of the state there has to serve every series."""
    if look.node is None:
        return PASSED
    pods = list(look.snapshot.pods_of(look.node.name, look.plan.name))
    if not pods:
        return Verdict(Outcome.PENDING, "NoPod", "there is no pod whose metrics could be read")
    port, path = int(look.spec["port"]), str(look.spec.get("path", "/metrics"))
    for pod in pods:
        metadata = pod["metadata"]
        answer = look.ask(
            ReadMetrics(metadata["namespace"], metadata["name"], metadata["uid"], port, path), READ_EVERY_S
        )
        if answer is None:
            return Verdict(Outcome.PENDING, "ReadingMetrics", f"the metrics of {name(pod)} are being read")
        if answer.error:
            return Verdict(Outcome.TROUBLE, "MetricsUnreadable", f"{name(pod)} port {port}{path}: {answer.error}")
        missing = [series for series in look.spec.get("series") or [] if series not in series_in(str(answer.value))]
        if missing:
            return Verdict(Outcome.TROUBLE, "SeriesMissing", f"{name(pod)} serves no {', '.join(missing)}")
    return PASSED
