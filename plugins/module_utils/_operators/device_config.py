# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DeviceConfig of AMD's GPU operator: options of the recipe amd-gpu, and pools where there are several.
Pure.

Fields: amd.com/v1alpha1 of ROCm/gpu-operator.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .._json import Obj, part
from .._nodes.pools import pool_name
from .field_mapping import (
    EnabledField,
    FieldMapping,
    Fields,
    ImportedOptions,
    MappedField,
    MappedOptions,
    ReadField,
    Switches,
    UnmappedField,
    map_fields,
    spec_of,
    switched_off,
    unless_on,
)

GROUP = "amd.com"
KINDS: Mapping[str, str] = {"DeviceConfig": f"{GROUP}/v1alpha1"}

# What nodes have by a rule that comes with the operator; the recipe goes by it, too.
_DEFAULT_SELECTOR = {"feature.node.kubernetes.io/amd-gpu": "true"}
_PULL = UnmappedField(
    "images are pulled where they are not there", differs=True, harmless=("IfNotPresent",)
)
_ROLL = UnmappedField("operands roll, one node at a time", differs=True)
_NODES = UnmappedField("it runs on all nodes of the recipe")
_MINE = UnmappedField("its container has the recipe's arguments")
_NETWORK = UnmappedField("its pods have a network of their own", harmless=(False,))
_SECRET = MappedField(
    "image_pull_secrets", lambda secret: [str(secret["name"])] if secret.get("name") else None
)
_TOLERATIONS = MappedField("tolerations")
_SECURED = UnmappedField(
    "the exporter serves plain HTTP in the cluster; a NetworkPolicy says to whom"
)
_MONITOR = UnmappedField("the recipe's ServiceMonitor has an interval and labels, no more")
_UPGRADE = UnmappedField(
    "upgrade exchanges drivers when it is run, as its variables say", differs=True
)


def _driver_packages(url: Any) -> str | None:
    """The server of an address below it."""
    found = re.match(r"https?://[^/]+", str(url))
    return found[0] if found else None


_DRIVER: Mapping[str, FieldMapping] = {
    "enable": MappedField("driver_enabled"),
    "version": MappedField("driver_version"),
    "image": ReadField(),
    "imageRegistrySecret": _SECRET,
    "tolerations": _TOLERATIONS,
    "amdgpuInstallerRepoURL": MappedField("driver_build_packages", _driver_packages),
    "kernelModuleConfig.parameters": MappedField("driver_parameters", lambda given: [*map(str, given)]),
    "kernelModuleConfig": UnmappedField("modprobe gets the module's parameters, and no other arguments"),
    "imageBuild.baseImageRegistry": UnmappedField("give driver_build_base", harmless=("docker.io",)),
    "imageBuild": UnmappedField("driver_build_containerfile is for builds of one's own"),
    "imageSign": UnmappedField("images are not signed; name signed ones as driver_images"),
    "imageRegistryTLS": UnmappedField(
        "hardware_enablement_registry_verify and hardware_enablement_registries say whom to trust", differs=True
    ),
    "useSourceImage": UnmappedField("a driver is built from AMD's packages", harmless=(False,)),
    "blacklist": UnmappedField("the nodes' own amdgpu is theirs: keep it away by their image", harmless=(False,)),
    "driverType": UnmappedField("the recipe serves containers, not virtual machines", harmless=("container",)),
    "vfioConfig": UnmappedField("the recipe serves containers, not virtual machines"),
    "upgradePolicy": _UPGRADE,
}  # fmt: skip

_PLUGIN = "devicePlugin.enableDevicePlugin"

