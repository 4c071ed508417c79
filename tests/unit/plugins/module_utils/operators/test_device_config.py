# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Custom resources of AMD's GPU operator as options and pools of the recipe amd-gpu."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.device_config import (
    device_settings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.field_mapping import (
    ImportedOptions,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.settings_trial import (
    refusal,
)

Obj = dict[str, Any]
RECIPE = Path(__file__).parents[5] / "recipes" / "amd-gpu"


def config(name: str = "one", **spec: Any) -> Obj:
    """A DeviceConfig."""
    return {"metadata": {"name": name}, "spec": spec}


def found(*resources: Obj) -> ImportedOptions:
    """What they are; the recipe can be enabled so."""
    settings = device_settings(resources)
    if refused := refusal(read_bundle(RECIPE), "amd-gpu", settings.options, settings.pools):
        raise refused
    return settings


def test_one_is_options_of_all_nodes() -> None:
    settings = found(
        config(
            selector={"pool": "mi300"},
            driver={
                "enable": True,
                "version": "30.20.1",
                "image": "registry.example.com/amdgpu",
                "imageRegistrySecret": {"name": "pull"},
                "amdgpuInstallerRepoURL": "https://mirror.example.com/amdgpu-install",
                "kernelModuleConfig": {"parameters": ["noretry=0"], "loadArgs": ["-v"]},
                "upgradePolicy": {"enable": True},
                "blacklist": True,
            },
            devicePlugin={
                "devicePluginImage": "p:1",
                "nodeLabellerImage": "l:1",
                "devicePluginArguments": {"resource_naming_strategy": "mixed"},
                "kubeletSocketPath": "/var/lib/k0s/kubelet/device-plugins",
            },
            metricsExporter={
                "enable": True,
                "port": 5000,
                "serviceType": "NodePort",
                "prometheus": {
                    "serviceMonitor": {"enable": True, "interval": "15s", "honorLabels": True}
                },
            },
            testRunner={"enable": False, "image": "t"},
        )
    )
    assert settings.options == {
        "node_selector": {"pool": "mi300"},
        "driver_enabled": True,
        "driver_version": "30.20.1",
        "driver_repository": "registry.example.com/amdgpu",
        "driver_build": True,
        "driver_build_repository": "registry.example.com/amdgpu",
        "driver_build_packages": "https://mirror.example.com",
        "driver_parameters": ["noretry=0"],
        "image_pull_secrets": ["pull"],
        "device_plugin_image": "p:1",
        "labeller_image": "l:1",
        "resource_naming_strategy": "mixed",
        "kubelet_root": "/var/lib/k0s/kubelet",
        "exporter_enabled": True,
        "monitoring_interval": "15s",
    }
    assert settings.pools == []
    assert settings.dropped.keys() == {
        "driver.blacklist",
        "driver.kernelModuleConfig.loadArgs",
        "metricsExporter.serviceType",
        "metricsExporter.prometheus.serviceMonitor.honorLabels",
    }
    assert settings.differs.keys() == {"driver.upgradePolicy"}


def test_several_are_pools() -> None:
    settings = found(
        config("old", selector={"a": "1"}, driver={"enable": False}),
        config("new", selector={"a": "2"}, driver={"version": "30.20.1", "image": "r.io/amdgpu"}),
    )
    # Nodes that neither selects have nothing of the operator's.
    assert settings.options == {
        "driver_build": True,
        "driver_build_repository": "r.io/amdgpu",
        "exporter_enabled": False,
        "hardware_labels": [{"a": "1"}, {"a": "2"}],
    }
    assert [(pool["name"], pool["selector"], pool["options"]) for pool in settings.pools] == [
        ("old", {"matchLabels": {"a": "1"}}, {"driver_enabled": False}),
        (
            "new",
            {"matchLabels": {"a": "2"}},
            {
                "driver_enabled": True,
                "driver_repository": "r.io/amdgpu",
                "driver_version": "30.20.1",
            },
        ),
    ]
    assert "DeviceConfig old: driver.enable" in settings.taken


def test_the_operator_s_own_selector_is_the_recipe_s() -> None:
    selector = {"feature.node.kubernetes.io/amd-gpu": "true"}
    settings = found(config(selector=selector, driver={"enable": False}))
    assert settings.options == {"driver_enabled": False, "exporter_enabled": False}
    assert settings.same == {"selector": "the recipe goes by this label, too"}


def test_several_that_are_called_alike_are_told_apart_by_their_namespaces() -> None:
    alike = [config("gpus", selector={"a": each}, driver={"enable": False}) for each in "12"]
    for index, each in enumerate(alike):
        each["metadata"]["namespace"] = f"team-{index}"
    settings = found(*alike)
    assert len({pool["name"] for pool in settings.pools}) == 2
    assert "DeviceConfig team-1/gpus: driver.enable" in settings.taken


def test_what_is_one_value_for_all_nodes_is_said_by_the_first() -> None:
    monitors = [
        config(
            name,
            selector={"a": name},
            driver={"enable": False},
            metricsExporter={
                "enable": True,
                "prometheus": {"serviceMonitor": {"enable": True, "interval": interval}},
            },
        )
        for name, interval in (("one", "15s"), ("two", "20s"))
    ]
    settings = found(*monitors)
    assert settings.options["monitoring_interval"] == "15s"
    path = "prometheus.serviceMonitor.interval"
    assert settings.dropped == {
        f"DeviceConfig two: metricsExporter.{path}": "monitoring_interval is one value for all nodes, and"
        f" DeviceConfig one: metricsExporter.{path} says it"
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"driver": {"image": "registry.example.com/amdgpu"}}, {"driver": {"enable": False}}),
        ({"devicePlugin": {"enableDevicePlugin": False}}, {}),
        ({"devicePlugin": {"enableNodeLabeller": False}}, {"devicePlugin": {"nodeLabellerImage": "l:2"}}),
        ({"metricsExporter": {"enable": True, "image": "e:1"}}, {"metricsExporter": {"enable": True}}),
        ({"metricsExporter": {"enable": True}}, {"metricsExporter": {"enable": False}}),
        ({"devicePlugin": {"devicePluginTolerations": [{"operator": "Exists"}]}}, {}),
        ({"commonConfig": {"imageRegistrySecrets": [{"name": "pull"}]}}, {}),
    ],
)  # fmt: skip
def test_what_two_say_differently_is_what_enable_takes(one: Obj, other: Obj) -> None:
    off = {"driver": {"enable": False}}
    found(
        config("a", selector={"a": "1"}, **{**off, **one}),
        config("b", selector={"a": "2"}, **{**off, **other}),
    )


