# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes with GPUs whose drivers are exchanged, or that are mended, and pods of others on them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.cluster import Cluster
from tests.integration import sight
from tests.integration.plays import Played, Runner
from tests.integration.waiting import wait_until

Obj = dict[str, Any]

RECIPE = {"hardware_enablement_recipe": "nvidia-gpu", "hardware_enablement_failure_grace": 2}
THEIRS = "theirs"
AT_ONCE = {"upgrade_waves": ["100%"], "upgrade_max_unavailable": "100%"}
TAINT = {"key": sight.SUMMARY, "value": "quarantined", "effect": "NoSchedule"}


class Site:
    """The cluster, and the driver that is deployed in it."""

    def __init__(self, cluster: Cluster, runner: Runner, nodes: Sequence[str]) -> None:
        self.cluster, self.runner, self.nodes = cluster, runner, nodes
        self.version = 590

    def deploy(self) -> None:
        """Deploy another driver, which no node runs yet."""
        self.version += 1
        self.runner.play("enable_gpu", **self.options()).check()

    def options(self) -> Obj:
        """Those of the driver that is deployed."""
        return {"hardware_enablement_options": {"driver_version": str(self.version)}}

    def upgrade(self, *arguments: str, **variables: Any) -> Played:
        """Play it."""
        return self.runner.play("upgrade", *arguments, **RECIPE, **variables)

    def drivers(self) -> dict[str, Obj]:
        """Node -> its driver's pod."""
        found = sight.pods(self.cluster)
        return {node: pod for (node, state), pod in found.items() if state == "driver"}

    def uids(self) -> dict[str, str]:
        """Node -> uid of its driver's pod, where that has been sent to one."""
        return {node: pod["metadata"]["uid"] for node, pod in self.drivers().items() if node}

    def current(self) -> set[str]:
        """The nodes that run the driver that is deployed."""
        return {
            node
            for node, pod in self.drivers().items()
            if f":{self.version}-" in pod["spec"]["containers"][0]["image"] and sight.is_ready(pod)
        }

    def upgrades(self) -> dict[str, Obj]:
        """Node -> what its annotation says."""
        marks = sight.marks(self.cluster)
        found = {node: marks[node].get("nvidia-gpu.upgrade") for node in self.nodes}
        return {node: json.loads(text) for node, text in found.items() if text}

    def boots(self) -> dict[str, str]:
        """Node -> the id of its boot."""
        nodes = sight.nodes(self.cluster)
        return {node: nodes[node]["status"]["nodeInfo"]["bootID"] for node in self.nodes}

    def cordoned(self) -> set[str]:
        """The nodes that are cordoned."""
        nodes = sight.nodes(self.cluster)
        return {node for node in self.nodes if nodes[node]["spec"].get("unschedulable")}

    def taints(self) -> dict[str, list[Obj]]:
        """Node -> its taints of ours."""
        nodes = sight.nodes(self.cluster)
        found = {node: nodes[node]["spec"].get("taints", []) for node in self.nodes}
        return {
            node: ours
            for node, taints in found.items()
            if (ours := [taint for taint in taints if taint["key"] == sight.SUMMARY])
        }

    def run_pod(self, name: str, node: str, **spec: Any) -> None:
        """A pod of somebody on a node, with a controller unless it is not owned."""
        owned = spec.pop("owned", True)
        metadata: Obj = {"name": name, "namespace": THEIRS, "labels": {"app": name}}
        if owned:
            # Without a controller that is there, garbage collection would take it.
            metadata["ownerReferences"] = self._owner()
        container = {"name": "c", "image": "example.com/user:1", **spec.pop("container", {})}
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": {
                "containers": [container],
                "nodeName": node,
                "terminationGracePeriodSeconds": 1,
                **spec,
            },
        }
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(body))
        wait_until(lambda: name in self.pods(), f"pod {name} runs")

    def _owner(self) -> list[Obj]:
        """Something that is there and makes no pods."""
        path = f"/api/v1/namespaces/{THEIRS}/configmaps/kube-root-ca.crt"
        uid = self.cluster.api.get(path)["metadata"]["uid"]
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "kube-root-ca.crt", "uid": uid}
        return [{**owner, "controller": True}]

    def pods(self) -> dict[str, Obj]:
        """Somebody's pods that run, by name."""
        items = self.cluster.api.get(f"/api/v1/namespaces/{THEIRS}/pods")["items"]
        return {
            item["metadata"]["name"]: item
            for item in items
            if item.get("status", {}).get("phase") == "Running"
        }

    def is_whole(self) -> None:
        """Every node runs what is deployed, proven, and nothing of an upgrade is left."""
        assert self.current() == set(self.nodes)
        assert self.cordoned() == set()
        assert self.taints() == {}
        marks = sight.marks(self.cluster)
        assert {marks[node]["nvidia-gpu"] for node in self.nodes} == {"ready"}
        assert {each["phase"] for each in self.upgrades().values()} <= {"done"}


def budget(site: Site, app: str) -> None:
    """A PodDisruptionBudget that lets no pod of an app go."""
    body = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app, "namespace": THEIRS},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}},
    }
    site.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(body))
    path = f"/apis/policy/v1/namespaces/{THEIRS}/poddisruptionbudgets/{app}"
    wait_until(
        lambda: site.cluster.api.get(path).get("status", {}).get("currentHealthy") == 1,
        "the disruption budget counts its pod",
    )
