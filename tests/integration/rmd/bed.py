# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that have RMD: behind the daemon's pod on each of them a server of ours, and a client's
Secret."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon_client import Daemon
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.endpoints import server_name
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.https import (
    Address,
    RmdConnection,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.tls import from_files
from tests.cluster import Cluster
from tests.rmd.certificates import Certificates, Client
from tests.rmd.fleet import Fleet
from tests.rmd.on_cluster import give_addresses

Obj = dict[str, Any]

NAMESPACE = "intel-rmd"
_LOG = "sim.hardware-enablement.io/log"


@dataclass
class RmdBed:
    """A cluster and its servers, by the nodes' names."""

    cluster: Cluster
    fleet: Fleet
    certificates: Certificates
    client: Client

    def post(self, node: str, body: Obj) -> None:
        """Make a workload as somebody else does: what is there is not looked at."""
        server, files = self.fleet[node], self.client
        context = from_files(str(files.ca), str(files.certificate), str(files.key)).context()
        address = Address(server.address, server.port, True, server_name(node), node)
        with closing(Daemon(node, RmdConnection(address, context))) as daemon:
            daemon.post(body)

    def add_agent(self, node: str, report: Obj) -> None:
        """Run an agent that says this of its node."""
        common = {
            "schema": 1,
            "node": node,
            "time": "2026-01-01T00:00:00Z",
            "cgroups": {},
            "l3": {},
            "problems": [],
        }
        metadata = {
            "name": f"agent-{node}",
            "namespace": NAMESPACE,
            "labels": _labels("agent"),
            "annotations": {_LOG: json.dumps({**common, **report})},
        }
        spec = {"nodeName": node, "containers": [{"name": "agent", "image": "agent:1"}]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(pod))
        self.cluster.kubectl(
            "wait", "--for=condition=Ready", f"pod/agent-{node}", "-n", NAMESPACE, "--timeout=120s"
        )


@contextmanager
def deployed(
    cluster: Cluster, names: Sequence[str], pki: Path, **settings: Any
) -> Iterator[tuple[Cluster, Fleet, Certificates, Client]]:
    """What an RmdBed is made of, as soon as the daemon's pods on all these nodes are ready.

    pki: a folder for the certificates; settings: of the Fleet and its servers.
    """
    certificates = Certificates(pki)
    client = certificates.client()
    with Fleet(
        names, tls=lambda node, _address: certificates.tls(node, [server_name(node)]), **settings
    ) as fleet:
        give_addresses(cluster, fleet)
        objects = {
            "apiVersion": "v1",
            "kind": "List",
            "items": [_namespace(), _secret(client), _daemon_set(fleet)],
        }
        cluster.kubectl("apply", "-f", "-", stdin=json.dumps(objects))
        cluster.kubectl(
            "rollout", "status", "daemonset/intel-rmd", "-n", NAMESPACE, "--timeout=120s"
        )
        yield cluster, fleet, certificates, client


def until(holds: Callable[[], Any], what: str, timeout: float = 30.0) -> None:
    """Wait until something holds, such as what the garbage collector does."""
    deadline = time.monotonic() + timeout
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not come within {timeout:g} s"
        time.sleep(0.1)


def _labels(component: str) -> dict[str, str]:
    return {"app.kubernetes.io/name": "intel-rmd", "app.kubernetes.io/component": component}


def _namespace() -> Obj:
    labels = {
        f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("enforce", "audit", "warn")
    }
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": NAMESPACE, "labels": labels},
    }


def _secret(client: Client) -> Obj:
    files = {"ca.crt": client.ca, "tls.crt": client.certificate, "tls.key": client.key}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "intel-rmd-client", "namespace": NAMESPACE},
        "stringData": {name: file.read_text() for name, file in files.items()},
    }


def _daemon_set(fleet: Fleet) -> Obj:
    """The daemon as the recipe deploys it, as far as finding its pods goes."""
    labels = _labels("daemon")
    container = {
        "name": "rmd",
        "image": "rmd:1",
        "ports": [{"name": "rmd-tls", "containerPort": fleet.port}],
    }
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "intel-rmd", "namespace": NAMESPACE, "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
