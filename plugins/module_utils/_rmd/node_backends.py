# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who divides the cache of a task's nodes: RMD's daemon, or the node's agent itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Optional

from .._cluster.api_client.client import Client
from .daemon.daemons import open_daemons
from .daemon.daemons_request import DaemonsRequest
from .nodes.agents import find_agents
from .nodes.node_fleet import Fleet
from .nodes.node_machine import Dialect
from .objects.resctrl_node import ResctrlNode


@contextmanager
def open_fleet(
    client: Client,
    request: DaemonsRequest,
    nodes: Optional[Collection[str]] = None,
    *,
    dialect: Optional[Dialect] = None,
) -> Iterator[Fleet]:
    """The writers and agents of these nodes; without nodes, of all that have one. Sends nothing to
    them. dialect: as open_daemons takes it.

    Raises EnablementError for settings that are of no use.
    """
    agents = find_agents(client, request.namespace)
    with open_daemons(client, request, nodes, agents, dialect=dialect) as fleet:
        for node, agent in agents.items():
            if agent.divides and (nodes is None or node in nodes):
                fleet.writers[node] = ResctrlNode(client, node, agent)
                fleet.agents[node] = agent
        yield fleet
