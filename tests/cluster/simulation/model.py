# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the simulation keeps of pods and nodes: compact views of API objects, and the pods' behaviours."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from .zones import Numa, parse_numa

Obj = dict[str, Any]

SIM_DOMAIN = "sim.hardware-enablement.io"
FAULTS_ANNOTATION = f"{SIM_DOMAIN}/faults"
DEVICES_ANNOTATION = f"{SIM_DOMAIN}/devices"
# The node labels that the simulation has written, where it does what NFD's master does elsewhere.
LABELS_ANNOTATION = f"{SIM_DOMAIN}/labels"
NUMA_ANNOTATION = f"{SIM_DOMAIN}/numa"
POD_IPS_ANNOTATION = f"{SIM_DOMAIN}/pod-ips"
IN_TREE_ANNOTATION = f"{SIM_DOMAIN}/in-tree"
PREINSTALLED_ANNOTATION = f"{SIM_DOMAIN}/preinstalled"
SIMULATION_PREFIX = "simulation.hardware-enablement.test/"
KWOK_NODE = "kwok.x-k8s.io/node"

BEHAVIOURS = (
    "normal",
    "slow",
    "run",
    "fail",
    "crash",
    "later-crash",
    "dead",
    "image-pull",
    "lag",
    "unhealthy",
    "mute",
)
# How annotation values name roles: what people say about a node (`driver,toolkit`) and the role's
# own name.
ROLE_ALIASES = {
    "toolkit": "runtime-hook",
    "container-toolkit": "runtime-hook",
    "plugin": "device-plugin",
}


@dataclass(frozen=True)
class Behaviour:
    """How a pod behaves.

    seconds: slow's time to readiness or end; later-crash's and dead's time from readiness to the
    fault; how late what an exporter publishes is with lag (mute: it never comes). exit_code: of
    fail, crash and later-crash. message: the last log line, or the image-pull error; "" = a usual
    one. restart_seconds: the crash loop's first back-off, doubled for each restart up to 16 times.
    devices: how many of the node's devices a plugin that is unhealthy finds so.
    mended_by: the operand or role of which a new pod ends it, or "reboot"; "" = nothing does.
    """

    name: str = "normal"
    seconds: float = 0.0
    exit_code: int = 1
    message: str = ""
    restart_seconds: float = 2.0
    mended_by: str = ""
    devices: int = 0


NORMAL = Behaviour()


def parse_behaviour(values: Mapping[str, Any]) -> Behaviour:
    """Make a Behaviour of {"behaviour": name, "seconds": .., "exit_code": .., ...}; ValueError says what is
    wrong."""
    name = str(values.get("behaviour", "normal"))
    if name not in BEHAVIOURS:
        raise ValueError(f"unknown behaviour {name!r}: expected one of {', '.join(BEHAVIOURS)}")
    unknown = set(values) - {"behaviour", *(item.name for item in fields(Behaviour))}
    if unknown:
        raise ValueError(f"behaviour {name!r} has unknown parameters: {', '.join(sorted(unknown))}")
    return Behaviour(
        name=name,
        seconds=float(values.get("seconds", 0)),
        exit_code=int(values.get("exit_code", 1)),
        message=str(values.get("message", "")),
        restart_seconds=float(values.get("restart_seconds", 2.0)),
        mended_by=str(values.get("mended_by", "")),
        devices=int(values.get("devices", 0)),
    )


@dataclass(frozen=True)
class Operand:
    """An entry of operands.yaml; `requires` and `seconds` come from its role."""

    name: str
    stack: str
    role: str
    requires: tuple[str, ...] = ()
    seconds: float = 0.2
    kernel_in_image: bool = False
    resources: tuple[re.Pattern[str], ...] = ()
    logs: tuple[str, ...] = ()
    # The real program that its pod runs, "" for none.
    program: str = ""
    # The DRA driver that its ResourceSlices name.
    dra_driver: str = ""


@dataclass(frozen=True)
class Container:
    name: str
    image: str
    command: str
    restarts_with_pod: bool = False  # an init container that keeps running (a sidecar)
    log_on_error: bool = False  # terminationMessagePolicy FallbackToLogsOnError


@dataclass
class Pod:
    """A bound pod. `status` is the API object's status; `version` its resourceVersion as a number.

    grace: seconds that a pod on its way out may take; at 0 the API server removes it by itself.
    """

    uid: str
    namespace: str
    name: str
    node: str
    version: int
    deleting: bool
    grace: int
    metadata: Obj
    restart_policy: str
    host_network: bool
    containers: tuple[Container, ...]
    inits: tuple[Container, ...]
    extended: dict[str, int]
    behaviour: Behaviour | None
    status: Obj
    operand: Operand
    image: str  # of the container that made it this operand
    requests: tuple[Obj, ...] = ()  # of each container that stays
    gates: tuple[str, ...] = ()  # conditions that it is not ready without
    configuration: str = ""  # of a driver: two that are equal have the same modules
    runtime_class: str = ""
    host_paths: tuple[str, ...] = ()
    config_maps: tuple[str, ...] = ()  # that are mounted

    @property
    def phase(self) -> str:
        return str(self.status.get("phase", "Pending"))

    @property
    def finished(self) -> bool:
        return self.phase in ("Succeeded", "Failed")

    @property
    def ready(self) -> bool:
        return condition(self.status, "Ready") == "True"

    @property
    def open_gates(self) -> bool:
        """Whether somebody has yet to say of it what its readiness stands on."""
        return any(condition(self.status, gate) != "True" for gate in self.gates)

    @property
    def serves(self) -> bool:
        """True while its containers do their work, also where the control plane has lost sight of
        the node."""
        statuses = self.status.get("containerStatuses") or ()
        return self.ready or (
            self.phase == "Running" and bool(statuses) and all(item["ready"] for item in statuses)
        )

    @property
    def of_plugins(self) -> dict[str, int]:
        """The extended resources that a device plugin gives it: for others the scheduler has made a
        claim, and the kubelet leaves them to the DRA driver."""
        claim = self.status.get("extendedResourceClaimStatus") or {}
        claimed = {each["resourceName"] for each in claim.get("requestMappings") or ()}
        return {name: amount for name, amount in self.extended.items() if name not in claimed}

    @property
    def restarts(self) -> int:
        statuses = self.status.get("containerStatuses") or [{}]
        return int(statuses[0].get("restartCount", 0))


