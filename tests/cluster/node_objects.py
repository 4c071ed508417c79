# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pure: what the API server is told about a simulated machine, as kubelet and nfd-worker would tell
it."""

from __future__ import annotations

import datetime
import json
import re
import uuid
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.cluster.commands import CONTROL_PLANE_NODE, NFD_NAMESPACE
from tests.cluster.errors import ClusterError
from tests.cluster.kubelet.egress import SIMULATED
from tests.cluster.profiles import PciDevice, Profile

Obj = dict[str, Any]
FEATURES = "feature.node.kubernetes.io"
SIMULATION = "sim.hardware-enablement.io"
KERNEL_LABEL = f"{FEATURES}/kernel-version.full"
NODE_NAME_LABEL = "nfd.node.kubernetes.io/node-name"
KUBELET_VERSION = "v1.36.2"
RUNTIMES = {"containerd": "containerd://2.1.4", "cri-o": "cri-o://1.34.1"}

_OTHER_CONDITIONS = [
    {"type": "MemoryPressure", "status": "False", "reason": "KubeletHasSufficientMemory"},
    {"type": "DiskPressure", "status": "False", "reason": "KubeletHasNoDiskPressure"},
    {"type": "PIDPressure", "status": "False", "reason": "KubeletHasSufficientPID"},
]
_PRETTY = {
    "ubuntu": "Ubuntu {version} LTS",
    "debian": "Debian GNU/Linux {version}",
    "rhel": "Red Hat Enterprise Linux {version} (Plow)",
    "rhcos": "Red Hat Enterprise Linux CoreOS {version}",
    "fedora": "Fedora Linux {version} (Server Edition)",
    "rocky": "Rocky Linux {version} (Blue Onyx)",
    "sles": "SUSE Linux Enterprise Server {version}",
}


@dataclass(frozen=True)
class Machine:
    """One machine: its profile and what differs between machines of a profile."""

    name: str
    profile: Profile
    kernel: str
    os_id: str
    os_version: str
    runtime: str = "containerd"


def parse_os(text: str) -> tuple[str, str]:
    """("ubuntu", "24.04") of "ubuntu:24.04"; ClusterError for anything else."""
    os_id, separator, version = text.partition(":")
    if not (
        separator
        and re.fullmatch(r"[a-z]+", os_id)
        and re.fullmatch(r"[0-9][0-9.]*(-[0-9]+)?", version)
    ):
        raise ClusterError(
            f"{text!r} names no operating system: write ID:VERSION as in os-release, like ubuntu:24.04."
        )
    return os_id, version


def label_value(text: str) -> str:
    """A text as NFD's worker makes a label value of it: other characters become _, ends are letters
    or digits."""
    return re.sub(r"[^-A-Za-z0-9_.]", "_", text).strip("-_.")


def node(machine: Machine, port: int) -> Obj:
    """The Node as its kubelet would register it, whose API (for logs) is at `port`.

    It is Ready from its first moment: a node that becomes so later costs the controller manager
    four more writes, which doubles the time for a thousand of them.
    """
    profile = machine.profile
    info = {
        "architecture": profile.arch,
        "operatingSystem": "linux",
        "kernelVersion": machine.kernel,
        "osImage": _PRETTY.get(machine.os_id, "{id} {version}").format(
            id=machine.os_id, version=machine.os_version
        ),
        "containerRuntimeVersion": RUNTIMES[machine.runtime],
        "kubeletVersion": KUBELET_VERSION,
        "kubeProxyVersion": "",
        "bootID": str(uuid.uuid4()),
        "machineID": uuid.uuid4().hex,
        "systemUUID": str(uuid.uuid4()),
    }
    annotations = {f"{SIMULATION}/{key}": value for key, value in profile.simulation.items()}
    if profile.devices:
        annotations[f"{SIMULATION}/devices"] = json.dumps(dict(profile.devices))
    labels = {"node.kubernetes.io/instance-type": profile.instance_type}
    taints = [dict(taint) for taint in profile.taints]
    obj = _node(
        machine.name,
        profile.arch,
        labels,
        annotations,
        taints,
        profile.capacity,
        info,
        _own_address(machine.name) if "numa" in profile.simulation else "127.0.0.1",
    )
    obj["status"]["conditions"] = [ready_condition(True), *_OTHER_CONDITIONS]
    obj["status"]["daemonEndpoints"] = {"kubeletEndpoint": {"Port": port}}
    return obj


def _own_address(name: str) -> str:
    """An address by which the API server asks for one node's kubelet, see kubelet/egress.py."""
    number = zlib.crc32(name.encode())
    return f"{SIMULATED}.{64 + (number >> 16 & 63)}.{number >> 8 & 255}.{number & 255}"


