# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet_config_info: what real kubelets say that they run, under the rights that docs name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    KUBELET_CONFIG_INFO,
)
from ansible_collections.hardware.enablement.plugins.module_utils._numa import kubelet_config
from tests.cluster import Cluster
from tests.gates.place import REPO
from tests.integration.conftest import grant
from tests.integration.in_process import Module
from tests.integration.waiting import PATIENTLY, wait_until

pytestmark = pytest.mark.kubelet

Obj = dict[str, Any]
USER = "kubelets"
ALIGNED = {"topologyManagerPolicy": "single-numa-node", "topologyManagerScope": "pod"}
POOLS = [
    {"name": "real", "selector": {"matchLabels": {"example.org/real": "true"}}},
    {
        "name": "simulated",
        "selector": {"matchExpressions": [{"key": "example.org/real", "operator": "DoesNotExist"}]},
    },
]
# They serve no configuration.
SIMULATED = ("control-plane", "cpu-only-1")
HOSTED = "openshift-config-managed"


def documented_role() -> str:
    """The ClusterRole of docs/admin/kubelets.md."""
    page = (REPO / "docs" / "admin" / "kubelets.md").read_text()
    (role,) = (block for block in re.findall(r"```yaml\n(.*?)```", page, re.S) if "rules:" in block)
    return role


def apply(cluster: Cluster, *objects: Obj) -> None:
    """Make objects."""
    items = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(items))


@pytest.fixture(scope="module")
def module(cluster: Cluster) -> Iterator[Module]:
    """As a user with the documented rights; the first real node aligns pods to NUMA nodes."""
    cluster.kubectl("apply", "-f", "-", stdin=documented_role())
    grant(cluster, USER, "hardware-enablement-kubelets")
    aligned = cluster.workers[0]
    for node in cluster.workers:
        cluster.kubectl("label", "node", node, "example.org/real=true")
    cluster.real_node(aligned).configure_kubelet(ALIGNED)
    module = Module(kubelet_config.TASK, KUBELET_CONFIG_INFO, cluster.kubeconfig_for(USER))
    wait_until(lambda: aligned in module.done()["nodes"], "the kubelet is there again")
    yield module
    cluster.real_node(aligned).configure_kubelet(dict.fromkeys(ALIGNED))
    for node in cluster.workers:
        cluster.kubectl("label", "node", node, "example.org/real-")


def pools_of(result: Obj) -> dict[str, Obj]:
    """The pools by name."""
    return {pool["name"]: pool for pool in result["pools"]}


def test_what_kubelets_run_and_in_what_a_pool_differs(cluster: Cluster, module: Module) -> None:
    aligned, other = cluster.workers
    mark = cluster.mark()
    result = module.done(pools=POOLS)
    asked = {
        event["auditID"]: event["requestURI"]
        for event in cluster.audit(user=USER, since=mark)
        if "/proxy/" in event["requestURI"]
    }
    everybody = (*cluster.workers, *SIMULATED)
    assert sorted(asked.values()) == sorted(
        f"/api/v1/nodes/{node}/proxy/configz" for node in everybody
    )
    assert result["nodes"][aligned]["topology_manager_policy"] == "single-numa-node"
    assert result["nodes"][aligned]["eviction_hard"]["memory.available"] == 50 * 2**20
    real = pools_of(result)["real"]
    assert not real["uniform"]
    assert {entry["setting"]: entry["values"] for entry in real["differs"]} == {
        "topology_manager_policy": [
            {"value": "none", "nodes": [other]},
            {"value": "single-numa-node", "nodes": [aligned]},
        ],
        "topology_manager_scope": [
            {"value": "container", "nodes": [other]},
            {"value": "pod", "nodes": [aligned]},
        ],
    }
    assert real["settings"]["cpu_manager_policy"] == "none"


def test_a_node_whose_kubelet_does_not_say_is_unknown(module: Module) -> None:
    result = module.done(pools=POOLS)
    assert [entry["node"] for entry in result["unknown"]] == list(SIMULATED)
    assert "kubelet's configuration of Node cpu-only-1" in result["unknown"][1]["problem"]
    assert not pools_of(result)["simulated"]["uniform"]


def test_who_may_not_ask_is_told_which_right_is_missing(cluster: Cluster, module: Module) -> None:
    stranger = Module(module.task, module.spec, cluster.kubeconfig_for("stranger"))
    assert "nodes" in stranger.failed()
    cluster.kubectl("create", "clusterrole", "lister", "--verb=list", "--resource=nodes")
    grant(cluster, "stranger", "lister")
    assert "nodes/proxy" in stranger.failed()