@dataclass
class Node:
    """A simulated node. `faults`: operand name, role or "*" -> Behaviour. `devices`: extended resource
    -> count.

    `pod_ips`: labels that a pod has -> the address that it gets.
    """

    name: str
    uid: str
    version: int
    ready: bool
    kernel: str
    boot_id: str
    ip: str
    cidr: str
    port: int
    devices: dict[str, int] = field(default_factory=dict)
    preinstalled: frozenset[str] = frozenset()
    faults: dict[str, Behaviour] = field(default_factory=dict)
    pod_ips: dict[frozenset[tuple[str, str]], str] = field(default_factory=dict)
    gpu: dict[str, str] = field(
        default_factory=dict
    )  # product, memory: what feature discovery reports
    capacity: dict[str, str] = field(default_factory=dict)
    allocatable: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)  # those that the simulation has written
    numa: Numa | None = None
    in_tree: tuple[str, ...] = ()  # modules that the kernel brings and that have the devices

    def behaviour_for(self, pod: Pod) -> Behaviour:
        """The pod's own behaviour, else the node's for that operand, role or all; else normal."""
        if pod.behaviour is not None:
            return pod.behaviour
        for key in (pod.operand.name, pod.operand.role, "*"):
            if key in self.faults:
                return self.faults[key]
        return NORMAL


def condition(status: Obj, kind: str) -> str:
    """The status ("True", "False", "Unknown") of a condition, "" when it is not there."""
    for item in status.get("conditions") or ():
        if item["type"] == kind:
            return str(item["status"])
    return ""


def is_simulated(node: Obj) -> bool:
    """True for nodes that have KWOK's annotation or label for simulated ones, kwok.x-k8s.io/node."""
    meta = node["metadata"]
    return KWOK_NODE in (meta.get("annotations") or {}) or KWOK_NODE in (meta.get("labels") or {})


def parse_faults(text: str) -> dict[str, Behaviour]:
    """Read the faults annotation: a JSON object, operand or role -> {"behaviour": ..., parameters};
    ValueError if wrong."""
    values = json.loads(text)
    if not isinstance(values, dict):
        raise ValueError("expected a JSON object: operand or role -> behaviour")
    # never-scheduled is in force before a pod comes to a node.
    return {
        str(key): parse_behaviour(value)
        for key, value in values.items()
        if value.get("behaviour") != "never-scheduled"
    }


def parse_pod_ips(text: str) -> dict[frozenset[tuple[str, str]], str]:
    """Read the pod-ips annotation: a JSON object, "KEY=VALUE,..." -> address; ValueError if wrong."""
    values = json.loads(text)
    if not isinstance(values, dict):
        raise ValueError("expected a JSON object: labels -> address")
    found = {}
    for labels, address in values.items():
        pairs = [item.partition("=") for item in labels.split(",")]
        if not all(key and equals for key, equals, _value in pairs):
            raise ValueError(f"expected labels as KEY=VALUE,KEY=VALUE, not {labels!r}")
        found[frozenset((key.strip(), value.strip()) for key, _equals, value in pairs)] = str(
            ipaddress.ip_address(address)
        )
    return found


def node_view(node: Obj) -> Node:
    """Compact view of a Node object; ValueError when one of our annotations cannot be read."""
    meta, status = node["metadata"], node.get("status") or {}
    annotations = meta.get("annotations") or {}
    info = status.get("nodeInfo") or {}
    names = [
        name.strip()
        for name in annotations.get(PREINSTALLED_ANNOTATION, "").split(",")
        if name.strip()
    ]
    addresses = {item["type"]: item["address"] for item in status.get("addresses") or ()}
    port = ((status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}).get("Port", 0)
    return Node(
        name=meta["name"],
        uid=meta["uid"],
        version=int(meta["resourceVersion"]),
        ready=condition(status, "Ready") == "True",
        kernel=info.get("kernelVersion", ""),
        boot_id=info.get("bootID", ""),
        ip=addresses.get("InternalIP", "127.0.0.1"),
        cidr=(node.get("spec") or {}).get("podCIDR", ""),
        port=int(port),
        devices={
            key: int(count)
            for key, count in json.loads(annotations.get(DEVICES_ANNOTATION) or "{}").items()
        },
        preinstalled=frozenset(ROLE_ALIASES.get(name, name) for name in names),
        faults=parse_faults(annotations.get(FAULTS_ANNOTATION) or "{}"),
        pod_ips=parse_pod_ips(annotations.get(POD_IPS_ANNOTATION) or "{}"),
        gpu={
            key: annotations[f"{SIM_DOMAIN}/{key}"]
            for key in ("product", "memory", "clique")
            if f"{SIM_DOMAIN}/{key}" in annotations
        },
        capacity=dict(status.get("capacity") or {}),
        allocatable=dict(status.get("allocatable") or {}),
        labels=json.loads(annotations.get(LABELS_ANNOTATION) or "{}"),
        in_tree=tuple(filter(None, annotations.get(IN_TREE_ANNOTATION, "").split(","))),
        numa=parse_numa(annotations.get(NUMA_ANNOTATION) or ""),
    )