def control_plane_node() -> Obj:
    """The node that a cluster has from the start: nfd-master wants to know the node that it runs
    on."""
    info = {
        "architecture": "amd64",
        "operatingSystem": "linux",
        "kernelVersion": "6.8.0-60-generic",
        "osImage": "Ubuntu 24.04 LTS",
        "containerRuntimeVersion": RUNTIMES["containerd"],
        "kubeletVersion": KUBELET_VERSION,
        "kubeProxyVersion": "",
        "bootID": str(uuid.uuid4()),
        "machineID": uuid.uuid4().hex,
        "systemUUID": str(uuid.uuid4()),
    }
    role = "node-role.kubernetes.io/control-plane"
    taint = {"key": role, "effect": "NoSchedule"}
    obj = _node(
        CONTROL_PLANE_NODE, "amd64", {role: ""}, {}, [taint], {"cpu": "8", "memory": "32Gi"}, info
    )
    obj["status"]["conditions"] = [ready_condition(True)]
    return obj


def node_feature(machine: Machine) -> Obj:
    """The NodeFeature object that nfd-worker would publish for this machine."""
    features = _features(machine)
    return {
        "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
        "kind": "NodeFeature",
        "metadata": {
            "name": machine.name,
            "namespace": NFD_NAMESPACE,
            "labels": {NODE_NAME_LABEL: machine.name},
            "annotations": {"nfd.node.kubernetes.io/worker.version": "v0.19.0"},
        },
        "spec": {"features": features, "labels": _labels(machine)},
    }


