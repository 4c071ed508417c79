# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster with nodes that have RMD, and objects that say what is to run there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cluster import Cluster
from tests.integration.rmd.bed import RmdBed, deployed
from tests.integration.rmd.user_objects import UserObjects
from tests.rmd import Dialect


class ObjectsBed(RmdBed, UserObjects):
    """Objects as users make them, and what the servers have of them."""

    backend = "rmd"

    def give(self, node: str, uid: str, **cpus: str) -> None:
        """By the agent's word."""
        self.reports.tell(node, cpu_manager={"policy": "static", "entries": {uid: cpus}})

    def uuids(self, node: str) -> list[str]:
        """What runs on a node, by the server's own word."""
        return sorted(workload.get("uuid", "") for workload in self.fleet[node].workloads())

    def methods(self, since: dict[str, int]) -> dict[str, list[str]]:
        """Node -> "METHOD path" of each request that its server has seen since a mark."""
        seen = self.fleet.requests(since)
        return {
            node: [f"{entry.method} {entry.path}" for entry in entries]
            for node, entries in seen.items()
        }


@contextmanager
def make_bed(
    cluster: Cluster, folder: Path, nodes: int, dialect: Dialect = Dialect.V02, **settings: Any
) -> Iterator[ObjectsBed]:
    """Nodes worker-node-1 and so on, RMD of one dialect on all; settings: of each server."""
    names = cluster.add_nodes(nodes, profile="cpu-only", prefix="worker-node")
    with deployed(cluster, names, folder / "pki", dialect=dialect, **settings) as parts:
        yield ObjectsBed(*parts)
