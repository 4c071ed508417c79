# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API server accepts every object of the operator's three versions, as it was, and shows it in
columns."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
    connect,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.connection_request import (
    ConnectionRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.operator_crds import (
    ensure_definitions,
)
from tests.cluster import Cluster, ClusterError

# As samples and agents of the operator wrote them; the last ones hold what RMD refuses, which is
# not for the schema.
SPECS = {
    "v01-cache": {
        "coreIds": ["0", "1", "2", "3"],
        "cache": {"max": 2, "min": 2},
        "nodes": ["worker-node-1"],
    },
    "v01-pstate": {
        "coreIds": ["4", "5", "6", "7"],
        "cache": {"max": 2, "min": 2},
        "pstate": {"ratio": "3.0", "monitoring": "on"},
        "nodes": ["worker-node-1", "worker-node-2"],
    },
    "v01-agent": {
        "coreIds": ["1", "2", "49"],
        "cache": {"max": 2, "min": 2},
        "nodes": ["worker-node-1"],
        "policy": "",
        "pstate": {"monitoring": "", "ratio": ""},
    },
    "v02": {
        "coreIds": ["0"],
        "nodes": ["worker-node-1"],
        "rdt": {"cache": {"max": 2, "min": 2}, "mba": {"percentage": 50}},
        "plugins": {"pstate": {"ratio": "1.5", "monitoring": "off"}},
    },
    "v02-mbps": {
        "coreIds": ["0"],
        "nodes": ["w"],
        "rdt": {"cache": {"max": 2, "min": 2}, "mba": {"mbps": 4294967290}},
    },
    "v02-policy": {"coreIds": ["0"], "nodes": ["worker-node-1"], "policy": "gold"},
    "v03-all": {
        "allCores": True,
        "reservedCoreIds": ["0", "1-3"],
        "nodeSelector": {"example.org/pool": "fast"},
        "rdt": {"cache": {"max": 3, "min": 1}},
    },
    "v03-nulls": {
        "allCores": False,
        "coreIds": None,
        "reservedCoreIds": None,
        "nodes": None,
        "nodeSelector": None,
        "rdt": {"cache": None, "mba": None},
        "plugins": None,
        "policy": "",
    },
    "refused-numbers": {
        "coreIds": ["-1", "x", ""],
        "nodes": [""],
        "rdt": {"cache": {"max": -5, "min": 7}, "mba": {"percentage": 101, "mbps": -1}},
        "plugins": {"pstate": {"ratio": "fast", "monitoring": "maybe"}},
    },
    "refused-empty": {},
    "refused-both": {
        "coreIds": ["1", "1"],
        "allCores": True,
        "nodes": ["a"],
        "nodeSelector": {"a": "b"},
    },
}


def workload(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default"}
    return {
        "apiVersion": "intel.com/v1alpha1",
        "kind": "RmdWorkload",
        "metadata": metadata,
        "spec": spec,
    }


@pytest.fixture(scope="module")
def client(cluster: Cluster) -> Client:
    made = connect(ConnectionRequest(kubeconfig=str(cluster.kubeconfig)))
    assert ensure_definitions(made) is True
    return made


def test_a_second_time_nothing_is_applied(client: Client) -> None:
    before = client.requests
    assert ensure_definitions(client) is False
    assert client.requests.get("apply") == before.get("apply")


def test_the_published_file_changes_nothing(cluster: Cluster, client: Client) -> None:
    cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", "manifests/rmd-crds.yaml")
    assert ensure_definitions(client) is False


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("name", SPECS)
def test_every_spec_of_the_operator_is_accepted_as_it_is(cluster: Cluster, name: str) -> None:
    text = yaml.safe_dump(workload(name, SPECS[name]))
    cluster.kubectl("create", "--validate=strict", "-f", "-", stdin=text)
    assert (
        json.loads(cluster.kubectl("get", "rmdworkload", name, "-o", "json"))["spec"] == SPECS[name]
    )


@pytest.mark.usefixtures("client")
def test_status_of_the_operators_is_accepted(cluster: Cluster) -> None:
    state = {
        "response": "Success: 201",
        "id": "1",
        "cosName": "0_1_2_3-guarantee",
        "status": "Successful",
        "coreIds": None,
        "policy": "",
        "rdt": {"cache": {"max": 2, "min": 2}, "mba": {}},
        "plugins": {"pstate": {}},
    }
    cluster.kubectl(
        "create", "-f", "-", stdin=yaml.safe_dump(workload("with-status", SPECS["v02"]))
    )
    patch = json.dumps({"status": {"workloadStates": {"worker-node-1": state}}})
    cluster.kubectl(
        "patch", "rmdworkload", "with-status", "--subresource=status", "--type=merge", "-p", patch
    )
    found = json.loads(cluster.kubectl("get", "rmdworkload", "with-status", "-o", "json"))
    # A merge patch takes null for "remove".
    assert found["status"]["workloadStates"]["worker-node-1"] == {
        k: v for k, v in state.items() if v is not None
    }
    assert "with-status" in cluster.kubectl("get", "rmdworkloads")


@pytest.mark.usefixtures("client")
def test_node_states_and_configurations(cluster: Cluster) -> None:
    node_state = {
        "apiVersion": "intel.com/v1alpha1",
        "kind": "RmdNodeState",
        "metadata": {"name": "rmd-node-state-worker-node-1", "namespace": "default"},
        "spec": {"node": "worker-node-1", "nodeUid": ""},
        "status": {
            "workloads": {"a": {"ID": "1", "Core IDs": "0,1,2,3", "P-State Ratio": "3.000000"}}
        },
    }
    config = {
        "apiVersion": "intel.com/v1alpha1",
        "kind": "RmdConfig",
        "metadata": {"name": "rmdconfig", "namespace": "default"},
        "spec": {
            "rmdImage": "rmd:latest",
            "rmdNodeSelector": {"feature.node.kubernetes.io/cpu-rdt.RDTL3CA": "true"},
            "deployNodeAgent": False,
        },
    }
    for obj in (node_state, config):
        cluster.kubectl("create", "--validate=strict", "-f", "-", stdin=yaml.safe_dump(obj))
    assert "worker-node-1" in cluster.kubectl("get", "rmdnodestates")
    config["metadata"] = {"name": "another", "namespace": "default"}
    with pytest.raises(ClusterError, match=r"\^rmdconfig\$"):
        cluster.kubectl("create", "-f", "-", stdin=yaml.safe_dump(config))
