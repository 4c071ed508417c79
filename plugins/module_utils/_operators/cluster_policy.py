# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ClusterPolicy: options of the recipe nvidia-gpu. Pure.

Fields: api/nvidia/v1 of NVIDIA/gpu-operator, v26.7.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._json import part
from .driver_fields import DRIVER_FIELDS, take_driver_image
from .field_mapping import (
    Fields,
    JoinedField,
    MappedField,
    MappedOptions,
    UnmappedField,
    environment,
    image_reference,
    map_fields,
)

# Where the operands of the operator are states of the recipe: its part -> state, option of the image.
_COMPONENTS = {
    "toolkit": ("runtime_hook", "toolkit_image"),
    "devicePlugin": ("device_plugin", "device_plugin_image"),
    "gfd": ("feature_discovery", "feature_discovery_image"),
    "dcgmExporter": ("monitoring", "exporter_image"),
    "migManager": ("mig", "mig_image"),
}
# What the toolkit is told by its environment is an option here.
_TOOLKIT_OPTIONS = {
    "CONTAINERD_CONFIG": "runtime_config",
    "CRIO_CONFIG": "runtime_config",
    "RUNTIME_CONFIG": "runtime_config",
    "RUNTIME_DROP_IN_CONFIG_HOST_PATH": "runtime_drop_in",
    "CONTAINERD_SOCKET": "runtime_socket",
    "RUNTIME_SOCKET": "runtime_socket",
    "CONTAINERD_RUNTIME_CLASS": "runtime_class",
}
_RESOURCE_TAINT = "nvidia.com/gpu"
_DEFAULT_DRIVER_DIR = "/run/nvidia/driver"

_ALWAYS = UnmappedField("the recipe always deploys it", differs=True, harmless=(True,))
_LABELS = UnmappedField("pods have the recipe's labels and annotations")
_SANDBOX = UnmappedField("the recipe serves containers, not virtual machines")
_SIDECAR = UnmappedField(
    "its kernel modules stay with the driver's pod until that is exchanged; then they go"
)
_MONITOR = UnmappedField("the recipe's ServiceMonitor has an interval and labels, no more")


def _component(name: str) -> dict[str, Any]:
    state, option = _COMPONENTS[name]
    return {
        f"{name}.repository": JoinedField(option),
        f"{name}.image": JoinedField(option),
        f"{name}.version": JoinedField(option),
        f"{name}.imagePullPolicy": UnmappedField(
            "images are pulled where they are not there", differs=True, harmless=("IfNotPresent",)
        ),
        f"{name}.imagePullSecrets": MappedField(
            "image_pull_secrets", lambda names: [*map(str, names)]
        ),
        f"{name}.resources": MappedField(f"resources.{state}"),
        f"{name}.env": MappedField(f"env.{state}", environment),
        f"{name}.args": UnmappedField("its container has the recipe's arguments"),
        f"{name}.hostNetwork": UnmappedField(
            "its pods have a network of their own", harmless=(False,)
        ),
    }


