# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulation's picture of the cluster, fed by watches and by the answers to its own writes.

Not locked: the daemon holds its lock around every call.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from .decide import Memory
from .effects import NFD_NODE_LABEL
from .model import SIM_DOMAIN, Node, Obj, Pod, is_simulated, node_view
from .operands import Operands, pod_view

LOG = logging.getLogger(__name__)


class Store:
    """Nodes by name, pods by node and uid, what is remembered of each pod. Changes return the node
    concerned."""

    def __init__(self, operands: Operands) -> None:
        self.operands = operands
        self.nodes: dict[str, Node] = {}
        self.removed: set[str] = set()  # simulated nodes that were deleted: their pods are to go
        self.pods: dict[str, dict[str, Pod]] = {}
        self.memory: dict[str, Memory] = {}
        self.names: dict[tuple[str, str], Pod] = {}
        self.features: dict[
            str, dict[str, dict[str, str]]
        ] = {}  # node -> name of a NodeFeature -> labels

    def put_node(self, obj: Obj) -> str | None:
        """Take over a Node object; None when nothing that matters has changed."""
        if not is_simulated(obj):
            return None
        try:
            new = node_view(obj)
        except (ValueError, TypeError, AttributeError) as error:
            LOG.error(
                "node %s: ignored its %s annotations: %s",
                obj["metadata"]["name"],
                SIM_DOMAIN,
                error,
            )
            annotations = {
                k: v
                for k, v in obj["metadata"]["annotations"].items()
                if not k.startswith(SIM_DOMAIN)
            }
            new = node_view({**obj, "metadata": {**obj["metadata"], "annotations": annotations}})
        old = self.nodes.get(new.name)
        if old is not None:
            if old.version >= new.version and old.uid == new.uid:
                return None
            if old.boot_id and old.boot_id != new.boot_id:
                self._reboot(new.name)
        self.nodes[new.name] = new
        self.removed.discard(new.name)
        if old is not None:
            old.version = new.version
            if old == new:
                return None
        return new.name

    def remove_node(self, name: str) -> str | None:
        """Forget a node. Its pods go with it, as a cloud's node lifecycle does at once."""
        if self.nodes.pop(name, None) is None:
            return None
        self.removed.add(name)
        return name

    def put_pod(self, obj: Obj) -> str | None:
        """Take over a bound Pod object; None when we know a newer one."""
        meta = obj["metadata"]
        name = obj["spec"].get("nodeName")
        if not name:
            return None
        known = self.pods.setdefault(name, {})
        old = known.get(meta["uid"])
        if old is not None and old.version >= int(meta["resourceVersion"]):
            return None
        pod = pod_view(obj, self.operands)
        known[pod.uid] = pod
        self.names[pod.namespace, pod.name] = pod
        return pod.node

    def remove_pod(self, uid: str, node: str) -> str | None:
        pod = self.pods.get(node, {}).pop(uid, None)
        self.memory.pop(uid, None)
        if pod is None:
            return None
        if self.names.get((pod.namespace, pod.name)) is pod:
            del self.names[pod.namespace, pod.name]
        return node

    def replace_nodes(self, items: Iterable[Obj]) -> set[str]:
        """Take over a full list of nodes; the concerned ones."""
        items = list(items)
        present = {item["metadata"]["name"] for item in items}
        changed = {self.remove_node(name) for name in set(self.nodes) - present}
        changed |= {self.put_node(item) for item in items}
        return {name for name in changed if name}

    def replace_pods(self, items: Iterable[Obj]) -> set[str]:
        """Take over a full list of bound pods; the concerned nodes."""
        items = list(items)
        present = {item["metadata"]["uid"] for item in items}
        gone = [
            (uid, node) for node, pods in self.pods.items() for uid in pods if uid not in present
        ]
        changed = {self.remove_pod(uid, node) for uid, node in gone}
        changed |= {self.put_pod(item) for item in items}
        return {name for name in changed if name}

    def put_feature(self, obj: Obj) -> str:
        """Take over a NodeFeature object; one that names no node is for the node ""."""
        node = _node_of(obj)
        self.features.setdefault(node, {})[obj["metadata"]["name"]] = (
            obj["spec"].get("labels") or {}
        )
        return node

    def remove_feature(self, obj: Obj) -> str:
        node = _node_of(obj)
        self.features.get(node, {}).pop(obj["metadata"]["name"], None)
        return node

    def replace_features(self, items: Iterable[Obj]) -> set[str]:
        """Take over a full list of NodeFeatures; the concerned nodes."""
        known = set(self.features)
        self.features = {}
        return known | {self.put_feature(item) for item in items}

    def remember(self, uid: str) -> Memory:
        return self.memory.setdefault(uid, Memory())

    def _reboot(self, node: str) -> None:
        for pod in self.pods.get(node, {}).values():
            if not pod.finished:
                self.remember(pod.uid).rebooted = True


def _node_of(feature: Obj) -> str:
    return str((feature["metadata"].get("labels") or {}).get(NFD_NODE_LABEL, ""))
