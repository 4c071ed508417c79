# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Custom resources of AMD's GPU operator as options and pools of the recipe amd-gpu."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.pools import parse_pools
from ansible_collections.hardware.enablement.plugins.module_utils._operators.device_config import (
    FIELDS,
    device_settings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.field_mapping import (
    ImportedOptions,
    MappedField,
    mapping_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)

Obj = dict[str, Any]
RECIPE = Path(__file__).parents[5] / "recipes" / "amd-gpu"
KNOWN = yaml.safe_load(Path(__file__).with_name("amd_gpu_operator_fields.yml").read_text())


def config(name: str = "one", **spec: Any) -> Obj:
    """A DeviceConfig."""
    return {"metadata": {"name": name}, "spec": spec}


def found(*resources: Obj) -> ImportedOptions:
    """What they are, checked as the options and pools of the recipe."""
    settings = device_settings(resources)
    recipe = load(read_bundle(RECIPE), "amd-gpu")
    resolve(recipe, settings.options)
    for pool in parse_pools(settings.pools):
        resolve(recipe, pool.options, complete=False)
    return settings


def test_every_field_has_its_mapping_and_every_option_is_the_recipe_s() -> None:
    known = KNOWN["DeviceConfig"]
    assert [path for path in known if mapping_of(path, FIELDS) is None] == []
    parts = {".".join(path.split(".")[:count]) for path in known for count in range(1, 5)}
    assert [path for path in FIELDS if path not in parts] == []
    options = load(read_bundle(RECIPE), "amd-gpu").options
    for path, mapping in FIELDS.items():
        if isinstance(mapping, MappedField):
            assert mapping.option.partition(".")[0] in options, path


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
                "prometheus": {"serviceMonitor": {"interval": "15s", "honorLabels": True}},
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
        config("new", selector={"a": "2"}, driver={"version": "30.20.1"}),
    )
    assert settings.options == {}
    assert [(pool["name"], pool["selector"], pool["options"]) for pool in settings.pools] == [
        ("old", {"matchLabels": {"a": "1"}}, {"driver_enabled": False}),
        ("new", {"matchLabels": {"a": "2"}}, {"driver_enabled": True, "driver_version": "30.20.1"}),
    ]
    assert "DeviceConfig old: driver.enable" in settings.taken


def test_the_operator_s_own_selector_is_the_recipe_s() -> None:
    selector = {"feature.node.kubernetes.io/amd-gpu": "true"}
    assert found(config(selector=selector)).options == {"driver_enabled": True}
