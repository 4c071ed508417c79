# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects as users make them, and look at them."""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import Any

import yaml

from tests.cluster import Cluster
from tests.integration.waiting import PATIENTLY

Obj = dict[str, Any]


class UserObjects:
    """On a cluster, whoever divides the cache of its nodes."""

    cluster: Cluster
    backend: str

    def give(self, node: str, uid: str, **cpus: str) -> None:
        """The kubelet of a node gives CPUs to the containers of a pod, and to no other one."""
        raise NotImplementedError

    def get(self, kind: str, name: str, namespace: str = "default") -> Obj:
        """An object."""
        text = self.cluster.kubectl("get", kind, name, "-n", namespace, "-o", "json")
        return dict(json.loads(text))

    def create(self, obj: Obj) -> None:
        """Create an object, as a user does."""
        self.cluster.kubectl("create", "-f", "-", stdin=yaml.safe_dump(obj))

    def apply(self, obj: Obj) -> None:
        """Apply an object, as a user does."""
        self.cluster.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(obj))

    def start(self, node: str, pod: Obj, **cpus: str) -> str:
        """Create a pod, wait until it runs, and give its containers CPUs; its uid."""
        name = pod["metadata"]["name"]
        self.create(pod)
        self.cluster.kubectl("wait", "--for=condition=Ready", f"pod/{name}", PATIENTLY)
        uid = str(self.get("pod", name)["metadata"]["uid"])
        self.give(node, uid, **cpus)
        return uid

    def going(self, kind: str, name: str) -> bool:
        """Whether an object is being deleted."""
        return "deletionTimestamp" in self.get(kind, name)["metadata"]

    def age(self, kind: str, name: str, namespace: str = "default") -> float:
        """Seconds since an object was created."""
        created = self.get(kind, name, namespace)["metadata"]["creationTimestamp"]
        return time.time() - datetime.fromisoformat(created.replace("Z", "+00:00")).timestamp()


def workload(name: str, spec: Obj, namespace: str = "default") -> Obj:
    """An RmdWorkload."""
    metadata = {"name": name, "namespace": namespace}
    return {
        "apiVersion": "intel.com/v1alpha1",
        "kind": "RmdWorkload",
        "metadata": metadata,
        "spec": spec,
    }
