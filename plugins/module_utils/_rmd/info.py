# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of rmd_info: what the daemons say of their nodes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from .._cluster.api_client.client import Client, connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._json import Obj
from .._runs.context import RunContext
from .._runs.task import Task
from .node_backends import DaemonsRequest, NodeChoice, open_fleet, select_nodes
from .nodes.node_lease import all_saved
from .nodes.node_machine import Dialect
from .nodes.node_results import describe_snapshot
from .nodes.node_snapshot import observe_node
from .nodes.node_writer import Fleet
from .rmd_errors import RmdError

# Seconds until nodes are asked again.
AGAIN_S = 1.0


@dataclass(frozen=True)
class RmdInfoRequest:
    """What rmd_info is to say, and of which nodes. parallel: nodes at once. failure_grace: seconds
    in which nodes that do not answer are asked again."""

    connection: ConnectionRequest
    daemons: DaemonsRequest
    chosen: NodeChoice
    parallel: int
    failure_grace: int


def run(request: RmdInfoRequest, _context: RunContext) -> Obj:
    """rmd_info. A node that cannot be asked is a finding, not a failure."""
    client = connect(request.connection)
    nodes = select_nodes(client, request.chosen)
    saved = all_saved(client)
    patience = time.monotonic() + request.failure_grace
    found, requests = _query_all(client, request, nodes)
    while (silent := _silent(found)) and time.monotonic() < patience:
        time.sleep(AGAIN_S)
        again, more = _query_all(client, request, silent)
        found |= again
        requests = dict(Counter(requests) + Counter(more))
    for node, entry in found.items():
        entry["unfinished"] = [str(body.get("uuid") or "") for body in saved.get(node, [])]
    return {"changed": False, "nodes": list(found.values()), "requests": requests}


def _silent(found: Mapping[str, Obj]) -> list[str]:
    return [node for node, entry in found.items() if not entry["reachable"]]


def _query_all(
    client: Client, request: RmdInfoRequest, nodes: Sequence[str] | None
) -> tuple[dict[str, Obj], dict[str, int]]:
    with open_fleet(client, request.daemons, nodes) as fleet:
        with ThreadPoolExecutor(max(1, request.parallel), thread_name_prefix="rmd") as pool:
            found = list(pool.map(lambda node: _query_node(node, fleet), fleet.writers))
        return {entry["node"]: entry for entry in found}, fleet.requests


def _query_node(node: str, fleet: Fleet) -> Obj:
    writer = fleet.writers[node]
    shown: Obj = {
        "node": node,
        "reachable": False,
        "dialect": "",
        "workloads": [],
        "caches": [],
        "policies": {},
    }
    try:
        # Of a node that divides by itself nobody knows anything but its agent.
        snapshot = observe_node(
            writer, fleet.agents[node], required=writer.dialect is Dialect.RESCTRL
        )
        shown["workloads"] = describe_snapshot(snapshot)
        shown["reachable"] = True
        shown["dialect"] = writer.dialect.value if writer.dialect else ""
        machine = writer.machine(mba=True, policies=True)
        if machine.topology is not None:
            shown["caches"] = machine.topology.describe()
        if machine.topology is not None and machine.topology.mba is not None:
            shown["mba"] = vars(machine.topology.mba)
        shown["policies"] = {
            name: dict(policy.parameters) for name, policy in (machine.policies or {}).items()
        }
    except RmdError as error:
        shown |= {"kind": error.kind, "message": str(error)}
    return shown


TASK = Task(RmdInfoRequest, run)