FIELDS: Fields = {
    "selector": ReadField(),
    **{f"driver.{name}": mapping for name, mapping in _DRIVER.items()},
    "commonConfig.imageRegistrySecrets": MappedField(
        "image_pull_secrets", lambda secrets: [str(each["name"]) for each in secrets]
    ),
    "commonConfig": UnmappedField("the recipe has no such helpers", differs=True),
    _PLUGIN: ReadField(),
    "devicePlugin.enableNodeLabeller": MappedField("labeller_enabled", unless_on),
    "devicePlugin.devicePluginImage": MappedField("device_plugin_image"),
    "devicePlugin.nodeLabellerImage": MappedField("labeller_image"),
    "devicePlugin.devicePluginImagePullPolicy": _PULL,
    "devicePlugin.nodeLabellerImagePullPolicy": _PULL,
    "devicePlugin.devicePluginTolerations": _TOLERATIONS,
    "devicePlugin.nodeLabellerTolerations": _TOLERATIONS,
    "devicePlugin.devicePluginArguments": ReadField(),
    "devicePlugin.nodeLabellerArguments": MappedField("labeller_labels", lambda given: [*map(str, given)]),
    "devicePlugin.kubeletSocketPath": MappedField(
        "kubelet_root", lambda path: str(path).removesuffix("/device-plugins")
    ),
    "devicePlugin.imageRegistrySecret": _SECRET,
    "devicePlugin.hostNetwork": _NETWORK,
    "devicePlugin.upgradePolicy": _ROLL,
    "metricsExporter.enable": MappedField("exporter_enabled"),
    "metricsExporter.image": MappedField("exporter_image"),
    "metricsExporter.imagePullPolicy": _PULL,
    "metricsExporter.imageRegistrySecret": _SECRET,
    "metricsExporter.tolerations": _TOLERATIONS,
    "metricsExporter.resource": MappedField("resources.monitoring"),
    "metricsExporter.config": UnmappedField("its ConfigMap is not read: give more fields as exporter_metrics"),
    "metricsExporter.port": UnmappedField("it serves on port 5000", harmless=(5000,)),
    "metricsExporter.nodePort": UnmappedField("its Service is reached in the cluster"),
    "metricsExporter.serviceType": UnmappedField("its Service is reached in the cluster", harmless=("ClusterIP",)),
    "metricsExporter.serviceAnnotations": UnmappedField("its Service has the recipe's annotations"),
    "metricsExporter.podAnnotations": UnmappedField("pods have the recipe's annotations"),
    "metricsExporter.hostNetwork": _NETWORK,
    "metricsExporter.podResourceAPISocketPath": UnmappedField(
        "it follows kubelet_root", differs=True, harmless=("/var/lib/kubelet/pod-resources",)
    ),
    "metricsExporter.rbacConfig": _SECURED,
    "metricsExporter.prometheus.serviceMonitor.enable": UnmappedField(
        "there is one where the cluster knows ServiceMonitors", differs=True, harmless=(True,)
    ),
    "metricsExporter.prometheus.serviceMonitor.interval": MappedField("monitoring_interval"),
    "metricsExporter.prometheus.serviceMonitor.labels": MappedField("monitoring_labels"),
    "metricsExporter.prometheus.serviceMonitor": _MONITOR,
    "metricsExporter.selector": _NODES,
    "metricsExporter.upgradePolicy": _ROLL,
    "configManager": UnmappedField("GPUs stay partitioned as they are: give the profiles as partition_profiles"),
    "draDriver.enable": MappedField("device_allocation", lambda on: "dra" if on else None),
    "draDriver.image": MappedField("dra_image"),
    "draDriver.imagePullPolicy": _PULL,
    "draDriver.imageRegistrySecret": _SECRET,
    "draDriver.tolerations": _TOLERATIONS,
    "draDriver.cmdLineArguments": _MINE,
    "draDriver.selector": _NODES,
    "draDriver.upgradePolicy": _ROLL,
    "testRunner": UnmappedField("the recipe's own proofs say what works", differs=True),
    "remediationWorkflow": UnmappedField("the playbook remedy mends nodes", differs=True),
}  # fmt: skip


SWITCHES: Switches = {
    # What is kept from loading by the labeller, also where the operator has no driver.
    "driver": EnabledField("enable", besides=("blacklist", "driverType")),
    "driver.upgradePolicy": EnabledField("enable"),
    "metricsExporter": EnabledField("enable", default=False),
    "metricsExporter.rbacConfig": EnabledField("enable", default=False),
    "metricsExporter.prometheus.serviceMonitor": EnabledField("enable", default=False),
    "configManager": EnabledField("enable", default=False),
    "draDriver": EnabledField("enable", default=False),
    "testRunner": EnabledField("enable", default=False),
    "remediationWorkflow": EnabledField("enable", default=False),
}
# What a DeviceConfig says that sets nothing, where the recipe has it otherwise.
_DEFAULTS: Mapping[str, Any] = {"driver_enabled": True, "exporter_enabled": False}
# The way to an image is the same for all nodes, and so is how a Service is monitored.
_OF_ALL_NODES = ("driver_build", "monitoring_interval", "monitoring_labels")
# Where a build is on, each pool has one, also where there is no driver to build.
_ELSE_OF_THE_FIRST = ("driver_build_repository",)
_TAGGED = UnmappedField(
    "the operator adds a tag to it itself, and it has one: name images in driver_images"
)
_STRATEGY = "resource_naming_strategy"
_ARGUMENTS = "devicePlugin.devicePluginArguments"


