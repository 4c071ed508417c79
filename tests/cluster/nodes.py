# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes come, change and go."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.cluster.api import Api, ApiError, in_parallel
from tests.cluster.commands import NFD_NAMESPACE
from tests.cluster.errors import ClusterError
from tests.cluster.node_objects import (
    FEATURES,
    KERNEL_LABEL,
    Machine,
    is_usable,
    kernel_features,
    kernel_labels,
    label_value,
    node,
    node_feature,
    ready_condition,
)

_NODES = "/api/v1/nodes"
_FEATURES = f"/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/{NFD_NAMESPACE}/nodefeatures"
Say = Callable[[str], None]


def free_names(api: Api, prefix: str, count: int) -> list[str]:
    """`count` names PREFIX-1, PREFIX-2, ... that no node has yet."""
    taken = {obj["metadata"]["name"] for obj in api.pages(_NODES)}
    numbers = (number for number in range(1, len(taken) + count + 1))
    free = [name for number in numbers if (name := f"{prefix}-{number}") not in taken]
    return free[:count]


def add_nodes(
    api: Api, machines: Sequence[Machine], *, port: int, say: Say, timeout: float
) -> None:
    """Create nodes and their NodeFeatures and wait until all are Ready and labelled; ClusterError
    after `timeout` s."""
    began = time.monotonic()

    def create(machine: Machine) -> None:
        # In this order: nfd-master forgets a NodeFeature whose node is not there.
        api.create(_NODES, node(machine, port), missing_ok=False)
        api.create(_FEATURES, node_feature(machine), missing_ok=False)

    in_parallel(create, machines)
    if len(machines) > 50:
        say(f"created {len(machines)} nodes after {time.monotonic() - began:.0f} s")
    wait_for_nodes(api, [machine.name for machine in machines], say=say, deadline=began + timeout)
    say(f"{len(machines)} nodes are Ready and labelled after {time.monotonic() - began:.1f} s")


def wait_for_nodes(api: Api, names: Sequence[str], *, say: Say, deadline: float) -> None:
    """Wait until the nodes are Ready, without a lifecycle taint and labelled by NFD; a line of
    progress every 5 s."""
    told = time.monotonic()
    wanted = set(names)
    while True:
        listed = [obj for obj in _find(api, names) if obj["metadata"]["name"] in wanted]
        usable = sum(is_usable(obj) for obj in listed)
        labelled = sum(KERNEL_LABEL in obj["metadata"].get("labels", {}) for obj in listed)
        if usable == labelled == len(wanted):
            return
        now = time.monotonic()
        if now > deadline:
            raise ClusterError(
                f"Of {len(wanted)} nodes only {usable} became Ready and {labelled} were labelled in time: "
                "see kube-controller-manager.log, simulation.log and nfd-master.log in the cluster's folder."
            )
        if now - told > 5:
            say(f"{usable} of {len(wanted)} nodes are Ready, {labelled} labelled")
            told = now
        time.sleep(0.2 if len(wanted) <= 20 else 1)


def remove_nodes(api: Api, names: Sequence[str]) -> None:
    """Take nodes away with their NodeFeatures (what nfd-gc does); ClusterError names those that are
    not there."""

    def remove(name: str) -> bool:
        existed = api.delete(f"{_NODES}/{name}")
        api.delete(f"{_FEATURES}/{name}")
        return existed

    existed = in_parallel(remove, names)
    if missing := [name for name, found in zip(names, existed, strict=True) if not found]:
        raise ClusterError(f"There are no nodes {', '.join(missing)}: see `kubectl get nodes`.")


def reboot(api: Api, name: str, kernel: str) -> None:
    """The node has booted that kernel; its labels still tell of the one before."""
    info = {"kernelVersion": kernel, "bootID": str(uuid.uuid4())}
    _patch_node(api, f"{name}/status", {"status": {"nodeInfo": info}})


def publish_features(api: Api, machine: Machine) -> None:
    """Let NFD know a machine, or know it anew, as nfd-worker on it would; comes back when the node has
    its labels, and of devices no others."""
    feature = node_feature(machine)
    if api.create(_FEATURES, feature) is None:
        change = [{"op": "replace", "path": "/spec", "value": feature["spec"]}]
        api.patch(f"{_FEATURES}/{machine.name}", change, content_type="application/json-patch+json")
    labels = feature["spec"]["labels"]
    wanted = {name: value for name, value in labels.items() if name.startswith(f"{FEATURES}/")}
    _wait_for_labels(api, machine.name, wanted, of=f"{FEATURES}/pci-")


def relabel(api: Api, name: str) -> None:
    """nfd-worker looks at the node again: its NodeFeature follows the kernel that runs, then the
    node's labels do."""
    kernel = api.get(f"{_NODES}/{name}")["status"]["nodeInfo"]["kernelVersion"]
    elements = kernel_features(kernel)
    spec = {
        "labels": kernel_labels(kernel),
        "features": {"attributes": {"kernel.version": {"elements": elements}}},
    }
    api.patch(f"{_FEATURES}/{name}", {"spec": spec})
    _wait_for_labels(api, name, {KERNEL_LABEL: label_value(kernel)}, of=KERNEL_LABEL)


def set_ready(api: Api, name: str, ready: bool) -> None:
    """What everybody sees when a kubelet falls silent (status Unknown), or when it is back."""
    body = {"status": {"conditions": [ready_condition(ready)]}}
    _patch_node(api, f"{name}/status", body, content_type="application/strategic-merge-patch+json")


def _wait_for_labels(
    api: Api, name: str, wanted: Mapping[str, str], *, of: str, timeout: float = 30
) -> None:
    """Wait until a node has these labels, and of those that begin so no others."""
    deadline = time.monotonic() + timeout
    while True:
        labels = api.get(f"{_NODES}/{name}")["metadata"]["labels"]
        known = {label for label in labels if label.startswith(of)}
        if wanted.items() <= labels.items() and known <= wanted.keys():
            return
        if time.monotonic() > deadline:
            raise ClusterError(
                f"{name} was not labelled within {timeout:.0f} s: see nfd-master.log, else simulation.log."
            )
        time.sleep(0.2)


def _find(api: Api, names: Sequence[str]) -> list[dict[str, Any]]:
    if len(names) > 5:
        return list(api.pages(_NODES, limit=1000))
    return in_parallel(lambda name: api.get(f"{_NODES}/{name}"), names)


def _patch_node(
    api: Api, path: str, body: Any, *, content_type: str = "application/merge-patch+json"
) -> None:
    try:
        api.patch(f"{_NODES}/{path}", body, content_type=content_type)
    except ApiError as error:
        if error.status == 404:
            raise ClusterError(
                f"There is no node {path.partition('/')[0]}: see `kubectl get nodes`."
            ) from error
        raise
