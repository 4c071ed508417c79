# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What recipes/nvidia-gpu renders to by default, on Kubernetes and on OpenShift."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import TOOLKIT
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import (
    all_containers,
    container,
    env_of,
    host_paths,
    names,
    pod_spec,
)


def test_each_state_waits_for_what_it_needs(nvidia_gpu: Any) -> None:
    states = nvidia_gpu().recipe.states
    assert {name: tuple(state.order.requires) for name, state in states.items()} == {
        "driver_container": (),
        "driver": ("driver_container",),
        "runtime_hook": ("driver",),
        "mig": ("runtime_hook",),
        "driver_validation": ("mig",),
        "mps": ("driver_validation",),
        "device_plugin": ("mps",),
        "device_plugin_validation": ("device_plugin",),
        "dra_driver": ("device_plugin",),
        "dra_validation": ("dra_driver",),
        "dcgm": ("device_plugin_validation", "dra_validation"),
        "monitoring": ("dcgm",),
        "feature_discovery": ("device_plugin_validation", "dra_validation"),
        "compute_domain_controller": (),
        "compute_domains": ("feature_discovery", "compute_domain_controller"),
        "grafana": (),
    }


def test_rendering_twice_gives_the_same(nvidia_gpu: Any) -> None:
    assert nvidia_gpu().states == nvidia_gpu().states


