# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What operands do to their node: who serves it, which devices it offers, what feature discovery
reports. Pure."""

from __future__ import annotations

import ipaddress
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .model import LABELS_ANNOTATION, Node, Obj, Pod
from .operands import Operands, Stack, image_version

NFD_NAMESPACE = "node-feature-discovery"
NFD_NODE_LABEL = "nfd.node.kubernetes.io/node-name"
MANAGED_BY = {"app.kubernetes.io/managed-by": "hardware-enablement-simulation"}

Served = Mapping[tuple[str, str], Pod | None]


def served(node: Node, pods: Iterable[Pod], stacks: Iterable[str]) -> Served:
    """(stack, role) -> the ready pod that simulates it on the node; None as the pod where the host
    brings it itself."""
    brought = [*node.preinstalled, *(f"host:{role}" for role in node.preinstalled)]
    result: dict[tuple[str, str], Pod | None] = {
        (stack, role): None for stack in stacks for role in brought
    }
    for pod in pods:
        if pod.operand.stack and pod.serves and not pod.deleting:
            result[pod.operand.stack, pod.operand.role] = pod
    return result


def missing(pod: Pod, serving: Served, stack: Stack | None, node: str) -> list[str]:
    """One sentence for each role that the pod needs and nobody simulates on the node."""
    if stack is None:
        return []
    return [
        stack.missing.get(role, "no {role} serves node {node}").format(node=node, role=role)
        for role in pod.operand.requires
        if (stack.name, role) not in serving
    ]


def shortage(pod: Pod, node: Node, pods: Sequence[Pod]) -> str:
    """Why a kubelet would not admit the pod ("OutOfX: sentence"), for pods that were bound without
    the scheduler."""
    for resource, amount in pod.of_plugins.items():
        if resource not in node.allocatable:
            continue
        free = int(node.allocatable[resource])
        used = sum(
            other.of_plugins.get(resource, 0)
            for other in pods
            if other.uid != pod.uid and not other.finished and other.status.get("containerStatuses")
        )
        if used + amount > free:
            return (
                f"OutOf{resource}: Pod was rejected: Node didn't have enough resource: {resource}, "
                f"requested: {amount}, used: {used}, capacity: {free}"
            )
    return ""


def node_patch(node: Node, serving: Served, port: int, unhealthy: int = 0) -> Obj | None:
    """Merge patch for nodes/status, None if nothing is to change.

    A ready device plugin makes capacity the profile's count, and allocatable what of it is not
    unhealthy; without one allocatable is 0 and capacity stays. The kubelet's port is ours, since the logs are.
    """
    capacity: dict[str, str] = {}
    allocatable: dict[str, str] = {}
    plugins = [
        pod for (_role, role), pod in serving.items() if role == "device-plugin" and pod is not None
    ]
    for resource, count in node.devices.items():
        if any(pattern.fullmatch(resource) for pod in plugins for pattern in pod.operand.resources):
            if node.capacity.get(resource) != str(count):
                capacity[resource] = str(count)
            healthy = str(max(count - unhealthy, 0))
            if node.allocatable.get(resource) != healthy:
                allocatable[resource] = healthy
        elif node.allocatable.get(resource, "0") != "0":
            allocatable[resource] = "0"
    change: Obj = {}
    if capacity:
        change["capacity"] = capacity
    if allocatable:
        change["allocatable"] = allocatable
    if node.port != port:
        change["daemonEndpoints"] = {"kubeletEndpoint": {"Port": port}}
    return {"status": change} if change else None


def label_patch(node: Node, features: Mapping[str, Mapping[str, str]]) -> Obj | None:
    """Merge patch for a node that makes labels of its NodeFeatures (name -> labels), None if
    nothing is to change."""
    wanted = {key: value for name in sorted(features) for key, value in features[name].items()}
    if wanted == node.labels:
        return None
    labels = {**dict.fromkeys(node.labels), **wanted}
    return {"metadata": {"labels": labels, "annotations": {LABELS_ANNOTATION: json.dumps(wanted)}}}


def feature_name(stack: str, node: str) -> str:
    return f"{stack}-features-for-{node}"


def node_features(node: Node, serving: Served, operands: Operands) -> dict[str, Obj]:
    """NodeFeature objects by name that the node's ready feature discovery pods make."""
    result = {}
    for (stack_name, role), pod in serving.items():
        if role != "feature-discovery" or pod is None:
            continue
        stack = operands.stacks[stack_name]
        driver = serving.get((stack_name, "driver"))
        version = driver_version(
            image_version(driver.image) if driver else "", stack.default_version
        )
        values: dict[str, str] = {
            **stack.defaults,
            **node.gpu,
            "count": str(node.devices.get(stack.devices, 0)),
            "version": version,
            "version_major": version.split(".", maxsplit=1)[0],
            "version_minor": (version.split(".") + ["0"])[1],
        }
        name = feature_name(stack_name, node.name)
        labels: dict[str, str] = {NFD_NODE_LABEL: node.name, **MANAGED_BY}
        result[name] = {
            "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
            "kind": "NodeFeature",
            "metadata": {
                "name": name,
                "namespace": NFD_NAMESPACE,
                "labels": labels,
                # So that it goes with the node; when the pod goes, the simulation takes it away.
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.uid}
                ],
            },
            "spec": {
                "features": {"attributes": {}, "flags": {}, "instances": {}},
                "labels": {
                    key: value
                    for key, text in stack.features.items()
                    if (value := text.format(**values))
                },
            },
        }
    return result


def driver_version(tag: str, default: str) -> str:
    """The full version of a driver whose image tag says "580" or "580.95.05" or nothing."""
    parts = tag.split(".") if tag else []
    return ".".join([*parts, *default.split(".")[len(parts) :]])


def pod_ip(node: Node, pod: Pod, pods: Iterable[Pod]) -> str:
    """The address of a new pod: the one that the node names for its labels, the node's own, or a
    free one."""
    labels = set((pod.metadata.get("labels") or {}).items())
    for wanted, address in node.pod_ips.items():
        if wanted <= labels:
            return address
    return node.ip if pod.host_network else free_ip(node, pods)


def free_ip(node: Node, pods: Iterable[Pod]) -> str:
    """An address of the node's pod range that none of the pods has; without a range, one made from
    the node's name."""
    used = {pod.status.get("podIP") for pod in pods}
    if node.cidr:
        network: Any = ipaddress.ip_network(node.cidr)
    else:
        network = ipaddress.ip_network(
            (0x0A800000 + (zlib.crc32(node.name.encode()) & 0x7FFF) * 256, 24)
        )
    for number in range(2, network.num_addresses - 1):
        address = str(network[number])
        if address not in used:
            return address
    return str(network[1])
