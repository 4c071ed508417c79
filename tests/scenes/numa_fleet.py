# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An exporter's pod and a NodeResourceTopology for each node of a cluster, and the scheduler."""

from __future__ import annotations

import datetime
from pathlib import Path

from tests.benchmarks.rendering import render
from tests.cluster.api import in_parallel
from tests.cluster.cluster import Cluster
from tests.cluster.objects import create_crds, create_objects
from tests.scenes import numa

RECIPE = Path(__file__).parents[2] / "recipes" / "numa"
# Of no pod at all.
_NOBODY = "pfp0v001ef46db3751d8e999"


def publish_topologies(cluster: Cluster) -> None:
    """All that numa_validate looks at but kubelets, for all nodes; comes back when pods run."""
    api = cluster.api
    create_crds(api, render(RECIPE, cluster.kubeconfig)["topology_api"])
    cluster.kubectl("create", "namespace", numa.NAMESPACE)
    nodes = [node["metadata"]["name"] for node in api.pages("/api/v1/nodes")]
    found = {"nodeTopologyPodsFingerprint": _NOBODY}
    published = [
        {
            **numa.topology(node),
            "attributes": numa.attributes(node, **found),
        }
        for node in nodes
    ]
    in_parallel(lambda topology: api.create(numa.TOPOLOGIES, topology), published)
    exporter = numa.exporter()
    del exporter["spec"]["template"]["spec"]["nodeSelector"]
    now = datetime.datetime.now(tz=datetime.timezone.utc)
    create_objects(
        api,
        [
            numa.config_map("numa-exporter", numa.exporter_config()),
            numa.config_map("numa-scheduler", numa.scheduler_config()),
            exporter,
            numa.scheduler(int(api.get("/version")["minor"].rstrip("+"))),
            numa.lease(now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")),
        ],
    )
    for workload in ("daemonset/numa-exporter", "deployment/numa-scheduler"):
        cluster.kubectl("rollout", "status", f"-n={numa.NAMESPACE}", workload, "--timeout=300s")
