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
from .driver_fields import (
    BESIDE_FIELDS,
    BESIDE_SWITCHES,
    DRIVER_FIELDS,
    DRIVER_SWITCHES,
    LABELS,
    NO_EFFECT,
    NO_IMAGE,
    REPOSITORIES,
    RIGHTS,
    read_beside,
    read_driver,
)
from .field_mapping import (
    EnabledField,
    Fields,
    MappedField,
    MappedOptions,
    ReadField,
    SkippedField,
    Switches,
    UnmappedField,
    environment,
    given_fields,
    image_reference,
    map_fields,
    switched_off,
    unless_on,
)

# Where the operands of the operator are states of the recipe: its part -> state, option of the image.
_COMPONENTS = {
    "toolkit": ("runtime_hook", "toolkit_image"),
    "devicePlugin": ("device_plugin", "device_plugin_image"),
    "gfd": ("feature_discovery", "feature_discovery_image"),
    "dcgmExporter": ("monitoring", "exporter_image"),
    "dcgm": ("dcgm", "dcgm_image"),
    "migManager": ("mig", "mig_image"),
}
# What the toolkit is told by its environment is an option here; of two for one, the operator heeds the first.
_TOOLKIT_OPTIONS = {
    "CONTAINERD_CONFIG": "runtime_config",
    "CRIO_CONFIG": "runtime_config",
    "RUNTIME_CONFIG": "runtime_config",
    "RUNTIME_CONFIG_SOURCE": "runtime_config_source",
    "RUNTIME_CONFIG_SOURCES": "runtime_config_source",
    "NRI_SOCKET": "nri_socket",
    "RUNTIME_DROP_IN_CONFIG": "runtime_drop_in",
    "RUNTIME_DROP_IN_CONFIG_HOST_PATH": "runtime_drop_in",
    "CONTAINERD_SOCKET": "runtime_socket",
    "RUNTIME_SOCKET": "runtime_socket",
    "CONTAINERD_RUNTIME_CLASS": "runtime_class",
}
_IMAGE_KEYS = ("repository", "image", "version")
_RESOURCE_TAINT = "nvidia.com/gpu"
_DEFAULT_DRIVER_DIR = "/run/nvidia/driver"
_DEFAULT_MPS_ROOT = "/run/nvidia/mps"

_PASSTHROUGH = UnmappedField(
    "the recipe nvidia-gpu-passthrough gives whole GPUs to virtual machines, on nodes with the label"
    " nvidia.com/gpu.workload.config=vm-passthrough",
    differs=True,
)
_VIRTUAL = UnmappedField(
    "NVIDIA publishes no image of the vGPU manager, so nothing here could be tried; guests with a"
    " virtual GPU are served by driver_license_secret"
)
_KATA = UnmappedField(
    "the device plugin belongs to a Kata runtime, which kata-deploy installs and no recipe here"
)
_CONFIDENTIAL = UnmappedField(
    "a mode that only the GPU itself can confirm; set it by NVIDIA's own tool before the node joins"
)
_VIRTUAL_MACHINES: Fields = {
    "sandboxWorkloads": _PASSTHROUGH,
    "vgpuManager": _VIRTUAL,
    "vgpuDeviceManager": _VIRTUAL,
    "vfioManager": _PASSTHROUGH,
    "sandboxDevicePlugin": _PASSTHROUGH,
    "kataSandboxDevicePlugin": _KATA,
    "kataManager": _KATA,
    "ccManager": _CONFIDENTIAL,
}
# What the operator does without being told, and the recipe not.
_DEFAULTS: Mapping[str, Any] = {"dcgm_enabled": True}
_JOBS_DIRECTORY = "/var/lib/dcgm-exporter/job-mapping"


def _component(name: str) -> dict[str, Any]:
    state, _option = _COMPONENTS[name]
    return {
        **{f"{name}.{key}": ReadField() for key in _IMAGE_KEYS},
        f"{name}.imagePullPolicy": UnmappedField(
            "images are pulled where they are not there", differs=True, harmless=("IfNotPresent",)
        ),
        f"{name}.imagePullSecrets": MappedField(
            "image_pull_secrets", lambda names: [*map(str, names)]
        ),
        f"{name}.resources": MappedField(f"resources.{state}"),
        f"{name}.env": MappedField(f"env.{state}", environment),
        f"{name}.args": UnmappedField(
            "what its flags say its variables say as well: give env of the state"
        ),
        f"{name}.hostNetwork": UnmappedField(
            "it asks nobody and answers in the cluster alone, so its pods have a network of their own",
            harmless=(False,),
        ),
    }


def _if_on(value: Any) -> bool | None:
    """True where something is switched on; off it is anyway."""
    return True if value else None


def _texts(given: Any) -> list[str]:
    return [str(each) for each in given]


