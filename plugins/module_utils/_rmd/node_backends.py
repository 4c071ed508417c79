# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who divides the cache of a task's nodes: RMD's daemon, or the node's agent itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Optional, Union

from .._cluster.api_client.client import Client
from .._errors import InvalidInput
from .._schema.requests import ParameterGroup
from .daemon.daemon_client import Daemon
from .daemon.endpoints import Endpoint, find_endpoints, open_address
from .daemon.https import Address, RmdConnection
from .daemon.tls import Material, from_files, from_secret
from .nodes.agents import Agent, find_agents
from .nodes.node_machine import Dialect
from .nodes.node_writer import Fleet, UnreachableWriter
from .objects.resctrl_node import ResctrlNode
from .rmd_errors import RmdError


@dataclass(frozen=True)
class TlsRequest(ParameterGroup):
    """Whom a client of the daemons trusts, and what it shows. tls_secret: the name of a Secret that
    holds it, where no paths are given."""

    tls_secret: str
    rmd_ca: Optional[str] = None
    rmd_cert: Optional[str] = None
    rmd_key: Optional[str] = None


@dataclass(frozen=True)
class DaemonsRequest(ParameterGroup):
    """How the daemons are found and spoken to. namespace: of their pods. endpoint: the way to one.
    timeout: seconds for each request."""

    tls: TlsRequest
    namespace: str
    endpoint: Literal["pod_ip", "host_port", "port_forward"] = "pod_ip"
    tls_server_name: Optional[str] = None
    rmd_username: Optional[str] = None
    rmd_password: Optional[str] = field(default=None, repr=False)
    timeout: int = 30


@dataclass(frozen=True)
class NodeChoice(ParameterGroup):
    """The nodes that a task names, or those with all labels of node_selector."""

    nodes: Optional[Sequence[str]] = None
    node_selector: Optional[Mapping[str, Any]] = None


@contextmanager
def open_fleet(
    client: Client,
    request: DaemonsRequest,
    nodes: Optional[Collection[str]] = None,
    *,
    dialect: Optional[Dialect] = None,
) -> Iterator[Fleet]:
    """The writers and agents of these nodes; without nodes, of all that have one. Sends nothing to
    them.

    dialect: None where the daemons tell it. Raises EnablementError for settings that are of no use.
    """
    agents = find_agents(client, request.namespace)
    found = find_endpoints(client, request.namespace, nodes)
    fleet = Fleet()
    for node, agent in agents.items():
        if agent.divides:
            # Its agent waits for a daemon that is there still; that may be spoken to no more.
            found.pop(node, None)
            if nodes is None or node in nodes:
                fleet.writers[node], fleet.agents[node] = ResctrlNode(client, node, agent), agent
    connect = _connector(client, request, found.values())
    with ExitStack() as opened:
        for node, endpoint in found.items():
            fleet.agents[node] = agents.get(node) or Agent(client, request.namespace, node, "")
            try:
                if isinstance(endpoint, RmdError):
                    raise _known(client, node, endpoint)
                address, forward = open_address(
                    client, endpoint, request.endpoint, request.tls_server_name or ""
                )
            except RmdError as error:
                fleet.writers[node] = UnreachableWriter(error)
                continue
            if forward is not None:
                opened.callback(forward.close)
            wire = opened.enter_context(closing(connect(address)))
            fleet.writers[node] = Daemon(node, wire, dialect)
        yield fleet


def select_nodes(client: Client, chosen: NodeChoice) -> Optional[list[str]]:
    """The nodes that a task names, or whose labels it selects; None where it says neither."""
    if chosen.nodes is not None:
        return list(dict.fromkeys(chosen.nodes))
    if not chosen.node_selector:
        return None
    labels = ",".join(f"{key}={value}" for key, value in chosen.node_selector.items())
    found = client.list(client.kind("v1", "Node"), labels=labels, metadata_only=True).items
    return sorted(node["metadata"]["name"] for node in found)


def _connector(
    client: Client, request: DaemonsRequest, endpoints: Iterable[Union[Endpoint, RmdError]]
) -> Callable[[Address], RmdConnection]:
    """How all daemons are spoken to. Reads the material of TLS only where one of them speaks it."""
    user = request.rmd_username
    account = (user, request.rmd_password or "") if user else None
    connect = partial(RmdConnection, account=account, timeout_s=float(request.timeout))
    if not any(isinstance(endpoint, Endpoint) and endpoint.tls for endpoint in endpoints):
        return partial(connect, context=None)
    material = _material(client, request)
    return partial(connect, context=material.context(), shows_certificate=bool(material.cert))


def _material(client: Client, request: DaemonsRequest) -> Material:
    tls = request.tls
    if tls.rmd_ca:
        return from_files(tls.rmd_ca, tls.rmd_cert, tls.rmd_key)
    if tls.rmd_cert or tls.rmd_key:
        what, why = (
            "Cannot use the TLS settings for RMD",
            "a client certificate is given, and no CA to trust",
        )
        raise InvalidInput(what, why=why, todo="give rmd_ca, too")
    return from_secret(client, request.namespace, tls.tls_secret)


def _known(client: Client, node: str, error: RmdError) -> RmdError:
    """The same, unless there is not even such a node."""
    if client.get(client.kind("v1", "Node"), node) is not None:
        return error
    return RmdError(
        "There is no daemon to talk to",
        kind="no_such_node",
        where=f"node {node}",
        why="it does not exist",
    )
