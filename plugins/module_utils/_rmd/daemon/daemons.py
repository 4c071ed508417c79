# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The daemons of a task's nodes, opened by the options that all modules of RMD share."""

from __future__ import annotations

import ssl
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Optional

from ..._cluster.api_client.client import Client
from ..._errors import InvalidInput
from ..nodes.agents import Agent
from ..nodes.node_fleet import Fleet
from ..nodes.node_machine import Dialect
from ..nodes.node_writer import NodeWriter, UnreachableWriter
from ..rmd_errors import RmdError
from .daemon_client import Daemon
from .endpoints import Endpoint, find_endpoints, open_address
from .https import RmdConnection
from .tls import Material, from_files, from_secret


@contextmanager
def open_daemons(
    client: Client,
    params: Mapping[str, Any],
    nodes: Optional[Collection[str]],
    agents: Mapping[str, Agent],
) -> Iterator[Fleet]:
    """The daemons of these nodes; without nodes, of all that have one. Sends nothing to them.

    None of a node whose agent divides: a daemon that is there still is about to go, which the agent
    waits for, and what it was spoken to with may be gone.

    params: _interface.arguments.RMD. agents: of all nodes that have one. Raises EnablementError for
    settings that are of no use.
    """
    fleet = Fleet()
    try:
        found = find_endpoints(client, params["namespace"], nodes)
        endpoints = {
            node: endpoint
            for node, endpoint in found.items()
            if node not in agents or not agents[node].divides
        }
        fleet.agents = {
            node: agents.get(node) or Agent(client, params["namespace"], node, "")
            for node in endpoints
        }
        material = context = None
        if any(isinstance(endpoint, Endpoint) and endpoint.tls for endpoint in endpoints.values()):
            material = _material(client, params)
            context = material.context()
        for node, endpoint in endpoints.items():
            fleet.writers[node] = (
                _open(client, params, endpoint, material, context, fleet)
                if isinstance(endpoint, Endpoint)
                else UnreachableWriter(_known(client, node, endpoint))
            )
        yield fleet
    finally:
        fleet.close()


def select_nodes(client: Client, params: Mapping[str, Any]) -> Optional[list[str]]:
    """The nodes that a task names, or whose labels it selects; None where it says neither."""
    if params.get("nodes") is not None:
        return list(dict.fromkeys(params["nodes"]))
    if not params.get("node_selector"):
        return None
    labels = ",".join(f"{key}={value}" for key, value in params["node_selector"].items())
    found = client.list(client.kind("v1", "Node"), labels=labels, metadata_only=True).items
    return sorted(node["metadata"]["name"] for node in found)


def _open(
    client: Client,
    params: Mapping[str, Any],
    endpoint: Endpoint,
    material: Optional[Material],
    context: Optional[ssl.SSLContext],
    fleet: Fleet,
) -> NodeWriter:
    try:
        address, forward = open_address(
            client, endpoint, params["endpoint"], params.get("tls_server_name") or ""
        )
    except RmdError as error:
        return UnreachableWriter(error)
    if forward is not None:
        fleet.forwards.append(forward)
    user, password = params.get("rmd_username"), params.get("rmd_password")
    wire = RmdConnection(
        address,
        context,
        shows_certificate=material is not None and bool(material.cert),
        account=(user, password or "") if user else None,
        timeout_s=float(params["timeout"]),
    )
    given = params.get("dialect") or "auto"
    return Daemon(endpoint.node, wire, None if given == "auto" else Dialect(given))


def _material(client: Client, params: Mapping[str, Any]) -> Material:
    if params.get("rmd_ca"):
        return from_files(params["rmd_ca"], params.get("rmd_cert"), params.get("rmd_key"))
    if params.get("rmd_cert") or params.get("rmd_key"):
        what, why = (
            "Cannot use the TLS settings for RMD",
            "a client certificate is given, and no CA to trust",
        )
        raise InvalidInput(what, why=why, todo="give rmd_ca, too")
    return from_secret(client, params["namespace"], params["tls_secret"])


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
