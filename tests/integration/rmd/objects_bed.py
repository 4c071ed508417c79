# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster with nodes that have RMD, and objects that say what is to run there."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from tests.cluster import Cluster
from tests.integration.rmd.bed import Obj, RmdBed, deployed
from tests.rmd import Dialect


class ObjectsBed(RmdBed):
    """Objects as users make them, and what the servers have of them."""

    def get(self, kind: str, name: str, namespace: str = "default") -> Obj:
        """An object."""
        found: Obj = json.loads(
            self.cluster.kubectl("get", kind, name, "-n", namespace, "-o", "json")
        )
        return found

    def create(self, obj: Obj) -> None:
        """Create an object, as a user does."""
        self.cluster.kubectl("create", "-f", "-", stdin=yaml.safe_dump(obj))

    def apply(self, obj: Obj) -> None:
        """Apply an object, as a user does."""
        self.cluster.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(obj))

    def uuids(self, node: str) -> list[str]:
        """What runs on a node, by the server's own word."""
        return sorted(workload.get("uuid", "") for workload in self.fleet[node].workloads())

    def going(self, kind: str, name: str) -> bool:
        """Whether an object is being deleted."""
        return "deletionTimestamp" in self.get(kind, name)["metadata"]

    def age(self, kind: str, name: str, namespace: str = "default") -> float:
        """Seconds since an object was created."""
        created = self.get(kind, name, namespace)["metadata"]["creationTimestamp"]
        return time.time() - datetime.fromisoformat(created.replace("Z", "+00:00")).timestamp()

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
