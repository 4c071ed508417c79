# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where no node matches, look once at what a person needs to know: metadata of nodes, and whether
NFD is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..._cluster.api_client.api_errors import Forbidden
from ..._cluster.api_client.client import Client
from ..._nodes.absence import Evidence

_NAMES_OF_NFD = ("nfd", "node-feature-discovery")


def gather(client: Client) -> Evidence:
    """The evidence: one paged list of nodes, and one of DaemonSets where no node has a label of
    NFD."""
    nodes = client.list(client.kind("v1", "Node"), metadata_only=True).items
    evidence = Evidence([node["metadata"].get("labels") or {} for node in nodes])
    return evidence if evidence.labelled else Evidence(evidence.labels, _daemonsets(client))


def _daemonsets(client: Client) -> Sequence[str] | None:
    try:
        found: Sequence[Mapping[str, Mapping[str, str]]] = client.list(
            client.kind("apps/v1", "DaemonSet"), metadata_only=True
        ).items
    except Forbidden:
        return None
    names = sorted(f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in found)
    return [name for name in names if any(part in name for part in _NAMES_OF_NFD)]
