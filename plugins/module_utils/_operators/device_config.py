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
    FieldMapping,
    Fields,
    ImportedOptions,
    JoinedField,
    MappedField,
    MappedOptions,
    UnmappedField,
    joined_rows,
    map_fields,
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
    "image": JoinedField("driver_repository, driver_build_repository"),
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

FIELDS: Fields = {
    "selector": JoinedField("node_selector, or the selector of a pool"),
    **{f"driver.{name}": mapping for name, mapping in _DRIVER.items()},
    "commonConfig.imageRegistrySecrets": MappedField(
        "image_pull_secrets", lambda secrets: [str(each["name"]) for each in secrets]
    ),
    "commonConfig": UnmappedField("the recipe has no such helpers", differs=True),
    "devicePlugin.enableDevicePlugin": UnmappedField("the recipe always deploys it", differs=True, harmless=(True,)),
    "devicePlugin.enableNodeLabeller": UnmappedField("the recipe always deploys it", differs=True, harmless=(True,)),
    "devicePlugin.devicePluginImage": MappedField("device_plugin_image"),
    "devicePlugin.nodeLabellerImage": MappedField("labeller_image"),
    "devicePlugin.devicePluginImagePullPolicy": _PULL,
    "devicePlugin.nodeLabellerImagePullPolicy": _PULL,
    "devicePlugin.devicePluginTolerations": _TOLERATIONS,
    "devicePlugin.nodeLabellerTolerations": _TOLERATIONS,
    "devicePlugin.devicePluginArguments": JoinedField("resource_naming_strategy"),
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
        "there is one where the cluster knows ServiceMonitors", differs=True, harmless=(True, False)
    ),
    "metricsExporter.prometheus.serviceMonitor.interval": MappedField("monitoring_interval"),
    "metricsExporter.prometheus.serviceMonitor.labels": MappedField("monitoring_labels"),
    "metricsExporter.prometheus.serviceMonitor": _MONITOR,
    "metricsExporter.selector": _NODES,
    "metricsExporter.upgradePolicy": _ROLL,
    "configManager": UnmappedField("GPUs stay partitioned as they are; the recipe does not partition them"),
    "draDriver": UnmappedField("devices are advertised by a device plugin"),
    "testRunner": UnmappedField("the recipe's own proofs say what works", differs=True),
    "remediationWorkflow": UnmappedField("the playbook remedy mends nodes", differs=True),
}  # fmt: skip


def device_settings(resources: Sequence[Mapping[str, Any]]) -> ImportedOptions:
    """Of one DeviceConfig, or several, each of which is a pool then."""
    parts = [_part(each, named=len(resources) > 1) for each in resources]
    if len(parts) == 1:
        spec, found = resources[0].get("spec") or {}, parts[0]
        selector = dict(part(spec, "selector"))
        if selector and selector != _DEFAULT_SELECTOR:
            found.options["node_selector"] = selector
        return ImportedOptions("amd-gpu", found.options, [], *joined_rows(parts))
    pools: list[Obj] = [
        {
            "name": pool_name(str(each["metadata"]["name"])),
            "selector": {"matchLabels": dict(part(each, "spec", "selector"))},
            "options": mapped.options,
        }
        for each, mapped in zip(resources, parts, strict=True)
    ]
    return ImportedOptions("amd-gpu", {}, pools, *joined_rows(parts))


def _part(resource: Mapping[str, Any], *, named: bool) -> MappedOptions:
    spec = part(resource, "spec")
    prefix = f"DeviceConfig {resource['metadata']['name']}: " if named else ""
    found = map_fields(spec, FIELDS, prefix)
    driver = part(spec, "driver")
    if driver.get("image"):
        # What the operator has built is there; what is not, is built into the same repository.
        found.options |= {
            "driver_repository": str(driver["image"]),
            "driver_build_repository": str(driver["image"]),
            "driver_build": True,
        }
    # The operator installs a driver unless it is told not to.
    found.options.setdefault("driver_enabled", True)
    arguments = part(spec, "devicePlugin", "devicePluginArguments")
    if strategy := arguments.get("resource_naming_strategy"):
        found.options["resource_naming_strategy"] = str(strategy)
    return found
