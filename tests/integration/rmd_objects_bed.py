# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster whose nodes have RMD: simulated pods of the daemon, and a server of ours at each one's address."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from tests.cluster import Cluster
from tests.rmd import Dialect
from tests.rmd.certificates import Certificates, Client
from tests.rmd.fleet import Fleet
from tests.rmd.on_cluster import give_addresses

NAMESPACE = "intel-rmd"
NODE_PREFIX = "worker-node"
_LOG = "sim.hardware-enablement.io/log"

Obj = dict[str, Any]


@dataclass
class RmdBed:
    """The cluster and its servers, by the nodes' names."""

    cluster: Cluster
    fleet: Fleet
    client: Client

    def get(self, kind: str, name: str, namespace: str = "default") -> Obj:
        """An object."""
        found: Obj = json.loads(self.cluster.kubectl("get", kind, name, "-n", namespace, "-o", "json"))
        return found

    def create(self, obj: Obj) -> None:
        """Create an object, as a user does."""
        self.cluster.kubectl("create", "-f", "-", stdin=yaml.safe_dump(obj))

    def apply(self, obj: Obj) -> None:
        """Apply an object, as a user does."""
        self.cluster.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(obj))

    def uuids(self, node: str) -> list[str]:
        """What runs on a node, by the server's own word."""
        return sorted(workload.get("uuid", "") for workload in self.fleet[node].workloads())

    def post(self, node: str, body: Obj) -> None:
        """Make a workload as somebody else does."""
        server = self.fleet[node]
        context = ssl.create_default_context(cafile=str(self.client.ca))
        context.load_cert_chain(self.client.certificate, self.client.key)
        connection = http.client.HTTPSConnection(server.address, server.port, context=context)
        connection.request("POST", "/v1/workloads", json.dumps(body), {"Content-Type": "application/json"})
        assert connection.getresponse().status == 201
        connection.close()

    def going(self, kind: str, name: str) -> bool:
        """Whether an object is being deleted."""
        return "deletionTimestamp" in self.get(kind, name)["metadata"]

    def age(self, kind: str, name: str, namespace: str = "default") -> float:
        """Seconds since an object was created."""
        created = self.get(kind, name, namespace)["metadata"]["creationTimestamp"]
        return time.time() - datetime.fromisoformat(created.replace("Z", "+00:00")).timestamp()

    def methods(self, since: dict[str, int]) -> dict[str, list[str]]:
        """Node -> "METHOD path" of each request that its server has seen since a mark."""
        seen = self.fleet.requests(since)
        return {node: [f"{entry.method} {entry.path}" for entry in entries] for node, entries in seen.items()}

    def add_agent(self, node: str, report: Obj) -> None:
        """Run an agent that says this of its node."""
        view = {"schema": 1, "node": node, "time": "2026-11-21T12:00:00Z", "cgroups": {}, "l3": {}, **report}
        metadata = {
            "name": f"agent-{node}",
            "namespace": NAMESPACE,
            "labels": {"app.kubernetes.io/name": "intel-rmd", "app.kubernetes.io/component": "agent"},
            "annotations": {_LOG: json.dumps(view)},
        }
        pod = {"metadata": metadata, "spec": {"nodeName": node, "containers": [{"name": "agent", "image": "agent"}]}}
        self.apply({"apiVersion": "v1", "kind": "Pod", **pod})
        self.cluster.kubectl("wait", "--for=condition=Ready", f"pod/agent-{node}", "-n", NAMESPACE, "--timeout=30s")


@contextmanager
def make_bed(
    cluster: Cluster, folder: Path, nodes: int, dialect: Dialect = Dialect.V02, **settings: Any
) -> Iterator[RmdBed]:
    """Nodes worker-node-1 and so on, RMD of one dialect on all; TLS with a client's certificate in a Secret.

    settings: of each server.
    """
    names = cluster.add_nodes(nodes, profile="cpu-only", prefix=NODE_PREFIX)
    certificates = Certificates(folder / "pki")
    client = certificates.client()
    fleet = Fleet(
        names,
        tls=lambda node, address: certificates.tls(node, [f"{node}.rmd.hardware-enablement.io", address]),
        dialect=dialect,
        **settings,
    )
    with fleet:
        give_addresses(cluster, fleet)
        cluster.kubectl("create", "namespace", NAMESPACE)
        files = {"ca.crt": client.ca, "tls.crt": client.certificate, "tls.key": client.key}
        arguments = [f"--from-file={key}={file}" for key, file in files.items()]
        cluster.kubectl("create", "secret", "generic", "intel-rmd-client", "-n", NAMESPACE, *arguments)
        cluster.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(daemon_set(fleet.port)))
        cluster.kubectl("rollout", "status", "daemonset/intel-rmd", "-n", NAMESPACE, "--timeout=60s")
        yield RmdBed(cluster, fleet, client)


def daemon_set(port: int) -> Obj:
    """The daemon as the recipe deploys it, as far as finding its pods goes."""
    labels = {"app.kubernetes.io/name": "intel-rmd", "app.kubernetes.io/component": "daemon"}
    container = {"name": "rmd", "image": "rmd", "ports": [{"name": "rmd-tls", "containerPort": port}]}
    spec = {"nodeSelector": {"node.kubernetes.io/instance-type": "m7i.4xlarge"}, "containers": [container]}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "intel-rmd", "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def until(holds: Callable[[], Any], what: str, timeout: float = 30.0) -> None:
    """Wait until something holds, such as what the garbage collector does."""
    deadline = time.monotonic() + timeout
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not come within {timeout:g} s"
        time.sleep(0.1)
