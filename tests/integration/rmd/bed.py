# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that have RMD: behind the daemon's pod on each of them a server of ours, and a client's
Secret."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.daemon_client import (
    Daemon,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.endpoints import (
    server_name,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.https import (
    Address,
    RmdConnection,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.tls import from_files
from tests.cluster import Cluster
from tests.integration.waiting import PATIENTLY
from tests.rmd.certificates import Certificates, Client
from tests.rmd.fleet import Fleet
from tests.rmd.on_cluster import give_addresses
from tests.rmd.reports import Reports

Obj = dict[str, Any]

NAMESPACE = "intel-rmd"
LOG_FILE = "sim.hardware-enablement.io/log-file"


@dataclass
class RmdBed:
    """A cluster and its servers, by the nodes' names."""

    cluster: Cluster
    fleet: Fleet
    certificates: Certificates
    client: Client
    reports: Reports

    def post(self, node: str, body: Obj) -> None:
        """Make a workload as somebody else does: what is there is not looked at."""
        server, files = self.fleet[node], self.client
        context = from_files(str(files.ca), str(files.certificate), str(files.key)).context()
        address = Address(server.address, server.port, True, server_name(node), node)
        with closing(Daemon(node, RmdConnection(address, context))) as daemon:
            daemon.post(body)


@contextmanager
def deployed(
    cluster: Cluster, names: Sequence[str], pki: Path, **settings: Any
) -> Iterator[tuple[Cluster, Fleet, Certificates, Client, Reports]]:
    """What an RmdBed is made of, as soon as the pods of daemon and agent on all these nodes are
    ready.

    pki: a folder for the certificates; settings: of the Fleet and its servers.
    """
    certificates = Certificates(pki)
    client = certificates.client()
    with Fleet(
        names, tls=lambda node, _address: certificates.tls(node, [server_name(node)]), **settings
    ) as fleet:
        give_addresses(cluster, fleet)
        agents = pki.parent / "agents"
        reports = Reports(fleet, agents)
        objects = {
            "apiVersion": "v1",
            "kind": "List",
            "items": [_namespace(), _secret(client), _daemon_set(fleet), _agents(agents)],
        }
        cluster.kubectl("apply", "-f", "-", stdin=json.dumps(objects))
        for name in ("intel-rmd", "intel-rmd-agent"):
            cluster.kubectl("rollout", "status", f"daemonset/{name}", "-n", NAMESPACE, PATIENTLY)
        yield cluster, fleet, certificates, client, reports


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


def _agents(folder: Path) -> Obj:
    """The agents, whose logs are files of the tests."""
    container = {"name": "agent", "image": "agent:1"}
    made = _daemon_set_of("agent", "intel-rmd-agent", container)
    metadata = made["spec"]["template"]["metadata"]
    metadata["annotations"] = {LOG_FILE: f"{folder}/{{node}}"}
    return made


def _daemon_set(fleet: Fleet) -> Obj:
    """The daemon as the recipe deploys it, as far as finding its pods goes."""
    container = {
        "name": "rmd",
        "image": "rmd:1",
        "ports": [{"name": "rmd-tls", "containerPort": fleet.port}],
    }
    return _daemon_set_of("daemon", "intel-rmd", container)


def _daemon_set_of(component: str, name: str, container: Obj) -> Obj:
    labels = _labels(component)
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
