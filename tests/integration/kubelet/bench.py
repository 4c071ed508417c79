# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests on real nodes do again and again: make pods, wait, look."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.integration.waiting import PATIENTLY

Obj = dict[str, Any]
PYTHON = "localhost/python-base:1"


def pod_spec(script: str, **more: Any) -> Obj:
    """A pod that runs a Python script."""
    container = {
        "name": "main",
        "image": PYTHON,
        "command": ["python3", "-c", script],
        **more.pop("container", {}),
    }
    return {"terminationGracePeriodSeconds": 1, "containers": [container], **more}


@dataclass(frozen=True)
class Bench:
    """A namespace in a cluster."""

    cluster: Cluster
    namespace: str

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """kubectl in the namespace."""
        return self.cluster.kubectl("--namespace", self.namespace, *arguments, stdin=stdin)

    def apply(self, obj: Obj) -> None:
        """Make an object."""
        self.kubectl("apply", "-f", "-", stdin=json.dumps(obj))

    def get(self, kind: str, name: str) -> Obj:
        """Read a pod of the namespace, or a node. Many wait for what it says, so it starts no
        program."""
        place = f"namespaces/{self.namespace}/pods" if kind == "pod" else f"{kind}s"
        found: Obj = self.cluster.api.get(f"/api/v1/{place}/{name}")
        return found

    def pod(self, name: str, spec: Obj) -> None:
        """Make a pod."""
        self.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})

    def daemon_set(self, name: str, spec: Obj, selector: Mapping[str, str]) -> None:
        """Make a DaemonSet and wait until it has rolled out."""
        labels = {"app": name}
        template = {
            "metadata": {"labels": labels},
            "spec": {**spec, "nodeSelector": dict(selector)},
        }
        body = {"selector": {"matchLabels": labels}, "template": template}
        self.apply(
            {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name}, "spec": body}
        )
        self.kubectl("rollout", "status", f"daemonset/{name}", PATIENTLY)

    def deployment(self, name: str, spec: Obj) -> None:
        """Make a Deployment of one pod and wait until it runs."""
        labels = {"app": name}
        template = {"metadata": {"labels": labels}, "spec": spec}
        body = {"selector": {"matchLabels": labels}, "template": template}
        self.apply(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": name},
                "spec": body,
            }
        )
        self.kubectl("rollout", "status", f"deployment/{name}", PATIENTLY)

    def pods_of(self, app: str) -> list[Obj]:
        """The pods of a DaemonSet or Deployment."""
        path = f"/api/v1/namespaces/{self.namespace}/pods?labelSelector=app%3D{app}"
        return list(self.cluster.api.get(path)["items"])

    def container(self, pod: str) -> Obj:
        """Status of the pod's one container; empty before the kubelet has told it."""
        statuses: list[Obj] = self.get("pod", pod)["status"].get("containerStatuses", [])
        return statuses[0] if statuses else {}

    def wait_ready(self, pod: str) -> None:
        """Wait until the pod is ready."""
        try:
            self.kubectl("wait", f"pod/{pod}", "--for=condition=Ready", PATIENTLY)
        except ClusterError:
            # Who reads this later has no cluster to ask.
            raise ClusterError(json.dumps(self.get("pod", pod)["status"])) from None
