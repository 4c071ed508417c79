# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene of the demo and of `make molecule`: 3 GPU nodes on two kernels and 1 node without a
GPU.

`python -m tests.scenes.four_nodes CLUSTER` adds to a local cluster what is missing of it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from tests.cluster.api import Api
from tests.cluster.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.cluster.node_objects import Machine, parse_os
from tests.cluster.nodes import add_nodes
from tests.cluster.profiles import load_profile


@dataclass(frozen=True)
class Row:
    """Nodes that are alike, named PREFIX-1, PREFIX-2, ..."""

    prefix: str
    count: int
    profile: str
    kernel: str


SCENE = (
    Row("gpu-old", 2, "gpu-h100", "6.8.0-60-generic"),
    Row("gpu-new", 1, "gpu-h100", "6.8.0-71-generic"),
    Row("plain", 1, "cpu-only", "6.8.0-71-generic"),
)
OS = "ubuntu:24.04"


def machines() -> list[Machine]:
    """The four machines."""
    os_id, os_version = parse_os(OS)
    return [
        Machine(f"{row.prefix}-{number}", load_profile(row.profile), row.kernel, os_id, os_version)
        for row in SCENE
        for number in range(1, row.count + 1)
    ]


def set_scene(cluster: Cluster) -> None:
    """Add the machines that are not there yet to a local cluster."""
    add_machines(cluster.api, cluster.record.ports.simulation)


def add_machines(api: Api, port: int) -> None:
    """Add the machines that are not there yet and wait until they are Ready and labelled.

    `port` is where the simulation serves the kubelets' API (logs).
    """
    there = {node["metadata"]["name"] for node in api.pages("/api/v1/nodes")}
    missing = [machine for machine in machines() if machine.name not in there]
    if missing:
        add_nodes(api, missing, port=port, say=print, timeout=120)
    else:
        print("the nodes are there already")


def main() -> int:
    """Exit code 1 with one sentence if the nodes cannot be added."""
    try:
        set_scene(Cluster.attach(sys.argv[1]))
    except ClusterError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
