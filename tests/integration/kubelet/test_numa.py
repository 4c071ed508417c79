# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NUMA on real kubelets: resource-topology-exporter on one node, NFD's topology-updater on the other,
and the scheduler of scheduler-plugins, which goes by what they publish."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.kubelet.node import RealNode
from tests.integration.kubelet.bench import Bench
from tests.integration.kubelet.host_network import on_host_network
from tests.integration.numa.conftest import numa_runner
from tests.integration.numa.nodes import TOPOLOGIES, policies
from tests.integration.plays import Runner
from tests.integration.waiting import PATIENTLY, wait_until

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
# Of each NUMA node of a machine that is not there, and those that are nobody's.
CPUS, RESERVED = 4, "0,4"
OVERHEAD = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "heavy"},
    "handler": "runc",
    "overhead": {"podFixed": {"cpu": "2"}},
}
REFUSED, TAKEN = "TopologyAffinityError", "taken"


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


def free_cpus(cluster: Cluster, node: str) -> dict[str, int]:
    """NUMA node -> CPUs that are available. Of memory kubelets tell later, and exporters then."""
    return {name: amounts["cpu"] for name, amounts in zones(cluster, node).items()}


def container(name: str, cpu: str, command: Sequence[str] = ("sleep", "3600"), **more: Any) -> Obj:
    """A container whose limits are its requests."""
    amounts = {"cpu": cpu, "memory": "32Mi"}
    return {
        "name": name,
        "image": IMAGE,
        "command": list(command),
        "resources": {"requests": amounts, "limits": amounts},
        **more,
    }


def pod(name: str, containers: Sequence[Obj], **spec: Any) -> Obj:
    """A pod that ends at once when it has to."""
    wanted = {"terminationGracePeriodSeconds": 1, "containers": list(containers), **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": wanted}


def placed(name: str, node: str, containers: Sequence[Obj], **spec: Any) -> Obj:
    """A pod for the scheduler, which may go to one node only."""
    selector = {"kubernetes.io/hostname": node}
    return pod(name, containers, schedulerName=SCHEDULER, nodeSelector=selector, **spec)


def guaranteed(name: str, node: str, cpus: int) -> Obj:
    """A pod with CPUs of its own, for the scheduler."""
    return placed(name, node, [container("main", str(cpus))])


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
        before = free_cpus(cluster, node)
        # One container has no limits, so that the pod has nothing for itself.
        burstable = [container("main", "100m"), {**container("other", "0"), "resources": {}}]
        bench.apply(placed(f"burstable-{node}", node, burstable))
        bench.wait_ready(f"burstable-{node}")
        # Its exporter looks again meanwhile.
        time.sleep(2)
        assert free_cpus(cluster, node) == before
        bench.kubectl("delete", "pod", f"burstable-{node}", "--wait=true")
        bench.apply(guaranteed(f"one-{node}", node, 1))
        bench.wait_ready(f"one-{node}")
        wait_until(
            lambda node=node, free=before["node-0"]: free_cpus(cluster, node)["node-0"] == free - 1,
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


@pytest.mark.usefixtures("runner")
def test_pods_that_have_ended_wholly_or_in_part_hold_nobody_up(
    cluster: Cluster, bench: Bench
) -> None:
    """Exporters, which ask the kubelet, and the scheduler have to count the same pods."""
    ends = {"restartPolicy": "Never"}
    for node in cluster.workers:
        once = [container("once", "1", ["true"])]
        inits = [container("first", "1", ["true"])]
        bench.apply(placed(f"ended-{node}", node, once, initContainers=inits, **ends))
        done = "--for=jsonpath={.status.phase}=Succeeded"
        bench.kubectl("wait", f"pod/ended-{node}", done, PATIENTLY)
        halves = [container("short", "100m", ["true"]), container("long", "100m")]
        bench.apply(placed(f"partly-{node}", node, halves, **ends))
    for node in cluster.workers:
        bench.kubectl(
            "wait",
            f"pod/partly-{node}",
            "--for=jsonpath={.status.containerStatuses[?(@.name=='short')].state.terminated.reason}=Completed",
            PATIENTLY,
        )
        # As long as the CPU of the pod that has ended counts there is none left.
        bench.apply(placed(f"after-{node}", node, [container("main", "500m")]))
    for node in cluster.workers:
        bench.wait_ready(f"after-{node}")
        for name in ("ended", "partly", "after"):
            bench.kubectl("delete", "pod", f"{name}-{node}", "--wait=false")


@contextmanager
def two_numa_nodes(node: RealNode) -> Iterator[None]:
    """A node's kubelet sees two NUMA nodes, whatever the machine has, and aligns pods. It takes pods
    and refuses them by that; none that it takes gets far, as its CPUs are not there."""
    machine = node.root / "srv/machine"
    for zone in range(2):
        for cpu in range(zone * CPUS, (zone + 1) * CPUS):
            folder = machine / f"node/node{zone}/cpu{cpu}/topology"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "core_id").write_text(f"{cpu}\n")
            (folder / "physical_package_id").write_text(f"{zone}\n")
    (machine / "online").write_text(f"0-{2 * CPUS - 1}\n")
    mounts = {"node": "/sys/devices/system/node", "online": "/sys/devices/system/cpu/online"}
    settings = {**ALIGNED, **EXCLUSIVE, "reservedSystemCPUs": RESERVED}
    settings |= dict.fromkeys(("memoryManagerPolicy", "reservedMemory"))
    before = json.loads((node.root / "etc/kubernetes/kubelet.yaml").read_text())
    for source, target in mounts.items():
        node.run("mount", "--bind", f"/srv/machine/{source}", target)
    try:
        node.configure_kubelet(settings)
        yield
    finally:
        for target in mounts.values():
            node.run("umount", target)
        node.configure_kubelet({name: before.get(name) for name in settings})


def verdict(bench: Bench, wanted: Obj) -> str:
    """What the kubelet says of a pod that is bound to its node: taken, or why not."""
    name = wanted["metadata"]["name"]
    bench.apply(wanted)

    def found() -> str:
        status = bench.get("pod", name)["status"]
        return status.get("reason") or (TAKEN if status.get("containerStatuses") else "")

    told = wait_until(found, f"the kubelet has seen {name}")
    bench.kubectl("delete", "pod", name, "--grace-period=0", "--force")
    return told


def test_what_a_kubelet_gives_a_pod_is_what_the_page_says(cluster: Cluster, bench: Bench) -> None:
    """The table of docs/admin/numa.md. Three CPUs of each NUMA node are to be had."""
    bench.apply(OVERHEAD)
    two, other = container("main", "2"), container("other", "2")
    parts = [container(f"part-{number}", "1500m") for number in range(3)]
    specs: dict[str, Obj] = {
        "containers": {"containers": [two, other]},
        "init": {"containers": [two], "initContainers": [{**other, "command": ["true"]}]},
        "sidecar": {"containers": [two], "initContainers": [{**other, "restartPolicy": "Always"}]},
        "overhead": {"containers": [two], "runtimeClassName": "heavy"},
        "parts": {"containers": parts},
    }
    node = cluster.workers[0]
    with two_numa_nodes(cluster.real_node(node)):
        told = {
            name: verdict(bench, pod(name, nodeName=node, **spec)) for name, spec in specs.items()
        }
    bench.kubectl("delete", "runtimeclass", "heavy")
    assert told == {
        "containers": REFUSED,
        "init": TAKEN,
        "sidecar": REFUSED,
        "overhead": TAKEN,
        "parts": TAKEN,
    }
