# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NUMA where MachineConfigPools say which nodes are configured alike: they become pools by themselves,
and an operator's node groups select them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import Cluster
from tests.integration.numa.nodes import configure, policies
from tests.integration.plays import Runner

pytestmark = pytest.mark.numa

WORKER, ALIGNED = "node-role.kubernetes.io/worker", "node-role.kubernetes.io/aligned"
OPTIONS = {"hardware_labels": [{WORKER: ""}]}
POOL: dict[str, Any] = {
    "apiVersion": "machineconfiguration.openshift.io/v1",
    "kind": "MachineConfigPool",
    "metadata": {"name": "aligned", "labels": {"example.org/numa": "yes"}},
    "spec": {"nodeSelector": {"matchLabels": {ALIGNED: ""}}},
}
OPERATOR = {
    "apiVersion": "nodetopology.openshift.io/v1",
    "kind": "NUMAResourcesOperator",
    "metadata": {"name": "numaresourcesoperator"},
    "spec": {
        "nodeGroups": [
            {"machineConfigPoolSelector": {"matchLabels": {"example.org/numa": "yes"}}},
            {"poolName": "worker", "config": {"podsFingerprinting": "Enabled"}},
        ]
    },
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Two workers, of which the first is in a pool of its own and the second runs another scope."""
    with Cluster.up("test-numa-openshift", numa=True, nfd=False, openshift=True) as started:
        started.add_nodes(2, profile="numa")
        started.kubectl("label", "node", "numa-1", f"{WORKER}=", f"{ALIGNED}=")
        started.kubectl("label", "node", "numa-2", f"{WORKER}=")
        started.kubectl("apply", "-f", "-", stdin=json.dumps(POOL))
        configure(started, "numa-2", topologyManagerScope="container")
        yield started


def test_machine_config_pools_are_pools(cluster: Cluster, runner: Runner, tmp_path: Path) -> None:
    runner.play("numa", hardware_enablement_options=OPTIONS).check()
    assert policies(cluster) == {
        "numa-1": ("single-numa-node", "pod"),
        "numa-2": ("single-numa-node", "container"),
    }
    runner.play("numa").unchanged()
    record = cluster.api.get("/apis/hardware-enablement.io/v1/specialresources/numa")
    assert {pool["name"]: pool["machine_config_pool"] for pool in record["spec"]["pools"]} == {
        "aligned": "aligned",
        "worker": "worker",
    }
    constraints = cluster.kubectl("get", "securitycontextconstraints", "-o", "name")
    assert constraints.count("numa-exporter-") == 2
    runner.play("numa_remove").check()
    file = tmp_path / "operator.yml"
    file.write_text(yaml.safe_dump(OPERATOR))
    runner.play("numa", numa_from_cr=str(file), hardware_enablement_options=OPTIONS).check()
    # Of an operator without a scheduler's resource there is none.
    assert "numa-scheduler" not in cluster.kubectl("get", "deployments", "-A", "-o", "name")
    assert policies(cluster).keys() == {"numa-1", "numa-2"}
    runner.play("numa_remove", hardware_enablement_delete_definitions=True).check()
