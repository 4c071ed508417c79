# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipes/amd-gpu: what its options change."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.lookups import (
    settled,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    render_images,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import (
    GROUPS,
    REPO,
    group_of,
    renderer,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import (
    container,
    env_of,
    host_paths,
    names,
    pod_spec,
)

RENDER = renderer(REPO / "recipes" / "amd-gpu")
REPOSITORY = "registry.example.com/amdgpu-driver"
RHCOS = group_of("coreos", "5.14.0-570.33.2.el9_6.x86_64", os_id="rhcos", os_version="4.20")


def test_by_default_the_nodes_driver_is_proven_and_none_deployed() -> None:
    rendering = RENDER()
    assert not rendering.objects(state="driver")
    assert [proof.kind for proof in rendering.states["driver"].proofs] == ["workload"]
    assert not rendering.objects(state="driver_container")
    pod = rendering.pod("driver")["spec"]
    assert "volumes" not in pod
    assert names(rendering, "DaemonSet") == {
        "amd-gpu-device-plugin",
        "amd-gpu-node-labeller",
        "amd-gpu-exporter",
    }


def test_driver_images_are_called_as_amds_operator_calls_them() -> None:
    on = {"driver_enabled": True, "driver_repository": REPOSITORY}
    assert RENDER(groups=(*GROUPS, RHCOS), **on).images() == {
        "6-8-0-60-generic-11aa22": f"{REPOSITORY}:ubuntu-24.04-6.8.0-60-generic-30.20.1",
        "5-15-0-1-33bb44": f"{REPOSITORY}:ubuntu-22.04-5.15.0-1_fips-8980bb-30.20.1",
        "coreos": f"{REPOSITORY}:coreos-9.6-5.14.0-570.33.2.el9_6.x86_64-30.20.1",
    }
    mine = {"6.8.0-60-generic": "registry.example.com/mine:1"}
    chosen = RENDER(driver_images=mine, **on).images()
    assert chosen["6-8-0-60-generic-11aa22"] == "registry.example.com/mine:1"


def test_a_driver_gets_its_kernel_its_firmware_and_its_parameters() -> None:
    rendering = RENDER(
        driver_enabled=True,
        driver_repository=REPOSITORY,
        driver_parameters=["noretry=0", "vm_size=1"],
    )
    spec = pod_spec(rendering, "amd-gpu-driver-6-8-0-60-generic-11aa22")
    driver = container(spec, "driver")
    assert env_of(driver) == {
        "KERNEL": "6.8.0-60-generic",
        "FIRMWARE": "/var/lib/firmware/amd-gpu",
        "PARAMETERS": "noretry=0 vm_size=1",
    }
    assert driver["securityContext"]["capabilities"] == {
        "drop": ["ALL"],
        "add": ["SYS_MODULE", "SYSLOG"],
    }
    assert host_paths(spec)["firmware"] == env_of(driver)["FIRMWARE"]
    assert [proof.kind for proof in rendering.states["driver"].proofs] == ["rollout"]


def test_a_driver_without_image_is_told_what_to_do() -> None:
    rendering = RENDER(driver_enabled=True)
    facts = replace(rendering.facts, resolved={})
    with pytest.raises(InvalidInput, match=r"nothing names one; name where images are .*driver_bu"):
        render_images(settled(rendering.recipe, facts.options), "driver_container", facts)


@pytest.mark.parametrize("privileged", [True, False])
def test_the_device_plugin_may_do_without_privileges(privileged: bool) -> None:
    rendering = RENDER("openshift", device_plugin_privileged=privileged)
    context = container(pod_spec(rendering, "amd-gpu-device-plugin"), "device-plugin")[
        "securityContext"
    ]
    assert context.get("privileged", False) is privileged
    constraints = rendering.one("SecurityContextConstraints", "amd-gpu-device-plugin")
    assert constraints["allowPrivilegedContainer"] is privileged


def test_partitions_are_called_and_proven_as_the_options_say() -> None:
    rendering = RENDER(resource_naming_strategy="mixed", validation_resource="amd.com/cpx_nps4")
    script = container(pod_spec(rendering, "amd-gpu-device-plugin"), "device-plugin")["args"][0]
    assert "-resource_naming_strategy=mixed" in script
    assert rendering.states["device_plugin"].proofs[1].spec["resource"] == "amd.com/cpx_nps4"
    validation = rendering.states["device_plugin_validation"].proofs[0]
    assert validation.spec["resource"] == "amd.com/cpx_nps4"


@pytest.mark.parametrize("health", [True, False])
def test_an_exporter_that_judges_nothing_cannot_use_the_api_server(health: bool) -> None:
    rendering = RENDER(exporter_health=health, exporter_metrics=["PCIE_BANDWIDTH"])
    spec = pod_spec(rendering, "amd-gpu-exporter")
    assert spec["automountServiceAccountToken"] is health
    assert ("amd-gpu-exporter" in names(rendering, "ClusterRole")) is health
    assert ("-enable-k8s=false" in container(spec, "exporter")["args"]) is not health
    config = json.loads(rendering.one("ConfigMap", "amd-gpu-exporter")["data"]["config.json"])
    assert config["CommonConfig"]["HealthService"]["Enable"] is health
    assert config["GPUConfig"]["Fields"][-1] == "PCIE_BANDWIDTH"
    alerts = json.dumps(rendering.one("PrometheusRule", "amd-gpu"))
    assert ("AmdGpuUnhealthy" in alerts) is health


def test_labels_log_level_and_thresholds() -> None:
    rendering: Any = RENDER(
        labeller_labels=["family"],
        log_level="debug",
        alert_temperature_warning=61,
        alert_temperature_critical=72,
        alert_unused_after="3h",
    )
    labeller = container(pod_spec(rendering, "amd-gpu-node-labeller"), "labeller")
    assert labeller["args"] == ["-logtostderr=true", "-device-id", "-vram", "-family"]
    assert (
        "-v=5"
        in container(pod_spec(rendering, "amd-gpu-device-plugin"), "device-plugin")["args"][0]
    )
    alerts = json.dumps(rendering.one("PrometheusRule", "amd-gpu"))
    assert "> 61" in alerts
    assert "> 72" in alerts
    assert "[3h]" in alerts


def test_dashboard_and_alerts_ask_for_series_of_the_exporters_list() -> None:
    rendering = RENDER()
    board, rules = (
        rendering.one("ConfigMap", "amd-gpu-dashboard"),
        rendering.one("PrometheusRule", "amd-gpu"),
    )
    asked = set(re.findall(r"\bamd_([a-z0-9]+_[a-z0-9_]*[a-z0-9])\b", json.dumps([board, rules])))
    config = json.loads(rendering.one("ConfigMap", "amd-gpu-exporter")["data"]["config.json"])
    offered = {field.lower() for field in config["GPUConfig"]["Fields"]}
    assert len(asked) > 6
    assert asked <= offered


def test_what_something_else_does_is_left_out() -> None:
    rendering = RENDER(device_plugin_enabled=False, labeller_enabled=False, exporter_enabled=False)
    assert names(rendering, "DaemonSet") == set()
    assert not rendering.states["device_plugin_validation"].proofs


PROFILES = {"cpx": [{"computePartition": "CPX", "memoryPartition": "NPS1", "numGPUsAssigned": 8}]}


def test_pods_claim_gpus_of_amds_driver() -> None:
    group = replace(GROUPS[0], allocation="dra")
    rendering = RENDER(groups=(group,), cluster={"kubernetes_version": "1.36.2"})
    plugin = container(pod_spec(rendering, "amd-gpu-dra-driver"), "plugin")
    assert env_of(plugin)["KUBELET_PLUGINS_DIRECTORY_PATH"] == "/var/lib/kubelet/plugins"
    assert str(plugin["livenessProbe"]["grpc"]["port"]) == env_of(plugin)["HEALTHCHECK_PORT"]
    claimed = rendering.pod("dra_validation")["spec"]
    (template,) = rendering.objects("ResourceClaimTemplate")
    assert claimed["resourceClaims"] == [
        {"name": "gpu", "resourceClaimTemplateName": template["metadata"]["name"]}
    ]
    assert claimed["containers"][0]["resources"]["claims"] == [{"name": "gpu"}]
    assert "limits" not in claimed["containers"][0]["resources"]


def test_what_would_undo_the_other_is_refused() -> None:
    with pytest.raises(InvalidInput, match="loads the node's own amdgpu again"):
        RENDER(partition_profiles=PROFILES, driver_enabled=True, driver_repository=REPOSITORY)


def test_gpus_are_divided_as_their_nodes_label_says() -> None:
    rendering = RENDER(partition_profiles=PROFILES)
    config = json.loads(rendering.one("ConfigMap", "amd-gpu-partitions")["data"]["config.json"])
    assert config["gpu-config-profiles"] == {"cpx": {"profiles": PROFILES["cpx"]}}
    spec = pod_spec(rendering, "amd-gpu-partitions")
    # The taint by which AMD's documentation has a node's GPUs freed.
    assert {"key": "amd-dcm", "operator": "Equal", "value": "up", "effect": "NoExecute"} in spec[
        "tolerations"
    ]
    assert rendering.states["partitions"].proofs[1].spec["equal"] == {
        "dcm.amd.com/gpu-config-profile-state": "success"
    }
    assert "partitions" in rendering.recipe.states["device_plugin"].order.requires
    verbs = {verb for rule in _rules(rendering, "amd-gpu-partitions") for verb in rule["verbs"]}
    assert verbs == {"get", "list", "watch", "update", "create"}


def _rules(rendering: Any, role: str) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = rendering.one("ClusterRole", role)["rules"]
    return rules


def test_problems_of_gpus_are_a_condition_of_the_node() -> None:
    problems = [{"metric": "GPU_ECC_UNCORRECT_UMC", "above": 3}]
    rendering = RENDER(problem_detector_enabled=True, node_problems=problems, exporter_health=False)
    spec = pod_spec(rendering, "amd-gpu-exporter")
    assert spec["automountServiceAccountToken"]
    detector = container(spec, "problem-detector")
    monitor = json.loads(rendering.one("ConfigMap", "amd-gpu-exporter")["data"]["problems.json"])
    (rule,) = monitor["rules"]
    assert rule["args"][2:6] == ["-m", "GPU_ECC_UNCORRECT_UMC", "-t", "3"]
    copied = container(spec, "copy-health-check", "initContainers")["command"][-1]
    assert rule["path"] == copied
    assert any(mount["name"] == "programs" for mount in detector["volumeMounts"])
    (condition,) = monitor["conditions"]
    proof = rendering.states["monitoring"].proofs[-1]
    assert proof.spec["condition"] == {"type": condition["type"], "status": "False"}
    assert _rules(rendering, "amd-gpu-exporter") == [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["nodes/status"], "verbs": ["patch"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
    ]
    without = RENDER()
    assert "problems.json" not in without.one("ConfigMap", "amd-gpu-exporter")["data"]
