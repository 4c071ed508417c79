# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks numa and numa_remove: from nothing to a scheduler that is proven, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import Cluster
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration import sight
from tests.integration.numa.nodes import configure, policies, topologies
from tests.integration.plays import Runner

pytestmark = pytest.mark.numa

ALIGNED = ("single-numa-node", "pod")
OWN = {"hardware_enablement_delete_definitions": True, "hardware_enablement_delete_crd": True}
OPERATOR = {
    "apiVersion": "nodetopology.openshift.io/v1",
    "kind": "NUMAResourcesOperator",
    "metadata": {"name": "numaresourcesoperator"},
    "spec": {
        "nodeGroups": [
            {"poolName": "first", "config": {"infoRefreshPeriod": "5s"}},
            {"poolName": "second", "config": {"podsFingerprinting": "Enabled"}},
        ]
    },
}
SCHEDULER = {
    "apiVersion": "nodetopology.openshift.io/v1alpha1",
    "kind": "NUMAResourcesScheduler",
    "metadata": {"name": "numaresourcesscheduler"},
    "spec": {
        "imageSpec": "registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7",
        "schedulerName": "by-numa-node",
        "cacheResyncDebug": "Disabled",
    },
}
CRD = "numaresourcesoperators.nodetopology.openshift.io"
POOL = "hypershift.openshift.io/nodePool"


def record(cluster: Cluster) -> dict[str, Any]:
    """The SpecialResource."""
    return dict(cluster.api.get("/apis/hardware-enablement.io/v1/specialresources/numa"))


def rollouts(cluster: Cluster) -> dict[str, int]:
    """How often exporters and the scheduler were rolled out: name -> generation of its pods."""
    listed = json.loads(
        cluster.kubectl("-n", "numa-resources", "get", "daemonsets,deployments", "-o", "json")
    )
    return {item["metadata"]["name"]: item["metadata"]["generation"] for item in listed["items"]}


@contextmanager
def kubelets(cluster: Cluster, *nodes: str, **settings: Any) -> Iterator[None]:
    """Kubelets that run something else for a while."""
    for node in nodes:
        configure(cluster, node, **settings)
    yield
    for node in nodes:
        configure(cluster, node, topologyManagerPolicy=ALIGNED[0], topologyManagerScope=ALIGNED[1])


@pytest.fixture
def enabled(cluster: Cluster, runner: Runner) -> None:
    """Exporters and scheduler, for all nodes alike."""
    if sight.phase(cluster, "numa") != "ready":
        runner.play("numa", hardware_enablement_options={}, hardware_enablement_pools=[]).check()


@pytest.mark.first
def test_from_nothing_to_ready_and_back(cluster: Cluster, runner: Runner) -> None:
    predicted = runner.play("numa", "--check").check()
    assert "would create" in predicted.output
    # What outlives every recipe is there from now on: our CRD and the namespace of the lock.
    runner.play("numa").check()
    runner.play("numa_remove").check()
    before = set(cluster.dump())
    runner.play("numa").check()
    assert policies(cluster) == {"numa-1": ALIGNED, "numa-2": ALIGNED}
    since = cluster.mark()
    runner.play("numa").unchanged()
    runner.play("numa_validate").check()
    assert runner.writes(since) == []
    removed = runner.play("numa_remove", **OWN).check().output
    assert "2 NodeResourceTopologies" in removed
    left = set(cluster.dump()) - before
    assert {entry for entry in left if "hardware-enablement" not in entry} == set()


@pytest.mark.usefixtures("enabled")
def test_another_policy_rolls_exporters_and_scheduler_once(
    cluster: Cluster, runner: Runner
) -> None:
    before = rollouts(cluster)
    with kubelets(cluster, "numa-1", "numa-2", topologyManagerScope="container"):
        runner.play("numa").check()
        assert set(policies(cluster).values()) == {("single-numa-node", "container")}
        assert rollouts(cluster) == {name: count + 1 for name, count in before.items()}
        runner.play("numa").unchanged()
    runner.play("numa").check()


@pytest.mark.usefixtures("enabled")
def test_where_it_is_enabled_no_error_is_found(
    cluster: Cluster, runner: Runner, tmp_path: Path
) -> None:
    found = tmp_path / "found.json"
    runner.play("numa_validate", hardware_enablement_numa_json=str(found)).unchanged()
    told = json.loads(found.read_text())
    assert told["nodes"] == ["numa-1", "numa-2"]
    # No release of the scheduler is as new as this cluster; its cache is not shown by default.
    assert {each["id"] for each in told["findings"]} <= {
        "scheduler-image-minor",
        "scheduler-dumps-off",
        "scheduler-profile-unused",
    }
    configure(cluster, "numa-2", cpuManagerPolicy="none")
    refused = runner.play("numa_validate")
    configure(cluster, "numa-2", cpuManagerPolicy="static")
    assert "error     kubelet-cpu-manager-policy  numa-2" in refused.output


