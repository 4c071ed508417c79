# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Any number of GPU nodes, evenly on three kernels."""

from __future__ import annotations

from collections.abc import Callable

from tests.cluster.cluster import Cluster
from tests.cluster.node_objects import Machine, parse_os
from tests.cluster.nodes import add_nodes
from tests.cluster.profiles import load_profile

KERNELS = ("6.8.0-60-generic", "6.8.0-71-generic", "6.8.0-79-generic")
OS = "ubuntu:24.04"


def add_fleet(
    cluster: Cluster, count: int, *, say: Callable[[str], None], timeout: float = 300
) -> None:
    """Add gpu-1 to gpu-COUNT, the kernels in turn; comes back when all are Ready and labelled."""
    profile = load_profile("gpu-h100")
    os_id, os_version = parse_os(OS)
    machines = [
        Machine(f"gpu-{number}", profile, KERNELS[number % len(KERNELS)], os_id, os_version)
        for number in range(1, count + 1)
    ]
    add_nodes(cluster.api, machines, port=cluster.record.ports.simulation, say=say, timeout=timeout)