def test_a_device_plugin_that_is_switched_off_is_not_deployed() -> None:
    plugins = {"enableDevicePlugin": False, "enableNodeLabeller": False}
    settings = found(config(driver={"enable": False}, devicePlugin=plugins))
    assert settings.options == {
        "device_plugin_enabled": False,
        "driver_enabled": False,
        "exporter_enabled": False,
        "labeller_enabled": False,
    }


def test_a_dra_driver_in_place_of_the_device_plugin_is_the_way_to_gpus() -> None:
    dra = {"driver": {"enable": False}, "draDriver": {"enable": True}}
    settings = found(config(**dra, devicePlugin={"enableDevicePlugin": False}))
    assert settings.options == {
        "device_allocation": "dra",
        "driver_enabled": False,
        "exporter_enabled": False,
    }
    assert "devicePlugin.enableDevicePlugin" in settings.same


def test_a_driver_of_which_nobody_says_where_its_images_are_is_refused_before_it_is_written() -> (
    None
):
    for driver in ({}, {"image": "r.io/amdgpu:mine"}):
        settings = device_settings([config(driver=driver)])
        assert settings.dropped.keys() == {f"driver.{name}" for name in driver}
        refused = refusal(read_bundle(RECIPE), "amd-gpu", settings.options, settings.pools)
        assert refused is not None
        assert "name where images are (driver_repository" in refused.todo
