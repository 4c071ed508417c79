# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster shows, read without the collection, so that it can be compared with what the
collection says."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from tests.cluster import Cluster
from tests.cluster.api import ApiError

Obj = dict[str, Any]

DOMAIN = "hardware-enablement.io"
SUMMARY = f"{DOMAIN}/nvidia-gpu"
PROOFS = f"{DOMAIN}/nvidia-gpu.proofs"
STATE_LABEL, VALIDATION_LABEL = f"{DOMAIN}/state", f"{DOMAIN}/validation"
NAMESPACE = "nvidia-gpu"
PODS_PATH = f"/api/v1/namespaces/{NAMESPACE}/pods"


def nodes(cluster: Cluster) -> dict[str, Obj]:
    """The nodes by name."""
    return {item["metadata"]["name"]: item for item in cluster.api.get("/api/v1/nodes")["items"]}


def marks(cluster: Cluster) -> dict[str, dict[str, str]]:
    """node -> our labels and annotations, without the domain."""
    found = {}
    for name, node in nodes(cluster).items():
        carried = {**node["metadata"].get("labels", {}), **node["metadata"].get("annotations", {})}
        found[name] = {
            key.partition("/")[2]: value
            for key, value in carried.items()
            if key.startswith(f"{DOMAIN}/")
        }
    return found


def gates(cluster: Cluster, node: str) -> dict[str, str]:
    """A node's gates by state; its summary label as ""."""
    prefix = "nvidia-gpu."
    others = (
        "proofs",
        "vanished",
        "restart-pending",
        "upgrade",
        "container-runtime",
        "node-kernel",
        "device-allocation",
    )
    carried = {
        key: value
        for key, value in marks(cluster)[node].items()
        if key.removeprefix(prefix) not in others
    }
    return {
        key.removeprefix(prefix) if key.startswith(prefix) else "": value
        for key, value in carried.items()
    }


def phase_events(cluster: Cluster) -> list[tuple[str, str, int]]:
    """(object, reason, how often) of the Events that runs have written, as people read them."""
    items = json.loads(cluster.kubectl("get", "events", "-A", "-o", "json"))["items"]
    return sorted(
        (
            event["involvedObject"]["name"],
            event["reason"],
            (event.get("series") or {}).get("count", 1),
        )
        for event in items
        if event["reportingComponent"] == DOMAIN
    )


def proofs(cluster: Cluster, node: str) -> dict[str, Any]:
    """A node's proofs by state."""
    return dict(json.loads(marks(cluster)[node].get("nvidia-gpu.proofs", "{}")))


def proven_at(cluster: Cluster, node: str, state: str) -> float:
    """When a state was proven on a node, in seconds since the epoch."""
    return seconds(proofs(cluster, node)[state]["time"])


def pods(cluster: Cluster) -> dict[tuple[str, str], Obj]:
    """The pods of DaemonSets by node and state; the node is "" as long as a pod has none."""
    items = cluster.api.get(PODS_PATH)["items"]
    return {
        (item["spec"].get("nodeName", ""), item["metadata"]["labels"][STATE_LABEL]): item
        for item in items
        if VALIDATION_LABEL not in item["metadata"]["labels"]
        and "deletionTimestamp" not in item["metadata"]
    }


def uids(cluster: Cluster) -> dict[tuple[str, str], str]:
    """The uids of the same pods."""
    return {place: pod["metadata"]["uid"] for place, pod in pods(cluster).items()}


def delete_pod(cluster: Cluster, node: str, state: str) -> None:
    """Delete the pod of a state on a node, as `kubectl delete pod` does, and wait until it is gone."""
    cluster.kubectl(
        "delete", "pod", "-n", NAMESPACE, pods(cluster)[(node, state)]["metadata"]["name"]
    )


def is_ready(pod: Obj) -> bool:
    """Whether a pod is Ready."""
    conditions = pod.get("status", {}).get("conditions", [])
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


def has_endpoints(cluster: Cluster, service: str, nodes: int) -> bool:
    """Whether a Service has an address on so many nodes."""
    try:
        found = cluster.api.get(f"/api/v1/namespaces/{NAMESPACE}/endpoints/{service}")
    except ApiError:
        return False
    return nodes == sum(len(subset.get("addresses", [])) for subset in found.get("subsets", []))


def record(cluster: Cluster) -> Obj:
    """The status of the SpecialResource."""
    path = f"/apis/{DOMAIN}/v1/specialresources/nvidia-gpu"
    return dict(cluster.api.get(path)["status"])


def phase(cluster: Cluster, name: str) -> str:
    """The phase in the record of that name; "" where there is none."""
    try:
        record = cluster.api.get(f"/apis/{DOMAIN}/v1/specialresources/{name}")
    except ApiError as error:
        if error.status == 404:
            return ""
        raise
    return str(record.get("status", {}).get("phase", "unknown"))


def problems(cluster: Cluster) -> dict[tuple[str, str], Obj]:
    """The problems that the record names, by node and state."""
    return {(item["node"], item["state"]): item for item in record(cluster).get("problems", [])}


def seconds(timestamp: str) -> float:
    """An API timestamp as seconds since the epoch."""
    return datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()