def test_pools_and_numbers_that_cannot_be_meant_are_refused(module: Module) -> None:
    assert "at_a_time is 0" in module.failed(at_a_time=0)
    none = [{"name": "none", "selector": {"matchLabels": {"example.org/real": "no"}}}]
    assert "pool none" in module.failed(pools=none)


@pytest.fixture
def openshift(cluster: Cluster) -> Iterator[None]:
    """OpenShift's kinds: a pool with the real nodes, and what its kubelets should run."""
    crds = yaml.safe_load((REPO / "tests" / "cluster" / "openshift" / "crds.yaml").read_text())
    kinds = [
        crd
        for crd in crds["items"]
        if crd["spec"]["names"]["kind"] in ("MachineConfigPool", "KubeletConfig")
    ]
    names = [f"crd/{crd['metadata']['name']}" for crd in kinds]
    apply(cluster, *kinds)
    cluster.kubectl("wait", "--for=condition=Established", PATIENTLY, *names)
    machine_config = {"apiVersion": "machineconfiguration.openshift.io/v1"}
    apply(
        cluster,
        {
            **machine_config,
            "kind": "MachineConfigPool",
            "metadata": {"name": "aligned", "labels": {"example.org/pool": "aligned"}},
            "spec": {"nodeSelector": {"matchLabels": {"example.org/real": "true"}}},
        },
        {
            **machine_config,
            "kind": "KubeletConfig",
            "metadata": {"name": "numa"},
            "spec": {
                "machineConfigPoolSelector": {"matchLabels": {"example.org/pool": "aligned"}},
                "kubeletConfig": ALIGNED,
            },
        },
    )
    yield
    cluster.kubectl("delete", *names)


@pytest.mark.usefixtures("openshift")
def test_what_openshift_declares_is_compared_with_what_runs(
    cluster: Cluster, module: Module
) -> None:
    other = cluster.workers[1]
    pools = pools_of(module.done())
    assert set(pools) == {"", "aligned"}
    assert pools["aligned"]["nodes"] == sorted(cluster.workers)
    (declared,) = pools["aligned"]["declared"]
    assert declared["source"] == "KubeletConfig numa"
    assert declared["differs"] == [
        {
            "setting": "topology_manager_policy",
            "declared": "single-numa-node",
            "running": "none",
            "nodes": [other],
        },
        {
            "setting": "topology_manager_scope",
            "declared": "pod",
            "running": "container",
            "nodes": [other],
        },
    ]


@pytest.fixture
def hypershift(cluster: Cluster) -> Iterator[None]:
    """HyperShift's NodePool: a label on its nodes, and a ConfigMap."""
    label = "hypershift.openshift.io/nodePool"
    cluster.kubectl("label", "node", cluster.workers[0], f"{label}=blue")
    config = {
        "kind": "KubeletConfig",
        "spec": {"kubeletConfig": {"topologyManagerScope": "container"}},
    }
    apply(
        cluster,
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOSTED}},
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": "kubelets",
                "namespace": HOSTED,
                "labels": {label: "blue", "hypershift.openshift.io/kubeletconfig-config": "true"},
            },
            "data": {"config": yaml.safe_dump(config)},
        },
    )
    role = ("role", "configs", "-n", HOSTED)
    cluster.kubectl("create", *role, "--verb=list", "--resource=configmaps")
    cluster.kubectl(
        "create", "rolebinding", "configs", "-n", HOSTED, "--role=configs", f"--user={USER}"
    )
    yield
    cluster.kubectl("label", "node", cluster.workers[0], f"{label}-")
    cluster.kubectl("delete", "namespace", HOSTED)


@pytest.mark.usefixtures("hypershift")
def test_what_hypershift_declares_is_compared_too(cluster: Cluster, module: Module) -> None:
    pool = pools_of(module.done())["blue"]
    assert pool["nodes"] == [cluster.workers[0]]
    assert pool["declared"] == [
        {
            "source": f"ConfigMap {HOSTED}/kubelets",
            "settings": {"topology_manager_scope": "container"},
            "differs": [
                {
                    "setting": "topology_manager_scope",
                    "declared": "container",
                    "running": "pod",
                    "nodes": [cluster.workers[0]],
                }
            ],
        }
    ]