FIELDS: Fields = {
    "operator.runtimeClass": MappedField("runtime_class"),
    "operator.defaultRuntime": UnmappedField(
        "each node says itself which runtime it has", differs=True, harmless=("containerd", "crio", "docker")
    ),
    "operator.use_ocp_driver_toolkit": UnmappedField(
        "where OpenShift has a Driver Toolkit it is used", differs=True, harmless=(True, False)
    ),
    "operator": UnmappedField("there is no operator any more", differs=True),
    "daemonsets.tolerations": MappedField(
        "tolerations",
        lambda given: [each for each in given if each.get("key") != _RESOURCE_TAINT] or None,
    ),
    "daemonsets.priorityClassName": MappedField("priority_class"),
    "daemonsets.updateStrategy": UnmappedField(
        "operands roll, and drivers wait for upgrade", differs=True, harmless=("RollingUpdate",)
    ),
    "daemonsets.rollingUpdate": UnmappedField(
        "operands roll one node at a time", harmless=({"maxUnavailable": "1"},)
    ),
    "daemonsets.labels": _LABELS,
    "daemonsets.annotations": _LABELS,
    "daemonsets.podSecurityContext": UnmappedField("pods have the recipe's security context"),
    "driver.enabled": MappedField("driver_enabled"),
    "driver.useNvidiaDriverCRD": JoinedField("pools, from objects of kind NVIDIADriver"),
    "driver.virtualTopology": UnmappedField("virtual GPUs are not what the recipe serves"),
    **{f"driver.{name}": mapping for name, mapping in DRIVER_FIELDS.items()},
    "toolkit.enabled": MappedField("toolkit_enabled"),
    "toolkit.installDir": MappedField("toolkit_install_dir"),
    **_component("toolkit"),
    "toolkit.env": JoinedField("runtime_config, runtime_drop_in, runtime_socket, env.runtime_hook"),
    "cdi.enabled": MappedField("device_list_strategy", lambda on: None if on else ["envvar"]),
    "cdi.default": UnmappedField("it has no effect in the operator either", harmless=(True, False)),
    "cdi.nriPluginEnabled": UnmappedField("devices come by CDI, not by NRI", harmless=(False,)),
    "devicePlugin.enabled": _ALWAYS,
    "devicePlugin.config": UnmappedField(
        "its ConfigMap is not read: give time_slicing_replicas or mps_replicas, by pools where nodes differ"
    ),
    "devicePlugin.mps.root": UnmappedField("MPS keeps its pipes in /run/nvidia/mps", harmless=("/run/nvidia/mps",)),
    **_component("devicePlugin"),
    "gfd.enabled": _ALWAYS,
    **_component("gfd"),
    "mig.strategy": MappedField("mig_strategy"),
    "migManager.enabled": UnmappedField(
        "GPUs stay divided as they are; mig_devices divides them by pools, at an upgrade",
        differs=True,
        harmless=(False,),
    ),
    "migManager.config": UnmappedField("a pool's mig_devices says what its GPUs are divided into"),
    "migManager.gpuClientsConfig": UnmappedField("upgrade frees a node before its GPUs are divided", differs=True),
    **_component("migManager"),
    "dcgmExporter.enabled": MappedField("exporter_enabled"),
    "dcgmExporter.config": UnmappedField("its ConfigMap is not read: give more series as exporter_metrics"),
    "dcgmExporter.serviceMonitor.interval": MappedField("monitoring_interval"),
    "dcgmExporter.serviceMonitor.additionalLabels": MappedField("monitoring_labels"),
    "dcgmExporter.serviceMonitor.enabled": UnmappedField(
        "there is one where the cluster knows ServiceMonitors", differs=True, harmless=(True, False)
    ),
    "dcgmExporter.serviceMonitor": _MONITOR,
    "dcgmExporter.service": UnmappedField(
        "the exporter's Service is reached in the cluster",
        harmless=({"internalTrafficPolicy": "Cluster"},),
    ),
    **_component("dcgmExporter"),
    "dcgmExporter": UnmappedField("the exporter has the recipe's settings"),
    "hostPaths.kubeletRootDir": MappedField("kubelet_root"),
    "hostPaths.rootFS": UnmappedField("the host's files are those below /", harmless=("/",)),
    "hostPaths.driverInstallDir": JoinedField("driver_install_dir"),
    "dcgm": UnmappedField("the exporter has DCGM in itself; nothing listens on port 5555"),
    "gds": _SIDECAR,
    "gdrcopy": _SIDECAR,
    "nodeStatusExporter": UnmappedField("labels of nodes and the record say how each stands", differs=True),
    "validator": UnmappedField("the recipe's own proofs say what works", differs=True),
    "psa": UnmappedField("the namespace always allows privileged pods", differs=True, harmless=({"enabled": True},)),
    "psp": UnmappedField("Kubernetes has no PodSecurityPolicy any more"),
    "sandboxWorkloads": _SANDBOX,
    "vgpuManager": _SANDBOX,
    "vgpuDeviceManager": _SANDBOX,
    "vfioManager": _SANDBOX,
    "sandboxDevicePlugin": _SANDBOX,
    "kataSandboxDevicePlugin": _SANDBOX,
    "kataManager": _SANDBOX,
    "ccManager": _SANDBOX,
}  # fmt: skip


def policy_options(spec: Mapping[str, Any]) -> MappedOptions:
    """What a ClusterPolicy's spec says, as options of all nodes."""
    spec = _parts_in_use(spec)
    found = map_fields(spec, FIELDS)
    take_driver_image(found, part(spec, "driver"), "driver.")
    for name, (_state, option) in _COMPONENTS.items():
        if reference := image_reference(part(spec, name)):
            found.options[option] = reference
    _take_toolkit(found, part(spec, "toolkit").get("env"))
    _take_driver_directory(found, spec)
    return found


def _parts_in_use(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The spec without what says nothing: parts for virtual machines, which are on by default and act
    only with sandboxWorkloads, and the driver's fields where NVIDIADrivers say them."""
    if not part(spec, "sandboxWorkloads").get("enabled"):
        spec = {name: value for name, value in spec.items() if FIELDS.get(name) is not _SANDBOX}
    driver = part(spec, "driver")
    if driver.get("useNvidiaDriverCRD"):
        kept = {name: driver[name] for name in ("enabled", "useNvidiaDriverCRD") if name in driver}
        spec = {**spec, "driver": kept}
    return spec


def _take_toolkit(found: MappedOptions, entries: Any) -> None:
    for name, value in (environment(entries) or {}).items():
        option = _TOOLKIT_OPTIONS.get(name, f"env.runtime_hook.{name}")
        if option.startswith("env."):
            found.take("toolkit.env", "env.runtime_hook", {name: value})
        else:
            found.options[option] = value


def _take_driver_directory(found: MappedOptions, spec: Mapping[str, Any]) -> None:
    """The directory means the host's driver where the operator deploys none."""
    path = "hostPaths.driverInstallDir"
    given = part(spec, "hostPaths").get("driverInstallDir")
    if not given:
        return
    if part(spec, "driver").get("enabled") is False:
        found.options["driver_install_dir"] = str(given)
    else:
        found.taken.pop(path, None)
        found.drop(
            path,
            UnmappedField(
                f"the driver's files are in {_DEFAULT_DRIVER_DIR}", harmless=(_DEFAULT_DRIVER_DIR,)
            ),
            given,
        )
