# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the recipes for hardware of other vendors than NVIDIA have in common: who may do what, and
that exporter, alerts and dashboard fit each other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import REPO, renderer
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import (
    Obj,
    all_containers,
    container,
)

RECIPES = ("amd-gpu", "intel-gpu", "intel-gaudi", "xilinx-fpga")
# Containers that cannot do without; each has a reason beside it in its template.
PRIVILEGED = {
    "amd-gpu": {"device-plugin", "exporter", "labeller"},
    "intel-gaudi": {"device-plugin", "exporter"},
    "intel-gpu": set(),
    "xilinx-fpga": set(),
}
WITH_EXPORTER = tuple(
    name for name in RECIPES if (REPO / "recipes" / name / "monitoring" / "rules.yaml.j2").is_file()
)


def daemonsets(rendering: Any) -> dict[str, Obj]:
    """Name -> pod spec."""
    return {
        item["metadata"]["name"]: item["spec"]["template"]["spec"]
        for item in rendering.objects("DaemonSet")
    }


@pytest.mark.parametrize("name", RECIPES)
def test_containers_have_no_more_rights_than_they_need(name: str) -> None:
    privileged = set()
    for _state, spec in renderer(REPO / "recipes" / name)().pod_specs():
        for item in all_containers(spec):
            context = item["securityContext"]
            if context.get("privileged"):
                privileged.add(item["name"])
            else:
                assert context["allowPrivilegeEscalation"] is False
                assert context["capabilities"]["drop"] == ["ALL"]
    assert privileged == PRIVILEGED[name]


@pytest.mark.parametrize("name", RECIPES)
def test_openshift_lets_each_daemonset_do_what_it_does(name: str) -> None:
    rendering = renderer(REPO / "recipes" / name)("openshift")
    allowed = {
        user.rpartition(":")[2]: constraints
        for constraints in rendering.objects("SecurityContextConstraints")
        for user in constraints["users"]
    }
    for spec in daemonsets(rendering).values():
        constraints = allowed[spec["serviceAccountName"]]
        for item in all_containers(spec):
            context = item["securityContext"]
            assert constraints["allowPrivilegedContainer"] >= context.get("privileged", False)
            added = context.get("capabilities", {}).get("add", [])
            assert set(added) <= set(constraints["allowedCapabilities"])
        uses_host = any("hostPath" in volume for volume in spec["volumes"])
        assert constraints["allowHostDirVolumePlugin"] is uses_host
    for kind in ("Route", "SecurityContextConstraints"):
        assert not renderer(REPO / "recipes" / name)().objects(kind)


@pytest.mark.parametrize("name", WITH_EXPORTER)
def test_service_and_monitor_find_the_exporter(name: str) -> None:
    rendering = renderer(REPO / "recipes" / name)(
        monitoring_interval="15s", monitoring_labels={"release": "prometheus"}
    )
    (daemonset,) = rendering.objects("DaemonSet", state="monitoring")
    (service,) = rendering.objects("Service", state="monitoring")
    (monitor,) = rendering.objects("ServiceMonitor")
    (rules,) = rendering.objects("PrometheusRule")
    template = daemonset["spec"]["template"]
    (port,) = container(template["spec"], "exporter")["ports"]
    assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    assert service["spec"]["ports"][0]["targetPort"] == port["name"]
    wanted = monitor["spec"]["selector"]["matchLabels"]
    assert wanted.items() <= service["metadata"]["labels"].items()
    assert monitor["spec"]["endpoints"][0]["port"] == service["spec"]["ports"][0]["name"]
    assert monitor["spec"]["endpoints"][0]["interval"] == "15s"
    for item in (monitor, rules):
        assert item["metadata"]["labels"]["release"] == "prometheus"
    job = service["metadata"]["labels"][monitor["spec"]["jobLabel"]]
    assert f'up{{job="{job}"}}' in json.dumps(rules).replace('\\"', '"')
    metrics = rendering.states["monitoring"].proofs[-1]
    assert (metrics.kind, metrics.spec["port"]) == ("metrics", port["containerPort"])


@pytest.mark.parametrize("name", WITH_EXPORTER)
def test_every_alert_says_what_to_do(name: str) -> None:
    (rules,) = renderer(REPO / "recipes" / name)().objects("PrometheusRule")
    for group in rules["spec"]["groups"]:
        for rule in group["rules"]:
            assert rule["labels"]["severity"] in ("info", "warning", "critical")
            assert rule["annotations"]["summary"]
            assert len(rule["annotations"]["description"]) > 80


@pytest.mark.parametrize("name", WITH_EXPORTER)
def test_the_dashboard_is_one(name: str) -> None:
    rendering = renderer(REPO / "recipes" / name)(grafana_namespace="dashboards")
    (shown,) = rendering.objects("ConfigMap", state="grafana")
    assert shown["metadata"]["namespace"] == "dashboards"
    (text,) = shown["data"].values()
    board = json.loads(text)
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"]) > 6
    assert not renderer(REPO / "recipes" / name)(grafana="off").objects(state="grafana")
