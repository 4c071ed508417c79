# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the daemons listen: their pods, and the way to them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

from ..._cluster.api_client.client import Client
from ..._cluster.api_client.forward import Forward
from ..._cluster.api_objects.labels import DOMAIN
from ..._json import Obj, elements, part
from ..._verdicts.pod_status import is_ready, judge, newest
from ..nodes.agents import own_pods
from ..rmd_errors import RmdError
from .https import Address

NAMESPACE = "intel-rmd"
DAEMONSET = "intel-rmd"
DAEMON_LABELS = "app.kubernetes.io/name=intel-rmd,app.kubernetes.io/component=daemon"
TLS_PORT = "rmd-tls"
DEBUG_PORT = "rmd-debug"
# Ways to a daemon.
POD_IP, HOST_PORT, PORT_FORWARD = "pod_ip", "host_port", "port_forward"


@dataclass(frozen=True)
class Endpoint:
    """A node's daemon. port: of its container; tls by the port's name. addresses: host and port by
    way, POD_IP or HOST_PORT; "" and 0 where there is none."""

    node: str
    namespace: str
    pod: str
    tls: bool
    port: int
    addresses: Mapping[str, tuple[str, int]]


def server_name(node: str) -> str:
    """The name in the certificate of a node's daemon."""
    return f"{node}.rmd.{DOMAIN}"


def find_endpoints(
    client: Client, namespace: str, nodes: Optional[Collection[str]] = None
) -> dict[str, Union[Endpoint, RmdError]]:
    """The daemon of each node, or why there is none to talk to; without nodes, of all that have
    one."""
    by_node: dict[str, list[Obj]] = {}
    for pod in own_pods(client, namespace, DAEMONSET, DAEMON_LABELS):
        by_node.setdefault(str(part(pod, "spec").get("nodeName") or ""), []).append(pod)
    by_node.pop("", None)
    wanted = sorted(by_node) if nodes is None else nodes
    return {node: endpoint_of(node, namespace, by_node.get(node, [])) for node in wanted}


def open_address(
    client: Client, endpoint: Endpoint, way: str, tls_server_name: str = ""
) -> tuple[Address, Optional[Forward]]:
    """The address of a daemon by a way; the forward has to be closed at the end. Raises RmdError."""
    name = tls_server_name or server_name(endpoint.node)
    if way == PORT_FORWARD:
        forward = Forward(client, endpoint.namespace, endpoint.pod, endpoint.port)
        where = f"node {endpoint.node}, port-forward to {endpoint.pod}:{endpoint.port}"
        return Address(
            *forward.address, endpoint.tls, name, where, lambda: forward.problem
        ), forward
    host, port = endpoint.addresses[way]
    if not host or not port:
        raise _none(
            endpoint.node,
            f"its pod {endpoint.pod} has no {'hostPort' if way == HOST_PORT else 'address yet'}",
        )
    return Address(host, port, endpoint.tls, name, f"node {endpoint.node}, {host}:{port}"), None


def endpoint_of(node: str, namespace: str, pods: Sequence[Obj]) -> Union[Endpoint, RmdError]:
    """The endpoint of a node whose pods of the daemon these are: of the newest that is ready. Pure."""
    last = newest(pods)
    if last is None:
        return _none(node, f"no pod of the daemon runs there in namespace {namespace}")
    pod = newest(pod for pod in pods if is_ready(pod))
    if pod is None:
        return _none(node, judge(last).message, "see why the pod is not ready, then run again")
    name, found = pod["metadata"]["name"], _port_of(pod)
    if found is None:
        return _none(
            node,
            f"the first container of its pod {name} has no port called {TLS_PORT} or {DEBUG_PORT}",
        )
    status, port = part(pod, "status"), int(found["containerPort"])
    return Endpoint(
        node=node,
        namespace=namespace,
        pod=name,
        tls=found["name"] == TLS_PORT,
        port=port,
        addresses={
            POD_IP: (str(status.get("podIP") or ""), port),
            HOST_PORT: (str(status.get("hostIP") or ""), int(found.get("hostPort") or 0)),
        },
    )


def _port_of(pod: Obj) -> Optional[Mapping[str, Any]]:
    """The port of the daemon, which is the first container: with TLS where it has both."""
    containers = pod["spec"].get("containers") or [{}]
    ports = {port.get("name"): port for port in elements(containers[0], "ports")}
    return ports.get(TLS_PORT) or ports.get(DEBUG_PORT)


def _none(node: str, why: str, todo: str = "") -> RmdError:
    return RmdError(
        "There is no daemon to talk to", kind="no_daemon", where=f"node {node}", why=why, todo=todo
    )
