# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DCGM by itself, what the exporter's series say, and labels of NVIDIA's operator, of recipes/nvidia-gpu."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import TOOLKIT
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import (
    Obj,
    config_maps,
    container,
    env_of,
    host_paths,
    names,
    pod_spec,
)

EXPORTER = "nvidia-dcgm-exporter"
NFD = frozenset({"nfd.k8s-sigs.io/v1alpha1/NodeFeatureRule"})
# DaemonSet -> the label app that the operator's pods have (assets and manifests of v26.7.0).
APPS = {
    "gpu-feature-discovery": "gpu-feature-discovery",
    TOOLKIT: "nvidia-container-toolkit-daemonset",
    "nvidia-dcgm": "nvidia-dcgm",
    "nvidia-dcgm-exporter": "nvidia-dcgm-exporter",
    "nvidia-device-plugin": "nvidia-device-plugin-daemonset",
    "nvidia-driver-6-8-0-60-generic-11aa22": "nvidia-driver-daemonset",
    "nvidia-mig": "nvidia-mig-manager",
}
# What NVIDIA/NVSentinel looks for (distros/kubernetes/nvsentinel): values.yaml of charts/labeler at 073b2f45
# (dcgmAppLabel, driverAppLabel) and of charts/gpu-health-monitor at 111c0316 (nodeSelector); global.dcgm.service of its
# documentation.
NVSENTINEL: Obj = {
    "apps": {"nvidia-dcgm", "nvidia-driver-daemonset"},
    "nodes": {"nvidia.com/gpu.present": "true"},
    "service": ("nvidia-dcgm", 5555),
}


def exporter(rendering: Any) -> Obj:
    """Its container."""
    return container(pod_spec(rendering, EXPORTER), "exporter")


def template_labels(rendering: Any, daemonset: str) -> Obj:
    """The labels that a DaemonSet's pods get."""
    labels: Obj = rendering.one("DaemonSet", daemonset)["spec"]["template"]["metadata"]["labels"]
    return labels


def test_dcgm_is_one_of_its_node_that_the_exporter_asks(nvidia_gpu: Any) -> None:
    plain = nvidia_gpu()
    assert "nvidia-dcgm" not in names(plain, "DaemonSet") | names(plain, "Service")
    assert "DCGM_REMOTE_HOSTENGINE_INFO" not in env_of(exporter(plain))
    rendering = nvidia_gpu(dcgm_enabled=True)
    service = rendering.one("Service", "nvidia-dcgm")["spec"]
    assert service["internalTrafficPolicy"] == "Local"
    assert [port["port"] for port in service["ports"]] == [5555]
    labels = template_labels(rendering, "nvidia-dcgm")
    assert service["selector"].items() <= labels.items()
    assert env_of(exporter(rendering))["DCGM_REMOTE_HOSTENGINE_INFO"] == "nvidia-dcgm:5555"
    # Who reads the counters has the capability, and nobody else.
    dcgm = container(pod_spec(rendering, "nvidia-dcgm"), "dcgm")
    assert dcgm["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["SYS_ADMIN"]}
    assert exporter(rendering)["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert "args" not in dcgm
    other = nvidia_gpu(dcgm_enabled=True, dcgm_args=["nv-hostengine"], exporter_profiling=False)
    dcgm = container(pod_spec(other, "nvidia-dcgm"), "dcgm")
    assert dcgm["args"] == ["nv-hostengine"]
    assert dcgm["securityContext"]["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize("option", ["exporter_pod_labels", "exporter_pod_uid"])
def test_only_who_wants_labels_of_pods_may_read_them(nvidia_gpu: Any, option: str) -> None:
    plain = nvidia_gpu()
    assert not plain.objects("ClusterRole")
    assert pod_spec(plain, EXPORTER)["automountServiceAccountToken"] is False
    rendering = nvidia_gpu(**{option: True, "exporter_pod_label_allowlist": ["^team$", "^app$"]})
    (role,) = rendering.objects("ClusterRole", "monitoring")
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}
    ]
    (binding,) = rendering.objects("ClusterRoleBinding", "monitoring")
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": EXPORTER, "namespace": "nvidia-gpu"}
    ]
    assert pod_spec(rendering, EXPORTER)["automountServiceAccountToken"] is True
    env = env_of(exporter(rendering))
    assert env["DCGM_EXPORTER_KUBERNETES_POD_LABEL_ALLOWLIST_REGEX"] == "^team$,^app$"
    kind = option.removeprefix("exporter_").upper()
    assert env[f"DCGM_EXPORTER_KUBERNETES_ENABLE_{kind}"] == "true"


