# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The daemons of a task's nodes, opened by the options that all modules of RMD share."""

from __future__ import annotations

import ssl
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Optional, Union

from ..._cluster.api_client.client import Client
from ..._errors import InvalidInput
from ..nodes.agents import Agent
from ..nodes.node_fleet import Fleet
from ..nodes.node_machine import Dialect
from ..nodes.node_writer import NodeWriter, UnreachableWriter
from ..rmd_errors import RmdError
from .daemon_client import Daemon
from .daemons_request import DaemonsRequest, NodeChoice
from .endpoints import Endpoint, find_endpoints, open_address
from .https import RmdConnection
from .tls import Material, from_files, from_secret


@dataclass(frozen=True)
class _Credentials:
    """What all daemons of a task are shown. account: name and password."""

    context: Optional[ssl.SSLContext]
    shows_certificate: bool
    account: Optional[tuple[str, str]]


@contextmanager
def open_daemons(
    client: Client,
    request: DaemonsRequest,
    nodes: Optional[Collection[str]],
    agents: Mapping[str, Agent],
    *,
    dialect: Optional[Dialect] = None,
) -> Iterator[Fleet]:
    """The daemons of these nodes; without nodes, of all that have one. Sends nothing to them.

    None of a node whose agent divides: a daemon that is there still is about to go, which the agent
    waits for, and what it was spoken to with may be gone.

    agents: of all nodes that have one. dialect: None where the daemons tell it. Raises
    EnablementError for settings that are of no use.
    """
    fleet = Fleet()
    try:
        found = find_endpoints(client, request.namespace, nodes)
        endpoints = {
            node: endpoint
            for node, endpoint in found.items()
            if node not in agents or not agents[node].divides
        }
        fleet.agents = {
            node: agents.get(node) or Agent(client, request.namespace, node, "")
            for node in endpoints
        }
        shown = _credentials(client, request, endpoints.values())
        for node, endpoint in endpoints.items():
            fleet.writers[node] = (
                _open(client, request, endpoint, shown, fleet, dialect=dialect)
                if isinstance(endpoint, Endpoint)
                else UnreachableWriter(_known(client, node, endpoint))
            )
        yield fleet
    finally:
        fleet.close()


def select_nodes(client: Client, chosen: NodeChoice) -> Optional[list[str]]:
    """The nodes that a task names, or whose labels it selects; None where it says neither."""
    if chosen.nodes is not None:
        return list(dict.fromkeys(chosen.nodes))
    if not chosen.node_selector:
        return None
    labels = ",".join(f"{key}={value}" for key, value in chosen.node_selector.items())
    found = client.list(client.kind("v1", "Node"), labels=labels, metadata_only=True).items
    return sorted(node["metadata"]["name"] for node in found)


def _open(
    client: Client,
    request: DaemonsRequest,
    endpoint: Endpoint,
    shown: _Credentials,
    fleet: Fleet,
    *,
    dialect: Optional[Dialect],
) -> NodeWriter:
    """One daemon; the fleet closes the forward to it, where there is one."""
    try:
        address, forward = open_address(
            client, endpoint, request.endpoint, request.tls_server_name or ""
        )
    except RmdError as error:
        return UnreachableWriter(error)
    if forward is not None:
        fleet.forwards.append(forward)
    wire = RmdConnection(
        address,
        shown.context,
        shows_certificate=shown.shows_certificate,
        account=shown.account,
        timeout_s=float(request.timeout),
    )
    return Daemon(endpoint.node, wire, dialect)


def _credentials(
    client: Client, request: DaemonsRequest, endpoints: Iterable[Union[Endpoint, RmdError]]
) -> _Credentials:
    """Reads the material of TLS only where a daemon speaks it."""
    user = request.rmd_username
    account = (user, request.rmd_password or "") if user else None
    if not any(isinstance(endpoint, Endpoint) and endpoint.tls for endpoint in endpoints):
        return _Credentials(None, shows_certificate=False, account=account)
    material = _material(client, request)
    return _Credentials(material.context(), shows_certificate=bool(material.cert), account=account)


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
