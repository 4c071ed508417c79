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
    assert driver["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["SYS_MODULE"]}
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
