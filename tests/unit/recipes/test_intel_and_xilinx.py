# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipes/intel-gpu, intel-gaudi and xilinx-fpga: what their options change."""

from __future__ import annotations

import json

import pytest
import yaml

from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import (
    MONITORING_APIS,
    REPO,
    renderer,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import (
    container,
    env_of,
    names,
    pod_spec,
)

INTEL_GPU = renderer(REPO / "recipes" / "intel-gpu")
GAUDI = renderer(REPO / "recipes" / "intel-gaudi")
XILINX = renderer(REPO / "recipes" / "xilinx-fpga")
NFD_RULES = "nfd.k8s-sigs.io/v1alpha1/NodeFeatureRule"


def test_intels_gpus_are_shared_and_chosen_as_the_options_say() -> None:
    rendering = INTEL_GPU(
        shared_dev_num=4,
        allocation_policy="packed",
        deny_ids=["0x4680", "0x4692"],
        validation_resource="gpu.intel.com/i915",
        log_level="debug",
    )
    plugin = container(pod_spec(rendering, "intel-gpu-device-plugin"), "device-plugin")
    assert plugin["args"] == [
        "-v=4",
        "-shared-dev-num=4",
        "-allocation-policy=packed",
        "-bypath=single",
        "-enable-monitoring",
        "-deny-ids=0x4680,0x4692",
    ]
    spec = rendering.states["device_plugin"].proofs[1].spec
    assert (spec["resource"], spec["at_least"]) == ("gpu.intel.com/i915", 4)


@pytest.mark.parametrize("off", ["exporter_enabled", "monitoring_resource"])
def test_xpu_manager_needs_the_monitoring_resource(off: str) -> None:
    exporter = container(pod_spec(INTEL_GPU(), "intel-gpu-exporter"), "exporter")
    assert exporter["resources"]["limits"]["gpu.intel.com/monitoring"] == 1
    rendering = INTEL_GPU(**{off: False})
    assert not rendering.objects(state="monitoring")
    plugin = container(pod_spec(rendering, "intel-gpu-device-plugin"), "device-plugin")
    assert ("-enable-monitoring" in plugin["args"]) is (off == "exporter_enabled")


def test_xpu_managers_configuration_is_one_pipeline() -> None:
    rendering = INTEL_GPU(exporter_interval="20s", log_level="warning")
    config = yaml.safe_load(rendering.one("ConfigMap", "intel-gpu-exporter")["data"]["config.yaml"])
    assert config["receivers"]["intelxpu"]["collection_interval"] == "20s"
    pipeline = config["service"]["pipelines"]["metrics"]
    assert pipeline == {"receivers": ["intelxpu"], "exporters": ["prometheus"]}
    assert config["service"]["telemetry"]["logs"] == {"level": "warn"}
    pods = [
        render.one("DaemonSet", "intel-gpu-exporter")["spec"]["template"]["metadata"]
        for render in (rendering, INTEL_GPU())
    ]
    assert pods[0]["annotations"] != pods[1]["annotations"]


def test_labels_of_intels_gpus_are_rules_where_there_is_nfd() -> None:
    served = MONITORING_APIS | {NFD_RULES}
    (rule,) = INTEL_GPU(apis=served).objects("NodeFeatureRule")
    labels = [label for each in rule["spec"]["rules"] for label in each["labels"].items()]
    assert ("gpu.intel.com/product", "Flex_170") in labels
    assert "{{ len .pci.device }}" in rule["spec"]["rules"][0]["labelsTemplate"]
    assert not INTEL_GPU(apis=served, rules_enabled=False).objects(state="feature_discovery")
    assert "feature_discovery/rules.yaml.j2" in INTEL_GPU().skipped()


def test_gaudis_exporter_is_in_the_nodes_network_only_where_that_is_wanted() -> None:
    for wanted in (True, False):
        rendering = GAUDI("openshift", exporter_host_network=wanted)
        assert pod_spec(rendering, "intel-gaudi-exporter")["hostNetwork"] is wanted
        constraints = rendering.one("SecurityContextConstraints", "intel-gaudi-exporter")
        assert constraints["allowHostNetwork"] is constraints["allowHostPorts"] is wanted
        alerts = json.dumps(rendering.one("PrometheusRule", "intel-gaudi"))
        assert ("IntelGaudiPortDown" in alerts) is wanted


def test_gaudis_proof_uses_the_runtime_class_that_users_need() -> None:
    assert "runtimeClassName" not in GAUDI().pod("device_plugin_validation")["spec"]
    pod = GAUDI(runtime_class="habana").pod("device_plugin_validation")
    assert pod["spec"]["runtimeClassName"] == "habana"


def test_xilinx_cards_are_called_and_shared_as_the_options_say() -> None:
    platforms = {"u250-*-*": "'xilinx_u250'"}
    rendering = XILINX(platforms=platforms, shared_dev_num=3, u30_unit="Device")
    spec = pod_spec(rendering, "xilinx-fpga-device-plugin")
    assert env_of(container(spec, "device-plugin")) == {
        "U30NameConvention": "CommonName",
        "U30AllocUnit": "Device",
        "DeviceNameCustomize": "True",
        "VirtualDev": "True",
        "VirtualNum": "3",
    }
    config = rendering.one("ConfigMap", "xilinx-fpga-device-plugin")
    assert json.loads(config["data"]["NameCustomize.json"]) == platforms
    assert rendering.states["device_plugin"].proofs[1].spec["at_least"] == 3
    assert not names(XILINX(), "ConfigMap")


def test_xilinx_cards_are_proven_by_a_pod_where_their_name_is_told() -> None:
    assert not XILINX().states["device_plugin_validation"].proofs
    (proof,) = (
        XILINX(validation_resource="amd.com/ama_u30").states["device_plugin_validation"].proofs
    )
    assert proof.spec["resource"] == "amd.com/ama_u30"
