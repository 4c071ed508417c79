# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What simulated nodes with NUMA nodes are configured for, and what is published of them."""

from __future__ import annotations

import json
from typing import Any

from tests.cluster import Cluster
from tests.cluster.simulation.model import NUMA_ANNOTATION

Obj = dict[str, Any]
TOPOLOGIES = "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies"


def configure(cluster: Cluster, node: str, **settings: Any) -> None:
    """Let a node's kubelet run other settings (of a KubeletConfiguration) from now on."""
    metadata = cluster.api.get(f"/api/v1/nodes/{node}")["metadata"]
    numa = json.loads(metadata["annotations"][NUMA_ANNOTATION])
    numa["kubelet"].update(settings)
    cluster.kubectl(
        "annotate", "--overwrite", "node", node, f"{NUMA_ANNOTATION}={json.dumps(numa)}"
    )


def topologies(cluster: Cluster) -> dict[str, dict[str, str]]:
    """Node -> attributes of its NodeResourceTopology."""
    return {
        item["metadata"]["name"]: {each["name"]: each["value"] for each in item["attributes"]}
        for item in cluster.api.get(TOPOLOGIES)["items"]
    }


def policies(cluster: Cluster) -> dict[str, tuple[str, str]]:
    """Node -> policy and scope, as published."""
    return {
        node: (found["topologyManagerPolicy"], found["topologyManagerScope"])
        for node, found in topologies(cluster).items()
    }
