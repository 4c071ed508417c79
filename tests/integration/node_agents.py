# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node agents on simulated nodes, whose pods run nothing: what the agent's own functions make of the
configuration that a run has deployed, as NFD's worker says it. NFD's master is the real one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Event, Thread
from urllib.parse import quote

from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.agent_memory import (
    AgentMemory,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.configuration import (
    AgentConfiguration,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.node_proof import (
    labels_for,
)
from tests.cluster import Cluster
from tests.cluster.api import ApiError
from tests.cluster.simulation.effects import NFD_NAMESPACE, NFD_NODE_LABEL

_FEATURES = f"/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/{NFD_NAMESPACE}/nodefeatures"


class NodeAgents(Thread):
    """The agents of a recipe on some nodes, while the `with` block lasts."""

    def __init__(self, cluster: Cluster, recipe: str, nodes: Sequence[str]) -> None:
        super().__init__(daemon=True)
        self._api = cluster.api
        self._recipe = recipe
        self._memories = {node: AgentMemory() for node in nodes}
        self._said: dict[str, dict[str, str]] = {}
        self._over = Event()

    def run(self) -> None:
        """Look at all nodes again and again, until it is over."""
        while not self._over.wait(0.3):
            for node in self._memories:
                self._say(node, self._labels(node))

    def _labels(self, node: str) -> dict[str, str]:
        """What the node's agent would write; nothing where none is deployed."""
        name = f"{self._recipe}-node-agent"
        try:
            found = self._api.get(f"/api/v1/namespaces/{self._recipe}/configmaps/{name}")
        except ApiError:
            self._memories[node] = AgentMemory()
            return {}
        configuration = AgentConfiguration.from_text(found["data"]["configuration.json"])
        selectors = f"fieldSelector={quote(f'spec.nodeName={node}')}&labelSelector={quote(configuration.pods)}"
        pods = self._api.get(f"/api/v1/namespaces/{configuration.namespace}/pods?{selectors}")
        seen = self._api.get(f"/api/v1/nodes/{node}")
        return labels_for(configuration, seen, pods["items"], self._memories[node], time.time())

    def _say(self, node: str, labels: dict[str, str]) -> None:
        name, before = f"agent-of-{node}", self._said.get(node, {})
        if labels == before:
            return
        if not labels:
            self._api.delete(f"{_FEATURES}/{name}")
        elif before:
            patch = {"spec": {"labels": {**dict.fromkeys(before), **labels}}}
            self._api.patch(f"{_FEATURES}/{name}", patch)
        else:
            features = {"attributes": {}, "flags": {}, "instances": {}}
            feature = {
                "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
                "kind": "NodeFeature",
                "metadata": {"name": name, "labels": {NFD_NODE_LABEL: node}},
                "spec": {"features": features, "labels": labels},
            }
            self._api.create(_FEATURES, feature)
        self._said[node] = labels

    def __enter__(self) -> NodeAgents:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self.join()
        for node in self._memories:
            self._say(node, {})