FIELDS: Fields = {
    "operator.runtimeClass": MappedField("runtime_class"),
    "operator.defaultRuntime": UnmappedField(
        "each node says itself which runtime it has", differs=True, harmless=("containerd", "crio", "docker")
    ),
    "operator.use_ocp_driver_toolkit": UnmappedField(
        "where OpenShift has a Driver Toolkit it is used", differs=True, harmless=(True,)
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
    "daemonsets.rollingUpdate.maxUnavailable": MappedField("max_unavailable", str),
    "daemonsets.labels": LABELS,
    "daemonsets.annotations": LABELS,
    "daemonsets.podSecurityContext": RIGHTS,
    "driver.enabled": MappedField("driver_enabled"),
    "driver.useNvidiaDriverCRD": ReadField(),
    "driver.repoConfig.configMapName": REPOSITORIES,
    "driver.virtualTopology.config": MappedField("driver_topology_config_map"),
    **{f"driver.{name}": mapping for name, mapping in DRIVER_FIELDS.items()},
    "toolkit.enabled": MappedField("toolkit_enabled"),
    "toolkit.installDir": MappedField("toolkit_install_dir"),
    **_component("toolkit"),
    "toolkit.env": ReadField(),
    "cdi.enabled": MappedField("device_list_strategy", lambda on: None if on else ["envvar"]),
    "cdi.default": NO_EFFECT,
    "cdi.nriPluginEnabled": MappedField("runtime_mode", lambda on: "nri" if on else None),
    "devicePlugin.enabled": MappedField("device_plugin_enabled", unless_on),
    "devicePlugin.config": UnmappedField(
        "its ConfigMap is not read: give time_slicing_replicas or mps_replicas, by pools where nodes differ"
    ),
    "devicePlugin.mps.root": MappedField("mps_root", lambda path: None if path == _DEFAULT_MPS_ROOT else str(path)),
    **_component("devicePlugin"),
    "gfd.enabled": MappedField("feature_discovery_enabled", unless_on),
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
    "migManager.args": UnmappedField("mig-parted is used without its manager, whose arguments these are"),
    "dcgmExporter.enabled": MappedField("exporter_enabled"),
    "dcgmExporter.config.name": MappedField("exporter_metrics_config_map"),
    "dcgmExporter.enablePodLabels": MappedField("exporter_pod_labels", _if_on),
    "dcgmExporter.enablePodUID": MappedField("exporter_pod_uid", _if_on),
    "dcgmExporter.podLabelAllowlistRegex": MappedField("exporter_pod_label_allowlist", _texts),
    "dcgmExporter.hpcJobMapping": ReadField(),
    "dcgmExporter.hostPID": MappedField("exporter_host_pid", _if_on),
    "dcgmExporter.serviceMonitor.interval": MappedField("monitoring_interval"),
    "dcgmExporter.serviceMonitor.additionalLabels": MappedField("monitoring_labels"),
    "dcgmExporter.serviceMonitor.enabled": UnmappedField(
        "there is one where the cluster knows ServiceMonitors", differs=True, harmless=(True,)
    ),
    "dcgmExporter.serviceMonitor.honorLabels": MappedField("monitoring_honor_labels", _if_on),
    "dcgmExporter.serviceMonitor.relabelings": MappedField("monitoring_relabelings", lambda given: [*given]),
    "dcgmExporter.serviceMonitor.scrapeTimeout": MappedField("monitoring_timeout"),
    "dcgmExporter.service": UnmappedField(
        "metrics of nodes are for the cluster alone: the exporter's Service is of type ClusterIP",
        harmless=({"internalTrafficPolicy": "Cluster"}, {"type": "ClusterIP"}),
    ),
    **_component("dcgmExporter"),
    "dcgmExporter.hostNetwork": MappedField("exporter_host_network", _if_on),
    "dcgmExporter.annotations": LABELS,
    "hostPaths.kubeletRootDir": MappedField("kubelet_root"),
    "hostPaths.rootFS": UnmappedField("the host's files are those below /", harmless=("/",)),
    "hostPaths.driverInstallDir": ReadField(),
    "dcgm.enabled": MappedField("dcgm_enabled"),
    **_component("dcgm"),
    "dcgm.args": MappedField("dcgm_args", _texts),
    "dcgm.hostPort": NO_EFFECT,
    **BESIDE_FIELDS,
    "nodeStatusExporter": UnmappedField("labels of nodes and the record say how each stands", differs=True),
    "validator": UnmappedField("the recipe's own proofs say what works", differs=True),
    "psa": UnmappedField("the namespace always allows privileged pods", differs=True, harmless=({"enabled": True},)),
    "psp": SkippedField("Kubernetes has no PodSecurityPolicy any more"),
    **_VIRTUAL_MACHINES,
}  # fmt: skip


# Parts for virtual machines are on by default and act only with sandboxWorkloads.
SWITCHES: Switches = {
    "driver": EnabledField(besides=("useNvidiaDriverCRD",)),
    **{f"driver.{name}": switch for name, switch in DRIVER_SWITCHES.items()},
    "toolkit": EnabledField(),
    "devicePlugin": EnabledField(),
    "gfd": EnabledField(),
    "migManager": EnabledField(),
    "dcgm": EnabledField(),
    "dcgmExporter": EnabledField(),
    "dcgmExporter.hpcJobMapping": EnabledField(default=False),
    "dcgmExporter.serviceMonitor": EnabledField(default=False),
    **BESIDE_SWITCHES,
    "nodeStatusExporter": EnabledField(default=False),
    "sandboxWorkloads": EnabledField(default=False),
}
_SANDBOXED = tuple(name for name in _VIRTUAL_MACHINES if name != "sandboxWorkloads")
_NO_SANDBOX = "the operator does not use it without sandboxWorkloads.enabled"
_OF_DRIVERS = "objects of kind NVIDIADriver say it, and the operator heeds them alone"


def reads_drivers(spec: Mapping[str, Any]) -> bool:
    """Whether the operator goes by objects of kind NVIDIADriver."""
    return bool(part(spec, "driver").get("useNvidiaDriverCRD"))


def policy_options(spec: Mapping[str, Any]) -> MappedOptions:
    """What a ClusterPolicy's spec says, as options of all nodes."""
    found = MappedOptions(dict(_DEFAULTS))
    spec = _without_unread(spec, found)
    map_fields(spec, FIELDS, switches=SWITCHES, into=found)
    driver = _used(spec, "driver")
    read_driver(found, driver, "driver.")
    if driver.get("useNvidiaDriverCRD") is False:
        found.ignore("driver.useNvidiaDriverCRD", "the options say it for all nodes")
    for name, (_state, option) in _COMPONENTS.items():
        _read_image(found, name, _used(spec, name), option)
    _read_toolkit(found, _used(spec, "toolkit").get("env"))
    _read_driver_directory(found, spec)
    read_beside(found, spec)
    _read_job_mapping(found, _used(spec, "dcgmExporter"))
    return found


def _without_unread(spec: Mapping[str, Any], found: MappedOptions) -> Mapping[str, Any]:
    """The spec without the parts that the operator does not look at because of other parts, which are
    noted."""
    unread = {}
    if not part(spec, "sandboxWorkloads").get("enabled"):
        unread = dict.fromkeys(_SANDBOXED, _NO_SANDBOX)
    spec = _without(spec, unread, found)
    if not reads_drivers(spec):
        return spec
    spec = _without(spec, dict.fromkeys(BESIDE_SWITCHES, _OF_DRIVERS), found)
    driver = {name: each for name, each in spec["driver"].items() if name != "useNvidiaDriverCRD"}
    for path, _value in given_fields({"driver": driver}, FIELDS):
        found.ignore(path, _OF_DRIVERS)
    return {**spec, "driver": {"useNvidiaDriverCRD": True}}


def _without(
    spec: Mapping[str, Any], unread: Mapping[str, str], found: MappedOptions
) -> Mapping[str, Any]:
    gone = {name: spec[name] for name in unread if name in spec}
    for path, _value in given_fields(gone, FIELDS):
        found.ignore(path, unread[path.partition(".")[0]])
    return {name: value for name, value in spec.items() if name not in gone}


def _used(spec: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of the spec without what has no effect, as it is switched off."""
    return {
        key: value
        for key, value in part(spec, name).items()
        if not switched_off(f"{name}.{key}", spec, SWITCHES)
    }


def _read_image(found: MappedOptions, name: str, component: Mapping[str, Any], option: str) -> None:
    given = [key for key in _IMAGE_KEYS if component.get(key)]
    reference = image_reference(component)
    for key in given:
        if reference:
            found.take(f"{name}.{key}", option, reference)
        else:
            found.drop(f"{name}.{key}", NO_IMAGE)


def _read_toolkit(found: MappedOptions, entries: Any) -> None:
    given = environment(entries) or {}
    for name in sorted(given, key=lambda each: [*_TOOLKIT_OPTIONS, each].index(each)):
        option = _TOOLKIT_OPTIONS.get(name)
        value = given[name] if option else {name: given[name]}
        found.take(f"toolkit.env.{name}", option or "env.runtime_hook", value)


def _read_driver_directory(found: MappedOptions, spec: Mapping[str, Any]) -> None:
    """The directory means the host's driver where the operator deploys none."""
    path = "hostPaths.driverInstallDir"
    given = part(spec, "hostPaths").get("driverInstallDir")
    if not given:
        return
    if part(spec, "driver").get("enabled") is False:
        found.take(path, "driver_install_dir", str(given))
    else:
        there = f"the driver's files are in {_DEFAULT_DRIVER_DIR}"
        found.drop(path, UnmappedField(there, harmless=(_DEFAULT_DRIVER_DIR,)), given)


def _read_job_mapping(found: MappedOptions, exporter: Mapping[str, Any]) -> None:
    """The directory, which the operator knows one for, is what switches it on here."""
    given = part(exporter, "hpcJobMapping")
    for name in ("enabled", "directory"):
        path = f"dcgmExporter.hpcJobMapping.{name}"
        if given.get("enabled") and given.get(name):
            directory = str(given.get("directory") or _JOBS_DIRECTORY)
            found.take(path, "exporter_job_mapping_dir", directory)
        elif name == "enabled" and name in given:
            found.ignore(path, "it is off here, too")
