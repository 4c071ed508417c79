# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The dashboard of all special resources, over the metrics of their records: for Grafana, and for the
console of OpenShift, which reads dashboards as Grafana 5 had them.

Source of the latter: openshift/monitoring-plugin, and the dashboards that cluster-monitoring-operator
puts into the namespace openshift-config-managed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._json import Obj
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.record_metrics import (
    PREFIX,
)

_NAME, _TITLE = "hardware-enablement", "Special resources"
# A series of one cluster has no such label, which ".*" matches, too.
_CLUSTER = '{cluster=~"$cluster"}'
_TYPES = {"stat": "singlestat", "timeseries": "graph", "table": "table"}
_STATS = 4


@dataclass(frozen=True)
class Panel:
    """type: as Grafana calls it. query: with @NAME for a metric of the record on the chosen clusters,
    @NAME[ready] for its series of that phase."""

    type: str
    title: str
    query: str
    legend: str = ""
    unit: str = "none"

    @property
    def expression(self) -> str:
        """As Prometheus has it."""
        words = self.query.split("@")
        found = words[0]
        for word in words[1:]:
            end = next(
                (at for at, c in enumerate(word) if not (c.isalnum() or c == "_")), len(word)
            )
            found += f"{PREFIX}_{word[:end]}{_CLUSTER}{word[end:]}"
        return found.replace(f"{_CLUSTER}[ready]", f'{_CLUSTER[:-1]}, phase="ready"}}')


_WHOSE = "cluster, name"
# The first _STATS stand in one line.
PANELS = (
    Panel("stat", "Special resources", "count(@created_timestamp_seconds)"),
    Panel("stat", "of these, not ready", "count(@created_timestamp_seconds) - (sum(@phase[ready]) or vector(0))"),
    # Of all together a recipe that deploys nothing on nodes, and has all of them, would hide others.
    Panel(
        "stat",
        "Nodes ready, where fewest are",
        f"min(max by ({_WHOSE}) (@nodes_ready) / max by ({_WHOSE}) (@nodes))",
        unit="percentunit",
    ),
    Panel("stat", "Nodes that wait for a restart", "sum(@nodes_restart_pending)"),
    Panel("table", "Phase", f"max by ({_WHOSE}, phase) (@phase) > 0"),
    Panel("table", "What is wrong, by nodes", f"max by ({_WHOSE}, state, phase, reason) (@cause_nodes)"),
    Panel("timeseries", "Nodes ready", f"max by ({_WHOSE}) (@nodes_ready)", "{{cluster}} {{name}}"),
    Panel(
        "timeseries",
        "Nodes that lack a state",
        f"max by ({_WHOSE}, state) (@state_nodes) - max by ({_WHOSE}, state) (@state_nodes_ready) > 0",
        "{{cluster}} {{name}}: {{state}}",
    ),
    Panel(
        "table",
        "Nodes upgrading, in remedy or quarantined, for how long",
        f"time() - max by ({_WHOSE}, node, phase) (@node_upgrade_since_timestamp_seconds)",
        unit="s",
    ),
    Panel(
        "timeseries",
        "Since the last run that has looked",
        f"time() - max by ({_WHOSE}) (@last_run_timestamp_seconds)",
        "{{cluster}} {{name}}",
        "s",
    ),
    Panel(
        "timeseries",
        "How long the last run took",
        f"max by ({_WHOSE}) (@last_run_duration_seconds)",
        "{{cluster}} {{name}}",
        "s",
    ),
    Panel("table", "Objects that others have changed", f"max by ({_WHOSE}) (@drifted_objects) > 0"),
    Panel("table", "Versions", "max by (cluster, name, recipe, recipe_version, driver, collection) (@info)"),
)  # fmt: skip


def grafana() -> Obj:
    """The ConfigMap that the sidecar of a usual Grafana collects."""
    source = {"type": "prometheus", "uid": "${datasource}"}
    variables = [
        {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
        {**_cluster_variable(), "datasource": source},
    ]
    panels = [
        {
            "id": number,
            "type": panel.type,
            "title": panel.title,
            "datasource": source,
            "gridPos": _place(number - 1),
            "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
            "targets": [_target(panel)],
        }
        for number, panel in enumerate(PANELS, start=1)
    ]
    return _config_map(
        {"labels": {"grafana_dashboard": "1"}},
        {"schemaVersion": 39, "refresh": "1m", "templating": {"list": variables}, "panels": panels},
    )


def console() -> Obj:
    """The ConfigMap that OpenShift's console shows under Observe, Dashboards."""
    rows = [
        {
            "title": "",
            "panels": [
                {
                    "id": PANELS.index(panel) + 1,
                    "type": _TYPES[panel.type],
                    "title": panel.title,
                    "span": 12 // len(row),
                    "format": panel.unit,
                    "datasource": "prometheus",
                    "targets": [_target(panel)],
                }
                for panel in row
            ],
        }
        for row in _rows()
    ]
    labels = {"console.openshift.io/dashboard": "true"}
    return _config_map(
        {"namespace": "openshift-config-managed", "labels": labels},
        {"schemaVersion": 14, "templating": {"list": [_cluster_variable()]}, "rows": rows},
    )


def _config_map(metadata: Obj, dashboard: Obj) -> Obj:
    whole = {
        "uid": _NAME,
        "title": _TITLE,
        "tags": [_NAME],
        "timezone": "browser",
        "time": {"from": "now-24h", "to": "now"},
        **dashboard,
    }
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"{_NAME}-dashboard", **metadata},
        "data": {f"{_NAME}.json": json.dumps(whole, indent=1) + "\n"},
    }


def _cluster_variable() -> dict[str, Any]:
    return {
        "name": "cluster",
        "label": "Cluster",
        "type": "query",
        "query": f"label_values({PREFIX}_created_timestamp_seconds, cluster)",
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
        "sort": 1,
    }


def _target(panel: Panel) -> Obj:
    table = {"format": "table", "instant": True} if panel.type == "table" else {}
    return {"expr": panel.expression, "legendFormat": panel.legend, "refId": "A", **table}


def _place(at: int) -> dict[str, int]:
    if at < _STATS:
        return {"x": 6 * at, "y": 0, "w": 6, "h": 4}
    row, column = divmod(at - _STATS, 2)
    width = 24 // len(_rows()[1 + row])
    return {"x": width * column, "y": 4 + 8 * row, "w": width, "h": 8}


def _rows() -> list[tuple[Panel, ...]]:
    """As they stand beside each other; the last one has its line to itself where their number is odd."""
    others = PANELS[_STATS:]
    return [PANELS[:_STATS], *(others[at : at + 2] for at in range(0, len(others), 2))]
