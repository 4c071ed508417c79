# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is declared, and what of it was found last, as the API server has it. One list for each
kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..._cluster.api_client.api_errors import NotFound
from ..._cluster.api_client.client import Client
from ..._cluster.api_objects.kinds import Kind
from ..._cluster.api_objects.object_conditions import condition
from ..._json import Obj, elements, part
from .operator_names import CONFIG, CONFIG_NAME, HOME_NAMESPACE, NODE_STATE, WORKLOAD
from .workload_spec import Name
from .workload_state import Verdict

NODE = Kind("", "v1", "Node", "nodes", namespaced=False)


@dataclass(frozen=True)
class RmdObjects:
    """The cluster's objects: RmdWorkloads; nodes and node states by node; the RmdConfig, {} for
    none."""

    workloads: list[Obj]
    nodes: Mapping[str, Obj]
    node_states: Mapping[str, Obj]
    config: Obj

    @property
    def selector(self) -> Mapping[str, str]:
        """The RmdConfig's labels of nodes."""
        found: Mapping[str, str] = part(self.config, "spec", "rmdNodeSelector")
        return found

    def labels(self) -> dict[str, dict[str, str]]:
        """The labels of all nodes, by name."""
        return {name: part(node["metadata"], "labels") for name, node in self.nodes.items()}


def observe(client: Client) -> RmdObjects:
    """Read everything; kinds that are not there yet have no objects."""
    states = _list(client, NODE_STATE, HOME_NAMESPACE)
    return RmdObjects(
        workloads=_list(client, WORKLOAD, None),
        nodes={node["metadata"]["name"]: node for node in client.list(NODE).items},
        node_states={part(state, "spec").get("node", ""): state for state in states},
        config=client.get(CONFIG, CONFIG_NAME, HOME_NAMESPACE) or {},
    )


def config_status(config: Obj, nodes: Iterable[str], ready: Verdict, now: float) -> Obj:
    """The RmdConfig's status for these nodes; equal to the one before where nothing has changed.
    now: seconds since the epoch."""
    before = elements(config, "status", "conditions")
    generation = int(config["metadata"].get("generation") or 0)
    found = condition(before, "Ready", *ready, now=now, generation=generation)
    return {"nodes": sorted(nodes), "observedGeneration": generation, "conditions": [found]}


def name_of(obj: Mapping[str, Any]) -> Name:
    """The name of an RmdWorkload."""
    return Name(obj["metadata"]["namespace"], obj["metadata"]["name"])


def _list(client: Client, kind: Kind, namespace: str | None) -> list[Obj]:
    try:
        return client.list(kind, namespace=namespace).items
    except NotFound:
        return []
