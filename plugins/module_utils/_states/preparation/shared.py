# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two special resources that would serve one device on one node, found before the first write."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from ..._cluster.api_client.client import Client
from ..._errors import EnablementError
from ..._json import elements, part
from ..._nodes.discovery import Discovery
from ..record.crd import API_VERSION, KIND, RECORD
from .prepare import Prepared

_SHOWN = 3


def refuse_shared(client: Client, prepared: Prepared, discovery: Discovery) -> None:
    """Raise EnablementError where another SpecialResource serves one of our resources on one of our
    nodes."""
    if not client.serves(API_VERSION, KIND):
        return
    ours = {node for group in discovery.node_groups for node in group.nodes}
    for record in client.list(RECORD).items:
        name, spec = record["metadata"]["name"], part(record, "spec")
        if name == prepared.recipe.name:
            continue
        both = _common(prepared, spec)
        nodes = sorted(ours & _nodes(client, spec)) if both else []
        if nodes:
            more = f" and {len(nodes) - _SHOWN} more" if len(nodes) > _SHOWN else ""
            raise EnablementError(
                f"{', '.join(both)} would be served twice, by {name} and by {prepared.recipe.name}",
                where=f"nodes {', '.join(nodes[:_SHOWN])}{more}",
                why="two device plugins for one resource take the devices from each other",
                todo="keep the two apart by option node_selector, or disable one of them",
            )


def _common(prepared: Prepared, spec: Mapping[str, Any]) -> list[str]:
    """The resources of ours that another record names too; * may stand in either."""
    theirs = [str(name) for name in elements(spec, "resources")]
    return [
        name
        for name in prepared.recipe.devices.resources
        if any(fnmatchcase(name, other) or fnmatchcase(other, name) for other in theirs)
    ]


def _nodes(client: Client, spec: Mapping[str, Any]) -> set[str]:
    kind = client.kind("v1", "Node")
    return {
        node["metadata"]["name"]
        for labels in elements(spec, "selector")
        for node in client.list(kind, labels=str(labels), metadata_only=True).items
    }