def kernel_features(kernel: str) -> dict[str, str]:
    """NFD's kernel.version attributes: full, major, minor, revision."""
    values = {"full": label_value(kernel)}
    found = re.match(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?", kernel)
    if found:
        parts = zip(("major", "minor", "revision"), found.groups(), strict=True)
        values.update({key: value for key, value in parts if value})
    return values


def kernel_labels(kernel: str) -> dict[str, str]:
    """The labels that NFD makes of a kernel."""
    return {
        f"{FEATURES}/kernel-version.{key}": value for key, value in kernel_features(kernel).items()
    }


def os_features(os_id: str, version: str) -> dict[str, str]:
    """NFD's system.osrelease attributes that become labels: ID, VERSION_ID and its parts, and the
    build of RHCOS, which says since OpenShift 4.19 that it is RHEL."""
    values = {"OSTREE_VERSION": version} if os_id == "rhcos" else {}
    if os_id == "rhcos":
        first, second = version.split(".")[:2]
        old = len(first) == 3
        os_id = "rhcos" if old else "rhel"
        version = f"{first[0]}.{first[1:]}" if old else f"{first}.{second}"
    major, _sep, minor = version.partition(".")
    values |= {"ID": os_id, "VERSION_ID": version, "VERSION_ID.major": major}
    if minor:
        values["VERSION_ID.minor"] = minor
    return values


def ready_condition(ready: bool) -> Obj:
    """The Ready condition of a kubelet that is well, or as the controller manager sets it for one
    that fell silent."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "type": "Ready",
        "status": "True" if ready else "Unknown",
        "reason": "KubeletReady" if ready else "NodeStatusUnknown",
        "message": "kubelet is posting ready status"
        if ready
        else "Kubelet stopped posting node status.",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }


def is_usable(obj: Obj) -> bool:
    """True if the node is Ready and the controller manager has taken its taints off."""
    conditions = obj.get("status", {}).get("conditions", [])
    ready = any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
    return ready and not any(
        taint["key"].startswith("node.kubernetes.io/") for taint in obj["spec"].get("taints", [])
    )


def _node(
    name: str,
    arch: str,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    taints: list[dict[str, str]],
    capacity: Mapping[str, str],
    info: Mapping[str, str],
    address: str = "127.0.0.1",
) -> Obj:
    resources = {
        "pods": "110",
        "ephemeral-storage": "1Ti",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        **capacity,
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/arch": arch,
                "kubernetes.io/os": "linux",
                "kubernetes.io/hostname": name,
                # The controller manager would add these two, by one more write for each node.
                "beta.kubernetes.io/arch": arch,
                "beta.kubernetes.io/os": "linux",
                **labels,
            },
            "annotations": {"kwok.x-k8s.io/node": "fake", **annotations},
        },
        "spec": {"taints": taints} if taints else {},
        "status": {
            "capacity": resources,
            "allocatable": dict(resources),
            "addresses": [
                {"type": "InternalIP", "address": address},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": dict(info),
        },
    }


def _labels(machine: Machine) -> dict[str, str]:
    profile, cpu = machine.profile, machine.profile.cpu
    short = {
        **{
            f"kernel-version.{key}": value for key, value in kernel_features(machine.kernel).items()
        },
        "kernel-config.NO_HZ": "true",
        "kernel-config.NO_HZ_IDLE": "true",
        **{
            f"system-os_release.{key}": value
            for key, value in os_features(machine.os_id, machine.os_version).items()
        },
        **{f"cpu-cpuid.{flag}": "true" for flag in cpu.flags},
        "cpu-model.vendor_id": cpu.vendor,
        "cpu-model.family": str(cpu.family),
        "cpu-model.id": str(cpu.model),
        "cpu-hardware_multithreading": str(cpu.multithreading).lower(),
        "storage-nonrotationaldisk": "true",
    }
    if profile.numa_nodes > 1:
        short["memory-numa"] = "true"
    if machine.os_id in ("rhel", "rhcos", "fedora", "rocky"):
        short["kernel-selinux.enabled"] = "true"
    for device in profile.pci:
        if device.device_class.startswith(profile.pci_classes):
            prefix = f"pci-{device.device_class}_{device.vendor}"
            short[f"{prefix}.present"] = "true"
            if device.sriov_totalvfs:
                short[f"{prefix}.sriov.capable"] = "true"
        if device.device_class.startswith("02") and device.sriov_totalvfs:
            short["network-sriov.capable"] = "true"
        if device.vendor == "15b3":
            short["custom-rdma.capable"] = "true"
    return {**{f"{FEATURES}/{name}": value for name, value in short.items()}, **profile.labels}


def _features(machine: Machine) -> Obj:
    profile, cpu = machine.profile, machine.profile.cpu
    attributes = {
        "kernel.version": kernel_features(machine.kernel),
        "kernel.selinux": {
            "enabled": str(machine.os_id in ("rhel", "rhcos", "fedora", "rocky")).lower()
        },
        "system.osrelease": os_features(machine.os_id, machine.os_version),
        "system.name": {"nodename": machine.name},
        "cpu.model": {"vendor_id": cpu.vendor, "family": str(cpu.family), "id": str(cpu.model)},
        "cpu.topology": {"hardware_multithreading": str(cpu.multithreading).lower()},
        "cpu.rdt": dict(cpu.rdt),
        "memory.numa": {
            "is_numa": str(profile.numa_nodes > 1).lower(),
            "node_count": str(profile.numa_nodes),
        },
    }
    flags = {"cpu.cpuid": cpu.flags}
    devices = [
        {"attributes": _pci(device)} for device in profile.pci for _round in range(device.count)
    ]
    return {
        "attributes": {name: {"elements": elements} for name, elements in attributes.items()},
        "flags": {
            name: {"elements": {flag: {} for flag in values}} for name, values in flags.items()
        },
        "instances": {"pci.device": {"elements": devices}},
    }


def _pci(device: PciDevice) -> dict[str, str]:
    values = {"class": device.device_class, "vendor": device.vendor, "device": device.device}
    if device.sriov_totalvfs:
        values["sriov_totalvfs"] = str(device.sriov_totalvfs)
    return values