def test_there_is_one_driver_per_kernel_with_its_own_image(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(driver_precompiled=True)
    drivers = rendering.objects("DaemonSet", "driver")
    assert {item["metadata"]["name"] for item in drivers} == {
        "nvidia-driver-6-8-0-60-generic-11aa22",
        "nvidia-driver-5-15-0-1-33bb44",
    }
    images = {container(item["spec"]["template"]["spec"], "driver")["image"] for item in drivers}
    assert images == set(rendering.images().values())
    assert "nvcr.io/nvidia/driver:595-6.8.0-60-generic-ubuntu24.04" in images
    assert all(
        image.endswith(("-ubuntu24.04", "-ubuntu22.04")) and "+" not in image for image in images
    )


def test_two_drivers_do_not_claim_each_others_pods(nvidia_gpu: Any) -> None:
    selectors = [
        item["spec"]["selector"]["matchLabels"]
        for item in nvidia_gpu().objects("DaemonSet", "driver")
    ]
    assert len({json.dumps(selector, sort_keys=True) for selector in selectors}) == 2


def test_cluster_wide_objects_come_once_for_all_kernels(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu("openshift")
    seen = [
        (item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"])
        for item in rendering.objects()
    ]
    assert len(seen) == len(set(seen))
    assert ("ServiceAccount", "nvidia-gpu", "nvidia-driver") in seen


def test_the_driver_restarts_only_on_demand_and_leaves_a_mark_that_a_reboot_clears(
    nvidia_gpu: Any,
) -> None:
    for item in nvidia_gpu().objects("DaemonSet", "driver"):
        assert item["spec"]["updateStrategy"] == {"type": "OnDelete"}
        spec = item["spec"]["template"]["spec"]
        assert spec["hostPID"] is True
        driver = container(spec, "driver")
        assert "/run/nvidia/validations" in driver["startupProbe"]["exec"]["command"][-1]
        assert host_paths(spec)["run-nvidia"] == "/run/nvidia"


@pytest.mark.parametrize(
    ("daemonset", "init"),
    [
        (TOOLKIT, "wait-for-driver"),
        ("nvidia-device-plugin", "wait-for-toolkit"),
        ("nvidia-dcgm-exporter", "wait-for-toolkit"),
        ("gpu-feature-discovery", "wait-for-toolkit"),
    ],
)
def test_dependants_wait_on_the_node_too_without_asking_for_a_gpu(
    nvidia_gpu: Any, daemonset: str, init: str
) -> None:
    waiting = container(pod_spec(nvidia_gpu(), daemonset), init, "initContainers")
    assert "/run/nvidia/validations/.driver-ctr-ready" in waiting["args"][0]
    assert env_of(waiting)["NVIDIA_VISIBLE_DEVICES"] == "void"


def test_only_driver_and_toolkit_are_privileged(nvidia_gpu: Any) -> None:
    privileged = {
        (state, item["name"])
        for state, spec in nvidia_gpu().pod_specs()
        for item in all_containers(spec)
        if item.get("securityContext", {}).get("privileged")
    }
    assert privileged == {("driver", "driver"), ("runtime_hook", "toolkit")}


def test_what_is_not_privileged_drops_all_capabilities(nvidia_gpu: Any) -> None:
    for mig_strategy in ("none", "mixed"):
        for state, spec in nvidia_gpu(mig_strategy=mig_strategy, grafana="instance").pod_specs():
            for item in all_containers(spec):
                security = item["securityContext"]
                if not security.get("privileged"):
                    assert security["capabilities"]["drop"] == ["ALL"], (state, item["name"])
                    assert security["allowPrivilegeEscalation"] is False, (state, item["name"])


def test_no_operand_gets_a_token_for_the_api_server(nvidia_gpu: Any) -> None:
    for platform in ("kubernetes", "openshift"):
        for _name, spec in nvidia_gpu(platform, grafana="instance").pod_specs():
            assert spec["automountServiceAccountToken"] is False


def test_the_driver_is_validated_without_the_extended_resource(nvidia_gpu: Any) -> None:
    spec = nvidia_gpu().pod("driver_validation")["spec"]
    assert spec["runtimeClassName"] == "nvidia"
    (only,) = spec["containers"]
    assert "vectoradd" in only["image"]
    assert env_of(only)["NVIDIA_VISIBLE_DEVICES"] == "all"
    assert not any("nvidia.com" in name for name in only["resources"].get("limits", {}))


def test_the_device_plugin_is_validated_as_a_users_pod_would_use_it(nvidia_gpu: Any) -> None:
    spec = nvidia_gpu().pod("device_plugin_validation")["spec"]
    assert "runtimeClassName" not in spec
    assert spec["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": 1}
    assert "env" not in spec["containers"][0] or "NVIDIA_VISIBLE_DEVICES" not in env_of(
        spec["containers"][0]
    )


def test_openshift_chooses_the_user_of_validation_pods(nvidia_gpu: Any) -> None:
    for platform, given in (("kubernetes", True), ("openshift", False)):
        security = nvidia_gpu(platform).pod("driver_validation")["spec"]["containers"][0][
            "securityContext"
        ]
        assert security["runAsNonRoot"] is True
        assert ("runAsUser" in security) is given


def test_the_namespace_allows_privileged_pods(nvidia_gpu: Any) -> None:
    labels = nvidia_gpu().one("Namespace", "nvidia-gpu")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "privileged"
    assert not any("openshift" in label for label in labels)
    labels = nvidia_gpu("openshift").one("Namespace", "nvidia-gpu")["metadata"]["labels"]
    assert labels["openshift.io/cluster-monitoring"] == "true"


def test_security_context_constraints_are_for_openshift_and_name_existing_accounts(
    nvidia_gpu: Any,
) -> None:
    rendering = nvidia_gpu()
    assert not rendering.objects("SecurityContextConstraints")
    assert "driver/scc.yaml.j2" in rendering.skipped()
    rendering = nvidia_gpu("openshift")
    accounts = {
        f"system:serviceaccount:nvidia-gpu:{name}" for name in names(rendering, "ServiceAccount")
    }
    constraints = rendering.objects("SecurityContextConstraints")
    assert len(constraints) == 5
    assert {user for item in constraints for user in item["users"]} <= accounts
    assert {
        item["metadata"]["name"] for item in constraints if item["allowPrivilegedContainer"]
    } == {
        "nvidia-gpu-driver",
        "nvidia-gpu-container-toolkit",
        "nvidia-gpu-host-driver-validator",  # some nodes may bring their driver
    }


def test_every_pod_finds_its_account_and_configuration(nvidia_gpu: Any) -> None:
    for options in ({}, {"driver_enabled": False}, {"grafana": "instance"}):
        rendering = nvidia_gpu(**options)
        for state, spec in rendering.pod_specs():
            account = spec.get("serviceAccountName")
            assert account is None or account in names(rendering, "ServiceAccount"), state
            for volume in spec.get("volumes", []):
                if "configMap" in volume:
                    assert volume["configMap"]["name"] in names(rendering, "ConfigMap"), state


def test_monitoring_objects_are_left_out_with_a_reason_where_their_kinds_are_missing(
    nvidia_gpu: Any,
) -> None:
    rendering = nvidia_gpu(apis=frozenset())
    assert not rendering.objects("ServiceMonitor")
    assert not rendering.objects("PrometheusRule")
    assert names(rendering, "Service") == {"nvidia-dcgm-exporter"}
    assert "ServiceMonitor" in rendering.skipped()["monitoring/servicemonitor.yaml.j2"]
    assert "PrometheusRule" in rendering.skipped()["monitoring/rules.yaml.j2"]