@pytest.mark.usefixtures("enabled")
def test_kubelets_that_differ_need_pools(cluster: Cluster, runner: Runner) -> None:
    pools = [
        {"name": name, "selector": {"matchLabels": {"kubernetes.io/hostname": f"numa-{number}"}}}
        for number, name in enumerate(("aligned", "free"), start=1)
    ]
    with kubelets(cluster, "numa-2", topologyManagerPolicy="none"):
        since = cluster.mark()
        refused = runner.play("numa")
        assert refused.code
        assert "topology_manager_policy is none on numa-2; single-numa-node on numa-1" in (
            refused.output
        )
        assert runner.writes(since) == []
        runner.play("numa", hardware_enablement_pools=pools).check()
        assert policies(cluster) == {"numa-1": ALIGNED, "numa-2": ("none", "pod")}
        # Without the ids of their groups.
        assert {re.sub("-[0-9a-f]{6}$", "", name) for name in rollouts(cluster)} == {
            "numa-exporter-aligned",
            "numa-exporter-free",
            "numa-scheduler",
        }
    runner.play("numa", hardware_enablement_pools=[]).check()


@pytest.mark.usefixtures("enabled")
def test_what_a_silent_kubelet_runs_is_not_guessed(cluster: Cluster, runner: Runner) -> None:
    """What is published of its node already stays; where nothing is, nothing is sent there."""
    pools = [
        {"name": name, "selector": {"matchLabels": {"kubernetes.io/hostname": f"numa-{number}"}}}
        for number, name in enumerate(("told", "silent"), start=1)
    ]
    cluster.set_ready("numa-2", False)
    kept = runner.play("numa").output
    cluster.set_ready("numa-2", True)
    assert "what is known of their pools: numa-2 (numa-2: the node is not ready" in kept, kept
    assert policies(cluster) == {"numa-1": ALIGNED, "numa-2": ALIGNED}
    runner.play("numa_remove").check()
    since = cluster.mark()
    cluster.set_ready("numa-2", False)
    refused = runner.play("numa", hardware_enablement_pools=pools)
    cluster.set_ready("numa-2", True)
    assert refused.code
    assert "no kubelet of pool silent says what it runs (node numa-2" in refused.output
    assert runner.writes(since) == []


@pytest.mark.usefixtures("enabled")
def test_a_node_whose_exporter_crashes_holds_up_no_scheduler(
    cluster: Cluster, runner: Runner
) -> None:
    runner.play("numa_remove").check()
    set_fault(cluster.kubeconfig, "numa-2", "topology-exporter", "crash", message="no kubelet.sock")
    played = runner.play("numa", hardware_enablement_failure_grace=3)
    clear_faults(cluster.kubeconfig)
    assert "no kubelet.sock" in played.output
    assert topologies(cluster).keys() == {"numa-1"}
    states = record(cluster)["status"]["states"]
    by_name = {state["name"]: state for state in states}
    assert (by_name["exporter"]["phase"], by_name["scheduler"]["phase"]) == ("failed", "blocked")
    assert "numa-scheduler" in rollouts(cluster)
    runner.play("numa").check()


@pytest.mark.usefixtures("enabled")
def test_without_the_right_to_ask_kubelets(cluster: Cluster, runner: Runner) -> None:
    cluster.kubectl("delete", "clusterrolebinding", "runner-hardware-enablement-kubelets")
    refused = runner.play("numa")
    assert refused.code
    assert "nodes/proxy" in refused.output or "configuration of Node" in refused.output
    policy = dict(zip(("topology_manager_policy", "topology_manager_scope"), ALIGNED, strict=True))
    runner.play("numa", numa_read_kubelets=False, hardware_enablement_options=policy).check()
    cluster.kubectl(
        "create",
        "clusterrolebinding",
        "runner-hardware-enablement-kubelets",
        "--clusterrole=hardware-enablement-kubelets",
        "--user=runner",
    )
    assert set(policies(cluster).values()) == {ALIGNED}


@pytest.mark.usefixtures("enabled")
def test_an_operator_is_refused_and_its_resources_taken_over(
    cluster: Cluster, runner: Runner, tmp_path: Path
) -> None:
    runner.play("numa_remove").check()
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": CRD},
        "spec": {
            "group": "nodetopology.openshift.io",
            "scope": "Cluster",
            "names": {
                "kind": "NUMAResourcesOperator",
                "plural": "numaresourcesoperators",
                "singular": "numaresourcesoperator",
            },
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "x-kubernetes-preserve-unknown-fields": True,
                        }
                    },
                }
            ],
        },
    }
    for node, pool in (("numa-1", "first"), ("numa-2", "second")):
        cluster.kubectl("label", "node", node, f"{POOL}={pool}")
    file = tmp_path / "operator.yml"
    file.write_text(yaml.safe_dump_all([OPERATOR, SCHEDULER]))
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(definition))
    cluster.kubectl("wait", "--for=condition=Established", f"crd/{CRD}")
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(OPERATOR))
    refused = runner.play("numa", numa_from_cr=str(file))
    assert "NUMAResourcesOperator numaresourcesoperator" in refused.output
    assert refused.code
    cluster.kubectl("delete", "numaresourcesoperator", "--all")
    runner.play("numa", numa_from_cr=str(file)).check()
    methods = {
        node: found["nodeTopologyPodsFingerprintMethod"]
        for node, found in topologies(cluster).items()
    }
    assert methods == {"numa-1": "with-exclusive-resources", "numa-2": "all"}
    # A run that is told nothing goes on with what was taken over.
    runner.play("numa").unchanged()
    assert record(cluster)["spec"]["options"]["scheduler_name"] == "by-numa-node"
    cluster.kubectl("delete", "crd", CRD)
    cluster.kubectl("label", "node", "numa-1", "numa-2", f"{POOL}-")
    runner.play("numa_remove").check()
