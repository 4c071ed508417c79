# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of rmd_info: what the daemons say of their nodes."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Union

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import connect
from ansible_collections.hardware.enablement.plugins.module_utils.rmd.client import Daemon
from ansible_collections.hardware.enablement.plugins.module_utils.rmd.dialect import decode
from ansible_collections.hardware.enablement.plugins.module_utils.rmd.errors import RmdError
from ansible_collections.hardware.enablement.plugins.module_utils.rmd.fleet import open_fleet, select_nodes
from ansible_collections.hardware.enablement.plugins.module_utils.rmd.hold import all_saved
from ansible_collections.hardware.enablement.plugins.module_utils.rmd.report import describe_running
from ansible_collections.hardware.enablement.plugins.module_utils.states.context import RunContext

Obj = dict[str, Any]


def run(params: Mapping[str, Any], _context: RunContext) -> Obj:
    """rmd_info. A node that cannot be asked is a finding, not a failure."""
    client = connect(params)
    nodes = select_nodes(client, params)
    saved = all_saved(client)
    with open_fleet(client, params, nodes) as fleet:
        with ThreadPoolExecutor(max(1, params["parallel"]), thread_name_prefix="rmd") as pool:
            found = list(pool.map(lambda node: _ask(node, fleet.daemons[node]), fleet.daemons))
        requests = fleet.requests
    for entry in found:
        entry["unfinished"] = [decode(body).uuid for body in saved.get(entry["node"], [])]
    return {"changed": False, "nodes": found, "requests": requests}


def _ask(node: str, daemon: Union[Daemon, RmdError]) -> Obj:
    shown: Obj = {"node": node, "reachable": False, "dialect": "", "workloads": [], "caches": [], "policies": {}}
    try:
        if isinstance(daemon, RmdError):
            raise daemon
        shown["workloads"] = [describe_running(running) for running in daemon.workloads()]
        shown["reachable"] = True
        shown["dialect"] = daemon.dialect.value if daemon.dialect else ""
        topology = daemon.topology(mba=True)
        shown["caches"] = topology.describe()
        if topology.mba is not None:
            shown["mba"] = vars(topology.mba)
        shown["policies"] = {name: dict(policy.parameters) for name, policy in daemon.policies().items()}
    except RmdError as error:
        shown |= {"kind": error.kind, "message": str(error)}
    return shown