def device_settings(resources: Sequence[Mapping[str, Any]]) -> ImportedOptions:
    """Of one DeviceConfig, or several, each of which is a pool then."""
    return _of_several(resources) if len(resources) > 1 else _of_one(resources[0])


def _of_one(resource: Mapping[str, Any]) -> ImportedOptions:
    found, selector = _read(resource, ""), dict(part(resource, "spec", "selector"))
    if selector == _DEFAULT_SELECTOR:
        found.ignore("selector", "the recipe goes by this label, too")
    elif selector:
        found.take("selector", "node_selector", selector)
    return ImportedOptions.of("amd-gpu", [found], found.options)


def _of_several(resources: Sequence[Mapping[str, Any]]) -> ImportedOptions:
    names = _names(resources)
    parts = [
        _read(each, f"DeviceConfig {name}: ") for each, name in zip(resources, names, strict=True)
    ]
    selectors = [dict(part(each, "spec", "selector")) or _DEFAULT_SELECTOR for each in resources]
    _tell_of_all_nodes(parts)
    common = _common([each.options for each in parts])
    pools: list[Obj] = []
    for resource, name, selector, found in zip(resources, names, selectors, parts, strict=True):
        pool = pool_name(name)
        if part(spec_of(resource), "selector"):
            found.taken[f"{found.prefix}selector"] = (
                f"hardware_labels, and the selector of pool {pool}"
            )
        options = {
            key: value
            for key, value in found.options.items()
            if key not in _OF_ALL_NODES and common.get(key) != value
        }
        pools.append({"name": pool, "selector": {"matchLabels": selector}, "options": options})
    # A node that none of them selects has nothing of the operator's.
    common["hardware_labels"] = [
        each for index, each in enumerate(selectors) if each not in selectors[:index]
    ]
    return ImportedOptions.of("amd-gpu", parts, common, pools)


def _names(resources: Sequence[Mapping[str, Any]]) -> list[str]:
    """Of each its own, with its namespace where another one has the same."""
    metadata = [part(each, "metadata") for each in resources]
    names = [str(each["name"]) for each in metadata]
    return [
        f"{each.get('namespace', '')}/{name}" if names.count(name) > 1 else name
        for each, name in zip(metadata, names, strict=True)
    ]


def _common(options: Sequence[Mapping[str, Any]]) -> Obj:
    """The options that all of them have alike, and those that cannot differ."""
    first = options[0]
    found = {
        name: value
        for name, value in first.items()
        if all(name in each and each[name] == value for each in options)
    }
    for name in (*_OF_ALL_NODES, *_ELSE_OF_THE_FIRST):
        value = next((each[name] for each in options if name in each), None)
        if value is not None:
            found[name] = value
    return found


def _tell_of_all_nodes(parts: Sequence[MappedOptions]) -> None:
    """What is one value for all nodes is that of the first that says it; the others are lost."""
    for name in _OF_ALL_NODES:
        saying = [each for each in parts if name in each.options]
        for other in saying[1:]:
            if other.options[name] != saying[0].options[name]:
                path = other.takers[name]
                other.taken.pop(path, None)
                other.dropped[path] = (
                    f"{name} is one value for all nodes, and {saying[0].takers[name]} says it"
                )


def _read(resource: Mapping[str, Any], prefix: str) -> MappedOptions:
    spec = spec_of(resource)
    found = MappedOptions(dict(_DEFAULTS), prefix)
    map_fields(spec, FIELDS, switches=SWITCHES, into=found)
    image = str(part(spec, "driver").get("image") or "")
    if image and not switched_off("driver.image", spec, SWITCHES):
        _read_driver_image(found, image)
    plugin = part(spec, "devicePlugin").get("enableDevicePlugin")
    if plugin is not None and part(spec, "draDriver").get("enable"):
        found.ignore(_PLUGIN, "where its DRA driver gives the GPUs, there is no device plugin")
    elif plugin is not None:
        found.take(_PLUGIN, "device_plugin_enabled", unless_on(plugin))
    for name, value in part(spec, *_ARGUMENTS.split(".")).items():
        if name == _STRATEGY:
            found.take(f"{_ARGUMENTS}.{name}", _STRATEGY, str(value))
        else:
            found.drop(f"{_ARGUMENTS}.{name}", _MINE)
    return found


def _read_driver_image(found: MappedOptions, image: str) -> None:
    """What the operator has built is there; what is not, is built into the same repository."""
    path = "driver.image"
    if ":" in image.rpartition("/")[2]:
        found.drop(path, _TAGGED)
        return
    for option in ("driver_repository", "driver_build_repository"):
        found.take(path, option, image)
    found.take(path, "driver_build", value=True)
