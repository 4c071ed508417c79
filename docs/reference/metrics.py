# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kube-state-metrics makes of the record: its configuration, and the role that it needs for it.

The format is that of kube-state-metrics 2.20 (its docs/metrics/extend/
customresourcestate-metrics.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._json import Obj
from ansible_collections.hardware.enablement.plugins.module_utils._states.record import crd
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.record_metrics import (
    COMMON,
    METRICS,
    PREFIX,
    Metric,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.record_status import (
    PHASES,
)

ROLE = "hardware-enablement-metrics"
# Of what a record does not have (drift before there was any) nothing is logged.
_QUIET = 5


def configuration() -> Obj:
    """What kube-state-metrics is given."""
    kind = {"group": crd.GROUP, "version": crd.RECORD.version, "kind": crd.KIND}
    resource = {
        "groupVersionKind": kind,
        "metricNamePrefix": PREFIX,
        "labelsFromPath": _paths(COMMON),
        "errorLogV": _QUIET,
        "metrics": [_generator(metric) for metric in METRICS],
    }
    return {"kind": "CustomResourceStateMetrics", "spec": {"resources": [resource]}}


def role() -> Obj:
    """The ClusterRole that kube-state-metrics needs besides its own: the record, and CRDs, by which
    it finds the record's kind."""
    read = ["list", "watch"]
    crds = "customresourcedefinitions"
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": ROLE},
        "rules": [
            {"apiGroups": [crd.GROUP], "resources": [crd.RECORD.plural], "verbs": read},
            {"apiGroups": ["apiextensions.k8s.io"], "resources": [crds], "verbs": read},
        ],
    }


def _generator(metric: Metric) -> Obj:
    made: Obj = {"name": metric.name, "help": metric.text, "each": _each(metric)}
    return made | ({"labelsFromPath": _paths(metric.of_record)} if metric.of_record else {})


def _each(metric: Metric) -> Obj:
    where: dict[str, Any] = {"path": list(metric.path)}
    where |= {"labelsFromPath": _paths(metric.labels)} if metric.labels else {}
    if metric.constant:
        return {"type": "Info", "info": where}
    if metric.phases:
        return {"type": "StateSet", "stateSet": {**where, "labelName": "phase", "list": [*PHASES]}}
    where |= {"valueFrom": list(metric.value)} if metric.value else {}
    return {"type": "Gauge", "gauge": where}


def _paths(labels: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {name: list(path) for name, path in labels.items()}
