# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the recipe record-metrics deploys of what manifests/ has for an admin: the same text."""

from __future__ import annotations

from pathlib import Path

REPO = Path(__file__).parents[2]
RECIPE = REPO / "recipes" / "record-metrics"
_RULE = """apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: record-metrics
  labels:
    app.kubernetes.io/name: record-metrics
{% for label, value in options.monitoring_labels | dictsort %}
    {{ label }}: {{ value | string | to_json }}
{% endfor %}
"""


def files(configuration: str) -> dict[Path, str]:
    """The files of the recipe that are made anew. configuration: the text of kube-state-metrics'."""
    alerts = (REPO / "manifests" / "alerts.yaml").read_text(encoding="utf-8")
    spec = alerts[alerts.index("\nspec:") + 1 :]
    return {
        RECIPE / "common" / "configuration.yaml": configuration.partition("---\n")[2],
        # What is between braces there is Prometheus' own.
        RECIPE / "alerts" / "rule.yaml.j2": f"{_RULE}{{% raw %}}\n{spec}{{% endraw %}}\n",
    }
