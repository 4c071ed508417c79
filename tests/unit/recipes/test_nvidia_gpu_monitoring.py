# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of recipes/nvidia-gpu that show something: exporter, labels, dashboard, Grafana."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import yaml

from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import GROUPS
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import (
    Obj,
    config_maps,
    container,
    env_of,
    host_paths,
    names,
    pod_spec,
)


def test_exporter_off(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(exporter_enabled=False)
    assert not rendering.objects(state="monitoring")
    assert not rendering.recipe.states["monitoring"].proofs.disabled_validate
    assert "gpu-feature-discovery" in names(rendering, "DaemonSet")


def test_each_exporter_has_to_serve_series_of_its_list(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu()
    rollout, metrics = rendering.states["monitoring"].proofs
    exporter = container(pod_spec(rendering, "nvidia-dcgm-exporter"), "exporter")
    assert (rollout.kind, metrics.kind) == ("rollout", "metrics")
    assert metrics.spec["port"] == exporter["ports"][0]["containerPort"]
    offered = rendering.one("ConfigMap", "nvidia-dcgm-exporter")["data"]["metrics.csv"]
    assert all(f"\n{series}," in offered for series in metrics.spec["series"])
    off = nvidia_gpu(exporter_validation=False)
    assert [proof.kind for proof in off.states["monitoring"].proofs] == ["rollout"]
    assert off.objects() == rendering.objects()


def test_service_and_monitor_find_the_exporter(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(monitoring_interval="15s", monitoring_labels={"release": "prometheus"})
    exporter = rendering.one("DaemonSet", "nvidia-dcgm-exporter")["spec"]["template"]
    service = rendering.one("Service", "nvidia-dcgm-exporter")
    assert service["spec"]["selector"].items() <= exporter["metadata"]["labels"].items()
    assert (
        service["spec"]["ports"][0]["targetPort"]
        == exporter["spec"]["containers"][0]["ports"][0]["name"]
    )
    monitor = rendering.one("ServiceMonitor", "nvidia-dcgm-exporter")
    assert (
        monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    )
    assert monitor["spec"]["namespaceSelector"] == {"matchNames": ["nvidia-gpu"]}
    assert monitor["spec"]["endpoints"][0]["port"] == service["spec"]["ports"][0]["name"]
    assert monitor["spec"]["endpoints"][0]["interval"] == "15s"
    for kind, name in (
        ("ServiceMonitor", "nvidia-dcgm-exporter"),
        ("PrometheusRule", "nvidia-gpu"),
    ):
        assert rendering.one(kind, name)["metadata"]["labels"]["release"] == "prometheus"


def test_openshifts_prometheus_may_look(nvidia_gpu: Any) -> None:
    binding = nvidia_gpu("openshift").one("RoleBinding", "prometheus-k8s")
    assert binding["subjects"][0]["namespace"] == "openshift-monitoring"
    assert not nvidia_gpu().objects("RoleBinding")


def test_profiling_costs_a_capability_and_can_be_left_out(nvidia_gpu: Any) -> None:
    for profiling in (True, False):
        rendering = nvidia_gpu(
            exporter_profiling=profiling, exporter_metrics=["DCGM_FI_DEV_ENC_UTIL, gauge, Encoder"]
        )
        exporter = container(pod_spec(rendering, "nvidia-dcgm-exporter"), "exporter")
        capabilities = exporter["securityContext"]["capabilities"]
        metrics = rendering.one("ConfigMap", "nvidia-dcgm-exporter")["data"]["metrics.csv"]
        assert ("add" in capabilities) is profiling
        assert ("DCGM_FI_PROF_" in metrics) is profiling
        assert "DCGM_FI_DEV_ENC_UTIL, gauge, Encoder\n" in metrics


def test_each_pool_may_have_series_and_sharing_of_its_own(nvidia_gpu: Any) -> None:
    shared = {
        "time_slicing_replicas": 4,
        "exporter_profiling": False,
        "exporter_metrics": ["DCGM_FI_DEV_ENC_UTIL, gauge, Encoder"],
    }
    rendering = nvidia_gpu(
        "openshift",
        groups=(*GROUPS, replace(GROUPS[0], id="shared-11aa22", pool="shared")),
        pools={"shared": shared},
    )
    for name, differs in (("", False), ("-shared", True)):
        exporter = pod_spec(rendering, f"nvidia-dcgm-exporter{name}")
        offered = rendering.one("ConfigMap", f"nvidia-dcgm-exporter{name}")["data"]["metrics.csv"]
        plugin = rendering.one("ConfigMap", f"nvidia-device-plugin{name}")["data"]["config.yaml"]
        assert ("DCGM_FI_DEV_ENC_UTIL" in offered) is differs
        assert config_maps(exporter)["metrics"] == f"nvidia-dcgm-exporter{name}"
        assert ("replicas: 4" in plugin) is differs
        rights = rendering.one("SecurityContextConstraints", f"nvidia-gpu-dcgm-exporter{name}")
        assert rights["allowedCapabilities"] == ([] if differs else ["SYS_ADMIN"])


def series_in(text: str) -> set[str]:
    return set(re.findall(r"DCGM_[A-Z]+_[A-Z0-9_]+", text))


def test_alerts_and_dashboard_use_only_series_that_the_exporter_offers(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu()
    metrics = rendering.one("ConfigMap", "nvidia-dcgm-exporter")["data"]["metrics.csv"]
    lines = [line.split(",") for line in metrics.splitlines() if line and not line.startswith("#")]
    assert all(
        len(line) == 3 and line[1].strip() in ("gauge", "counter", "label") for line in lines
    )
    offered = {line[0] for line in lines}
    assert series_in(json.dumps(rendering.one("PrometheusRule", "nvidia-gpu")["spec"])) <= offered
    assert (
        series_in(rendering.one("ConfigMap", "nvidia-gpu-dashboard")["data"]["nvidia-gpu.json"])
        <= offered
    )


def test_feature_discovery_writes_where_nfd_reads(nvidia_gpu: Any) -> None:
    spec = pod_spec(nvidia_gpu(), "gpu-feature-discovery")
    assert host_paths(spec)["features"] == "/etc/kubernetes/node-feature-discovery/features.d"
    env = env_of(container(spec, "feature-discovery"))
    assert env["GFD_USE_NODE_FEATURE_API"] == "false"
    assert env["GFD_OUTPUT_FILE"].startswith("/etc/kubernetes/node-feature-discovery/features.d/")


def test_dashboard_for_an_existing_grafana(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(grafana_namespace="monitoring")
    dashboard = rendering.one("ConfigMap", "nvidia-gpu-dashboard")
    assert dashboard["metadata"]["namespace"] == "monitoring"
    assert dashboard["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert {item["kind"] for item in rendering.objects(state="grafana")} == {"ConfigMap"}
    assert (
        nvidia_gpu().one("ConfigMap", "nvidia-gpu-dashboard")["metadata"]["namespace"]
        == "nvidia-gpu"
    )


def test_the_dashboard_is_sound(nvidia_gpu: Any) -> None:
    text = nvidia_gpu(alert_temperature_warning=71).one("ConfigMap", "nvidia-gpu-dashboard")[
        "data"
    ]["nvidia-gpu.json"]
    dashboard = json.loads(text)
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))
    corners = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in dashboard["panels"]]
    assert len(corners) == len(set(corners))
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in dashboard["panels"])
    assert '{"color": "orange", "value": 71}' in json.dumps(dashboard, sort_keys=True)


def test_grafana_off(nvidia_gpu: Any) -> None:
    assert not nvidia_gpu(grafana="off").objects(state="grafana")


def grafana_env(rendering: Any) -> dict[str, str]:
    return env_of(
        rendering.one("Deployment", "nvidia-gpu-grafana")["spec"]["template"]["spec"]["containers"][
            0
        ]
    )


def data_source(rendering: Any) -> Obj:
    (only,) = yaml.safe_load(
        rendering.one("ConfigMap", "nvidia-gpu-grafana")["data"]["datasource.yaml"]
    )["datasources"]
    return only


def test_own_grafana_without_login_is_for_looking_only(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(grafana="instance")
    assert names(rendering, "Deployment") == {"nvidia-gpu-grafana"}
    assert not rendering.objects("Ingress")
    assert (
        "grafana_dashboard"
        not in rendering.one("ConfigMap", "nvidia-gpu-dashboard")["metadata"]["labels"]
    )
    env = grafana_env(rendering)
    assert env["GF_AUTH_ANONYMOUS_ORG_ROLE"] == "Viewer"
    assert (env["GF_AUTH_BASIC_ENABLED"], env["GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"]) == (
        "false",
        "true",
    )
    assert data_source(rendering)["url"] == "http://prometheus-operated.monitoring.svc:9090"


def test_own_grafana_with_login(nvidia_gpu: Any) -> None:
    env = grafana_env(nvidia_gpu(grafana="instance", grafana_admin_secret="grafana-admin"))
    assert env["GF_AUTH_ANONYMOUS_ENABLED"] == "false"
    assert {"GF_SECURITY_ADMIN_USER", "GF_SECURITY_ADMIN_PASSWORD"} <= env.keys()


def test_own_grafana_on_openshift_reads_through_thanos(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu("openshift", grafana="instance", grafana_expose=True)
    assert rendering.one("Route", "nvidia-gpu-grafana")["spec"]["tls"]["termination"] == "edge"
    source = data_source(rendering)
    assert source["url"].startswith("https://thanos-querier.openshift-monitoring")
    assert "tlsSkipVerify" not in source["jsonData"]
    assert "data" not in rendering.one("Secret", "nvidia-gpu-grafana-token")
    deployment = rendering.one("Deployment", "nvidia-gpu-grafana")
    assert "runAsUser" not in deployment["spec"]["template"]["spec"]["securityContext"]


def test_own_grafana_behind_an_ingress(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(grafana="instance", grafana_expose=True, grafana_host="gpu.example.org")
    assert (
        rendering.one("Ingress", "nvidia-gpu-grafana")["spec"]["rules"][0]["host"]
        == "gpu.example.org"
    )