def test_lists_of_series_jobs_and_the_nodes_own_network(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(
        exporter_metrics_config_map="mine",
        exporter_job_mapping_dir="/jobs",
        exporter_host_network=True,
        exporter_host_pid=True,
    )
    spec, env = pod_spec(rendering, EXPORTER), env_of(exporter(rendering))
    assert env["DCGM_EXPORTER_COLLECTORS"].endswith("/dcgm-metrics.csv")
    assert config_maps(spec)["metrics"] == "mine"
    assert EXPORTER not in names(rendering, "ConfigMap")
    assert (env["DCGM_HPC_JOB_MAPPING_DIR"], host_paths(spec)["job-mapping"]) == ("/jobs", "/jobs")
    assert (spec["hostNetwork"], spec["hostPID"]) == (True, True)


def test_a_servicemonitor_as_it_is_wanted(nvidia_gpu: Any) -> None:
    more = {"sourceLabels": ["a"], "targetLabel": "b"}
    rendering = nvidia_gpu(
        monitoring_relabelings=[more], monitoring_honor_labels=True, monitoring_timeout="20s"
    )
    (endpoint,) = rendering.one("ServiceMonitor", EXPORTER)["spec"]["endpoints"]
    assert endpoint["relabelings"][1:] == [more]
    assert endpoint["relabelings"][0]["targetLabel"] == "node"
    assert (endpoint["honorLabels"], endpoint["scrapeTimeout"]) == (True, "20s")


def test_other_tools_find_what_they_look_for_by_one_option(nvidia_gpu: Any) -> None:
    options = {"mig_devices": {"1g.10gb": 7}, "dcgm_enabled": True}
    plain, rendering = nvidia_gpu(**options), nvidia_gpu(apis=NFD, operator_labels=True, **options)
    for daemonset, app in APPS.items():
        assert template_labels(rendering, daemonset)["app"] == app
        assert "app" not in template_labels(plain, daemonset)
        # A selector cannot change.
        selector = rendering.one("DaemonSet", daemonset)["spec"]["selector"]
        assert selector == plain.one("DaemonSet", daemonset)["spec"]["selector"]
    (rule,) = rendering.one("NodeFeatureRule", "nvidia-gpu-operator-labels")["spec"]["rules"]
    assert rule["labels"]["nvidia.com/gpu.present"] == "true"
    assert {"device-plugin", "dcgm", "dcgm-exporter", "client"} <= {
        label.removeprefix("nvidia.com/gpu.deploy.") for label in rule["labels"]
    }
    # It says who brings the driver.
    assert "nvidia.com/gpu.deploy.driver" not in rule["labels"]
    assert not plain.objects("NodeFeatureRule")


def test_nvsentinel_finds_what_its_values_name(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(apis=NFD, operator_labels=True, dcgm_enabled=True)
    labels = [template_labels(rendering, each) for each in names(rendering, "DaemonSet")]
    assert {each.get("app") for each in labels} >= NVSENTINEL["apps"]
    (rule,) = rendering.one("NodeFeatureRule", "nvidia-gpu-operator-labels")["spec"]["rules"]
    assert rule["labels"].items() >= NVSENTINEL["nodes"].items()
    name, port = NVSENTINEL["service"]
    assert [each["port"] for each in rendering.one("Service", name)["spec"]["ports"]] == [port]


def test_the_state_of_a_division_is_a_label(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(mig_devices={"1g.10gb": 7}, operator_labels=True)
    spec = pod_spec(rendering, "nvidia-mig")
    text = container(spec, "mig-parted")["args"][0]
    order = ["report pending", "mig-parted assert", 'date > "$mark"', "report success"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert "trap '[ $? = 0 ] || report failed' EXIT" in text
    assert host_paths(spec)["features"] == "/etc/kubernetes/node-feature-discovery/features.d"
    plain = container(pod_spec(nvidia_gpu(mig_devices={"1g.10gb": 7}), "nvidia-mig"), "mig-parted")
    assert "report" not in plain["args"][0]
