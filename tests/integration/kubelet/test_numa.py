# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NUMA on real kubelets: resource-topology-exporter on one node, NFD's topology-updater on the other,
and the scheduler of scheduler-plugins, which goes by what they publish."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.integration.kubelet.bench import Bench
from tests.integration.kubelet.host_network import on_host_network
from tests.integration.numa.conftest import numa_runner
from tests.integration.numa.nodes import TOPOLOGIES, policies
from tests.integration.plays import Runner
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.kubelet

Obj = dict[str, Any]
IMAGE, SCHEDULER = "localhost/exporters:1", "topo-aware-scheduler"
ALIGNED = {"topologyManagerPolicy": "single-numa-node", "topologyManagerScope": "pod"}
EXCLUSIVE = {
    "cpuManagerPolicy": "static",
    "cpuManagerReconcilePeriod": "1s",
    "reservedSystemCPUs": "0",
    "memoryManagerPolicy": "Static",
    # What is reserved has to be as much as below what pods are evicted.
    "reservedMemory": [{"numaNode": 0, "limits": {"memory": "50Mi"}}],
}
LABEL = "example.org/exporter"


def variables(cluster: Cluster) -> Obj:
    """One exporter for each of two pools. In a cluster with a network for Services pods find the API
    server by themselves."""
    port = str(cluster.record.ports.apiserver)
    address = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": port}
    options = {
        "hardware_labels": [{LABEL: "rte"}, {LABEL: "nfd"}],
        "rte_image": IMAGE,
        "nfd_image": IMAGE,
        "refresh_seconds": 1,
        "env": {"exporter": address, "collector": address},
        # The machine has one CPU to give away, which takes all of it.
        "resources": {name: {"requests": {"cpu": "0"}} for name in ("exporter", "collector")},
    }
    pools = [
        {
            "name": kind,
            "selector": {"matchLabels": {LABEL: kind}},
            "options": {"exporter": kind},
        }
        for kind in ("rte", "nfd")
    ]
    return {"hardware_enablement_options": options, "hardware_enablement_pools": pools}


def zones(cluster: Cluster, node: str) -> dict[str, dict[str, int]]:
    """NUMA node -> resource -> what is available."""
    found = cluster.api.get(f"{TOPOLOGIES}/{node}")
    return {
        zone["name"]: {each["name"]: int(each["available"]) for each in zone["resources"]}
        for zone in found["zones"]
    }


def guaranteed(name: str, node: str, cpus: int) -> Obj:
    """A pod with CPUs of its own, for the scheduler."""
    amounts = {"cpu": str(cpus), "memory": "32Mi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "schedulerName": SCHEDULER,
            "nodeSelector": {"kubernetes.io/hostname": node},
            "terminationGracePeriodSeconds": 1,
            "containers": [
                {
                    "name": "main",
                    "image": IMAGE,
                    "command": ["sleep", "3600"],
                    "resources": {"requests": amounts, "limits": amounts},
                }
            ],
        },
    }


def refusal(bench: Bench, name: str) -> str:
    """Why the scheduler finds no place for a pod; "" where it does, or has not looked yet."""
    conditions = bench.get("pod", name)["status"].get("conditions") or []
    found = [each for each in conditions if each.get("reason") == "Unschedulable"]
    return str(found[0]["message"]) if found else ""


@pytest.fixture(scope="module")
def runner(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """NUMA is enabled on the real nodes, whose kubelets align pods and give CPUs away, but for the
    first one."""
    for node, kind in zip(cluster.workers, ("rte", "nfd"), strict=True):
        cluster.kubectl("label", "node", node, f"{LABEL}={kind}")
        cluster.real_node(node).configure_kubelet({**ALIGNED, **EXCLUSIVE})
    cluster.load_image("exporters")
    for obj in on_host_network("exporters-on-the-host-network", "numa"):
        cluster.kubectl("apply", "-f", "-", stdin=json.dumps(obj))
    runner = numa_runner(cluster, tmp_path_factory.mktemp("numa"))
    runner.run_program("numa", **variables(cluster)).check()
    yield runner
    runner.run_program("numa_remove", hardware_enablement_delete_definitions=True).check()
    for kind in ("mutatingadmissionpolicybinding", "mutatingadmissionpolicy"):
        cluster.kubectl("delete", kind, "exporters-on-the-host-network")
    for node in cluster.workers:
        cluster.kubectl("label", "node", node, f"{LABEL}-")
        cluster.real_node(node).configure_kubelet(dict.fromkeys((*ALIGNED, *EXCLUSIVE)))


def test_both_exporters_publish_and_the_scheduler_goes_by_it(
    cluster: Cluster, bench: Bench, runner: Runner
) -> None:
    assert policies(cluster) == dict.fromkeys(cluster.workers, ("single-numa-node", "pod"))
    for node in cluster.workers:
        free = zones(cluster, node)["node-0"]["cpu"]
        bench.apply(guaranteed(f"one-{node}", node, 1))
        bench.wait_ready(f"one-{node}")
        wait_until(
            lambda node=node, free=free: zones(cluster, node)["node-0"]["cpu"] == free - 1,
            f"what a pod has for itself is published of {node}",
        )
        bench.apply(guaranteed(f"two-{node}", node, 1))
        why = wait_until(lambda node=node: refusal(bench, f"two-{node}"), "the scheduler says no")
        assert "cpu" in why
    runner.play("numa").unchanged()
    # The real kubelets say what they run, and what is published agrees with it and with the pods.
    runner.run_program("numa_validate").check()
    for node in cluster.workers:
        for name in ("one", "two"):
            bench.kubectl("delete", "pod", f"{name}-{node}", "--wait=true")
