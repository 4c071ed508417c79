# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kubelets of each pool run, and whether they agree. The core of kubelet_config_info."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._cluster.api_client.client import connect
from .._json import Obj
from .._nodes.facts import NodeFacts
from .._nodes.pools import parse_pools
from .._runs.context import RunContext
from .._runs.task import Task
from .._states.preparation.discover import list_nodes
from .kubelet_pools import pool_report
from .kubelet_reading import (
    kubelets_at_a_time,
    nodes_by_pool,
    read_declarations,
    read_kubelets,
    read_pools,
)

_ALL: Sequence[Mapping[str, str | None]] = ({},)


def run(params: Mapping[str, Any], _context: RunContext) -> Obj:
    """kubelet_config_info: one request to each kubelet. Reads only."""
    at_a_time = kubelets_at_a_time(params)
    asked_for = parse_pools(params.get("pools"))
    client = connect(params)
    nodes = [
        NodeFacts.from_object(node) for node in list_nodes(client, params.get("selector") or _ALL)
    ]
    pools, machine_config_pools = read_pools(client, asked_for, nodes)
    declarations = read_declarations(client, machine_config_pools, nodes)
    running, problems = read_kubelets(client, nodes, at_a_time)
    members = nodes_by_pool(pools, nodes)
    return {
        "changed": False,
        "nodes": running,
        "unknown": [{"node": node, "problem": problems[node]} for node in sorted(problems)],
        "pools": [
            pool_report(name, members[name], running, declarations) for name in sorted(members)
        ],
    }


TASK = Task(None, run)
