# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods and operands on simulated nodes behave as on real ones: what depends on each other does,
faults are visible."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from typing import Any
from urllib.request import urlopen

import pytest

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.cluster.simulation.faults import FaultError, clear_faults, list_faults, set_fault
from tests.integration.waiting import PATIENTLY, wait_until
from tests.rmd.fleet import Fleet
from tests.rmd.on_cluster import give_addresses

pytestmark = pytest.mark.bed

Obj = dict[str, Any]
KERNEL, OTHER_KERNEL = "5.15.0-1-generic", "5.15.0-2-generic"
NAMESPACE = "operands"
SELECTOR = {"feature.node.kubernetes.io/pci-0302_10de.present": "true"}
IMAGES = {
    "driver": f"nvcr.io/nvidia/driver:580-{KERNEL}-ubuntu22.04",
    "hook": "nvcr.io/nvidia/k8s/container-toolkit:v1.20.0",
    "plugin": "nvcr.io/nvidia/k8s-device-plugin:v0.20.0",
    "discovery": "nvcr.io/nvidia/k8s-device-plugin:v0.20.0",
    "exporter": "nvcr.io/nvidia/k8s/dcgm-exporter:4.6.0-4.8.3-distroless",
}
CUDA = "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0-ubuntu22.04"


class Bed:
    """A cluster with two GPU nodes and what the tests ask of it."""

    def __init__(self, cluster: Cluster, nodes: list[str]) -> None:
        self.cluster = cluster
        self.first, self.second = nodes

    def apply(self, *objects: Obj) -> None:
        items = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(items))

    def daemons(self, *names: str) -> None:
        self.apply(*(daemon_set(name) for name in names))

    def pod(self, app: str, node: str) -> Obj:
        """The DaemonSet's pod of the node, scheduled or not; {} when there is none."""
        path = f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=app%3D{app}"
        for item in self.cluster.api.get(path)["items"]:
            if (
                node in json.dumps(item["spec"]["affinity"])
                and "deletionTimestamp" not in item["metadata"]
            ):
                return dict(item)
        return {}

    def replace(self, app: str, node: str) -> None:
        self.cluster.kubectl(
            "-n", NAMESPACE, "delete", "pod", self.pod(app, node)["metadata"]["name"]
        )

    def named(self, name: str) -> Obj:
        return dict(self.cluster.api.get(f"/api/v1/namespaces/{NAMESPACE}/pods/{name}"))

    def node(self, name: str) -> Obj:
        return dict(self.cluster.api.get(f"/api/v1/nodes/{name}"))

    def logs(self, pod: Obj, *more: str) -> str:
        return self.cluster.kubectl("-n", NAMESPACE, "logs", pod["metadata"]["name"], *more)

    def gpus(self, node: str) -> tuple[str | None, str | None]:
        """(capacity, allocatable)"""
        status = self.node(node)["status"]
        return status["capacity"].get("nvidia.com/gpu"), status["allocatable"].get("nvidia.com/gpu")

    def run(self, name: str, node: str, *, gpus: int = 0, **behaviour: str) -> Obj:
        """Run a validator pod to its end."""
        self.apply(validator(name, node, gpus, behaviour))
        wait_until(
            lambda: self.named(name)["status"]["phase"] in ("Succeeded", "Failed"),
            f"the end of pod {name}",
        )
        return self.named(name)


def daemon_set(name: str) -> Obj:
    container: Obj = {"name": name, "image": IMAGES[name]}
    if name in ("plugin", "discovery"):
        container["command"] = [
            "nvidia-device-plugin" if name == "plugin" else "gpu-feature-discovery"
        ]
    spec: Obj = {
        "nodeSelector": SELECTOR,
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
        "initContainers": [] if name == "driver" else [{"name": "wait", "image": "busybox"}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": spec},
        },
    }


def validator(name: str, node: str, gpus: int, behaviour: dict[str, str]) -> Obj:
    container: Obj = {"name": "cuda", "image": CUDA}
    if gpus:
        container["resources"] = {"limits": {"nvidia.com/gpu": str(gpus)}}
    annotations = {
        f"simulation.hardware-enablement.test/{key.replace('_', '-')}": value
        for key, value in behaviour.items()
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "annotations": annotations},
        "spec": {
            "restartPolicy": "Never",
            "nodeSelector": {"kubernetes.io/hostname": node},
            "containers": [container],
        },
    }


def is_ready(pod: Obj) -> bool:
    conditions = pod.get("status", {}).get("conditions", [])
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


def first(pod: Obj) -> Obj:
    """Status of the first container; an empty one before there is any."""
    statuses = pod.get("status", {}).get("containerStatuses") or [{"state": {}, "restartCount": 0}]
    return dict(statuses[0])


def waits_for(pod: Obj) -> str:
    return str((first(pod)["state"].get("waiting") or {}).get("reason", ""))


@pytest.fixture(scope="module")
def bed() -> Iterator[Bed]:
    with Cluster.up(f"simulation-{os.getpid()}") as cluster:
        nodes = cluster.add_nodes(
            2, profile="gpu-h100", kernel=KERNEL, os="ubuntu:22.04", prefix="gpu"
        )
        cluster.kubectl("create", "namespace", NAMESPACE)
        wait_until(
            lambda: cluster.kubectl("-n", NAMESPACE, "get", "serviceaccounts", "-o", "name"),
            "the namespace's service account",
        )
        yield Bed(cluster, nodes)


@pytest.fixture
def all_up(bed: Bed) -> Iterator[Bed]:
    """All operands are ready on both nodes; faults are cleared afterwards, and everything recovers."""

    def up() -> None:
        bed.daemons(*IMAGES)
        pods = [(app, node) for app in IMAGES for node in (bed.first, bed.second)]
        wait_until(
            lambda: all(is_ready(bed.pod(*item)) for item in pods),
            "all operands are ready on both nodes",
        )

    up()
    yield bed
    clear_faults(bed.cluster.kubeconfig)
    up()


@pytest.mark.first
def test_out_of_order_nothing_serves(bed: Bed) -> None:
    """Hook, plugin and discovery without a driver do not become ready, and validators
    fail."""
    bed.daemons("hook", "plugin", "discovery", "exporter")
    wait_until(
        lambda: waits_for(bed.pod("plugin", bed.first)) == "PodInitializing",
        "PodInitializing",
    )
    assert bed.pod("plugin", bed.first)["status"]["initContainerStatuses"][0]["state"]["running"]
    assert not any(
        is_ready(bed.pod(app, bed.first)) for app in ("hook", "plugin", "discovery", "exporter")
    )
    assert bed.gpus(bed.first) == (None, None)
    failed = bed.run("too-early", bed.first)
    assert failed["status"]["phase"] == "Failed"
    assert first(failed)["state"]["terminated"]["exitCode"] == 1
    assert f"no NVIDIA driver is loaded on node {bed.first}" in bed.logs(failed)
    # In order: with the driver all the others go on by themselves.
    bed.daemons("driver")
    wait_until(
        lambda: all(is_ready(bed.pod(app, bed.first)) for app in IMAGES),
        "all operands are ready on the first node",
    )
    wait_until(lambda: bed.gpus(bed.first) == ("8", "8"), "allocatable 8")
    assert all(first(bed.pod(app, bed.first))["restartCount"] == 0 for app in IMAGES)
    with pytest.raises(ClusterError, match="previous terminated container"):
        bed.logs(bed.pod("driver", bed.first), "--previous")


def test_validators_pass_and_logs_can_be_read(all_up: Bed) -> None:
    for name, gpus in (("driver-works", 0), ("plugin-works", 1)):
        passed = all_up.run(name, all_up.first, gpus=gpus)
        assert passed["status"]["phase"] == "Succeeded"
        assert "Test PASSED" in all_up.logs(passed)
    driver = all_up.pod("driver", all_up.first)
    assert all_up.logs(driver, "--tail=1") == "Done, now waiting for signal\n"


def test_feature_discovery_labels_the_node(all_up: Bed) -> None:
    def labels() -> dict[str, str]:
        return dict(all_up.node(all_up.first)["metadata"]["labels"])

    wait_until(
        lambda: labels().get("nvidia.com/gpu.product") == "NVIDIA-H100-80GB-HBM3",
        "the label of the product",
    )
    assert labels()["nvidia.com/gpu.count"] == "8"
    assert labels()["nvidia.com/cuda.driver-version.major"] == "580"
    all_up.cluster.kubectl("-n", NAMESPACE, "delete", "daemonset", "discovery")
    wait_until(
        lambda: "nvidia.com/gpu.product" not in labels(),
        "the label of the product is gone",
    )


def test_allocatable_follows_the_plugin(all_up: Bed) -> None:
    all_up.cluster.kubectl("-n", NAMESPACE, "delete", "daemonset", "plugin")
    wait_until(lambda: all_up.gpus(all_up.first) == ("8", "0"), "allocatable 0")
    all_up.daemons("plugin")
    wait_until(
        lambda: all_up.gpus(all_up.first) == all_up.gpus(all_up.second) == ("8", "8"),
        "allocatable 8 on both nodes",
    )
    set_fault(all_up.cluster.kubeconfig, all_up.first, "device-plugin", "dead")
    wait_until(lambda: all_up.gpus(all_up.first) == ("8", "0"), "allocatable 0")
    assert all_up.gpus(all_up.second) == ("8", "8")


def test_crash(all_up: Bed) -> None:
    kubeconfig = all_up.cluster.kubeconfig
    assert set_fault(
        kubeconfig, all_up.first, "exporter", "crash", exit_code=3, message="no GSP"
    ) == [all_up.first]
    assert list_faults(kubeconfig)[all_up.first]["exporter"]["behaviour"] == "crash"
    wait_until(
        lambda: first(all_up.pod("exporter", all_up.first))["restartCount"] >= 2,
        "two restarts of the exporter",
    )
    pod = all_up.pod("exporter", all_up.first)
    assert waits_for(pod) == "CrashLoopBackOff"
    assert first(pod)["lastState"]["terminated"]["exitCode"] == 3
    assert all_up.logs(pod).endswith("no GSP\n")
    assert all_up.logs(pod, "--previous").endswith("no GSP\n")
    events = all_up.cluster.kubectl(
        "-n", NAMESPACE, "events", "--for", f"pod/{pod['metadata']['name']}"
    )
    assert "BackOff" in events
    assert is_ready(all_up.pod("exporter", all_up.second))


def test_image_pull(all_up: Bed) -> None:
    set_fault(
        all_up.cluster.kubeconfig,
        all_up.first,
        "exporter",
        "image-pull",
        message="manifest unknown",
    )
    all_up.replace("exporter", all_up.first)
    wait_until(
        lambda: waits_for(all_up.pod("exporter", all_up.first)) == "ErrImagePull",
        "ErrImagePull",
    )
    wait_until(
        lambda: waits_for(all_up.pod("exporter", all_up.first)) == "ImagePullBackOff",
        "ImagePullBackOff",
    )
    pod = all_up.pod("exporter", all_up.first)
    assert pod["status"]["phase"] == "Pending"
    assert "manifest unknown" in first(pod)["state"]["waiting"]["message"]
    with pytest.raises(ClusterError, match="failing to pull image"):
        all_up.logs(pod)


def test_slow_and_later_crash(all_up: Bed) -> None:
    set_fault(all_up.cluster.kubeconfig, all_up.first, "exporter", "slow", seconds=4)
    all_up.replace("exporter", all_up.first)
    wait_until(
        lambda: all_up.pod("exporter", all_up.first).get("status", {}).get("phase") == "Running",
        "the exporter runs",
    )
    assert not is_ready(all_up.pod("exporter", all_up.first))
    wait_until(lambda: is_ready(all_up.pod("exporter", all_up.first)), "the exporter is ready")
    set_fault(all_up.cluster.kubeconfig, all_up.first, "exporter", "later-crash", seconds=2)
    all_up.replace("exporter", all_up.first)
    wait_until(lambda: is_ready(all_up.pod("exporter", all_up.first)), "the exporter is ready")
    wait_until(
        lambda: waits_for(all_up.pod("exporter", all_up.first)) == "CrashLoopBackOff",
        "CrashLoopBackOff",
    )


def test_never_scheduled(all_up: Bed) -> None:
    set_fault(all_up.cluster.kubeconfig, all_up.first, "exporter", "never-scheduled")
    all_up.replace("exporter", all_up.first)
    all_up.replace("hook", all_up.first)

    def scheduled() -> Obj:
        conditions = all_up.pod("exporter", all_up.first).get("status", {}).get("conditions", [])
        return next((item for item in conditions if item["type"] == "PodScheduled"), {})

    wait_until(lambda: scheduled().get("reason") == "Unschedulable", "Unschedulable")
    wait_until(lambda: is_ready(all_up.pod("hook", all_up.first)), "the hook is ready")


def test_pods_choose_their_own_behaviour(bed: Bed) -> None:
    failed = bed.run(
        "own-behaviour", bed.first, behaviour="fail", exit_code="7", message="out of memory"
    )
    assert first(failed)["state"]["terminated"]["exitCode"] == 7
    assert bed.logs(failed).endswith("out of memory\n")


def test_jobs_complete(bed: Bed) -> None:
    template: Obj = {
        "spec": {"restartPolicy": "Never", "containers": [{"name": "job", "image": "busybox"}]}
    }
    template["spec"]["nodeSelector"] = SELECTOR
    job = {
        "metadata": {"name": "job", "namespace": NAMESPACE},
        "spec": {"template": template, "completions": 2},
    }
    bed.apply({"apiVersion": "batch/v1", "kind": "Job", **job})
    bed.cluster.kubectl("-n", NAMESPACE, "wait", "job/job", "--for=condition=Complete", PATIENTLY)
    bed.cluster.kubectl("-n", NAMESPACE, "delete", "job", "job", PATIENTLY)


def test_all_devices_in_use(all_up: Bed) -> None:
    all_up.apply(validator("holder", all_up.first, 8, {"behaviour": "run"}))
    wait_until(
        lambda: all_up.named("holder")["status"]["phase"] == "Running",
        "the holder runs",
    )
    late = validator("late", all_up.first, 1, {})
    all_up.apply(late)
    wait_until(
        lambda: (
            "Insufficient nvidia.com/gpu"
            in json.dumps(all_up.named("late")["status"].get("conditions", ""))
        ),
        "Insufficient nvidia.com/gpu",
    )
    all_up.cluster.kubectl("-n", NAMESPACE, "delete", "pod", "holder")
    wait_until(
        lambda: all_up.named("late")["status"]["phase"] == "Succeeded",
        "the late pod has succeeded",
    )


def test_a_reboot_into_another_kernel(all_up: Bed) -> None:
    node = all_up.first
    all_up.cluster.reboot(node, OTHER_KERNEL)
    wait_until(
        lambda: waits_for(all_up.pod("driver", node)) == "CrashLoopBackOff",
        "CrashLoopBackOff",
    )
    assert OTHER_KERNEL in all_up.logs(all_up.pod("driver", node))
    assert not is_ready(all_up.pod("plugin", node))
    assert all_up.gpus(node) == ("8", "0")
    assert is_ready(all_up.pod("driver", all_up.second))
    assert all_up.run("after-reboot", node)["status"]["phase"] == "Failed"
    all_up.cluster.reboot(node, KERNEL)
    wait_until(lambda: is_ready(all_up.pod("plugin", node)), "the plugin is ready")
    wait_until(lambda: all_up.gpus(node) == ("8", "8"), "allocatable 8")
    assert first(all_up.pod("plugin", node))["restartCount"] == 2


def test_a_silent_kubelet_does_nothing(all_up: Bed) -> None:
    all_up.cluster.set_ready(all_up.first, False)
    set_fault(all_up.cluster.kubeconfig, all_up.first, "exporter", "crash")
    wait_until(
        lambda: not is_ready(all_up.pod("exporter", all_up.first)),
        "the node lifecycle controller says that the pod is not ready",
    )
    time.sleep(1)
    assert (
        first(all_up.pod("exporter", all_up.first))["restartCount"] == 0
        or waits_for(all_up.pod("exporter", all_up.first)) != "CrashLoopBackOff"
    )
    clear_faults(all_up.cluster.kubeconfig)
    all_up.cluster.set_ready(all_up.first, True)


def test_a_node_names_the_address_of_an_operands_pods(bed: Bed) -> None:
    """A server of the test's own is behind each pod of the DaemonSet, also behind those that come
    later."""
    with Fleet([bed.first, bed.second]) as fleet:
        give_addresses(bed.cluster, fleet)
        rmd = daemon_set("exporter")
        labels = {
            "app": "rmd",
            "app.kubernetes.io/name": "intel-rmd",
            "app.kubernetes.io/component": "daemon",
        }
        rmd["metadata"]["name"] = "rmd"
        rmd["spec"]["selector"]["matchLabels"] = {"app": "rmd"}
        rmd["spec"]["template"]["metadata"]["labels"] = labels
        rmd["spec"]["template"]["spec"]["containers"][0]["image"] = "rmd:1"
        rmd["spec"]["template"]["spec"]["initContainers"] = []
        bed.apply(rmd)
        for node in fleet:
            wait_until(
                lambda node=node: is_ready(bed.pod("rmd", node)),
                f"the pod on {node} is ready",
            )
            status = bed.pod("rmd", node)["status"]
            assert status["podIPs"] == [{"ip": status["podIP"]}]
            with urlopen(
                f"http://{status['podIP']}:{fleet.port}/v1/workloads", timeout=5
            ) as answer:
                assert json.load(answer) == []
            assert [seen.path for seen in fleet[node].requests()] == ["/v1/workloads"]
        old = bed.pod("rmd", bed.first)["metadata"]["uid"]
        bed.replace("rmd", bed.first)
        wait_until(
            lambda: bed.pod("rmd", bed.first).get("metadata", {}).get("uid") not in (None, old),
            "another pod",
        )
        wait_until(lambda: is_ready(bed.pod("rmd", bed.first)), "the new pod is ready")
        assert bed.pod("rmd", bed.first)["status"]["podIP"] == fleet[bed.first].address
        bed.cluster.kubectl("-n", NAMESPACE, "delete", "daemonset", "rmd")


def test_wrong_faults_are_refused(bed: Bed) -> None:
    kubeconfig = bed.cluster.kubeconfig
    for node, operand, behaviour in (
        (bed.first, "diver", "crash"),
        (bed.first, "driver", "dance"),
        ("nowhere", "*", "dead"),
    ):
        with pytest.raises(FaultError):
            set_fault(kubeconfig, node, operand, behaviour)
    assert list_faults(kubeconfig) == {}


def test_the_daemon_goes_on_where_it_was(all_up: Bed) -> None:
    """A restart changes nothing that is well, and plays what came meanwhile."""
    before = all_up.pod("driver", all_up.first)
    all_up.cluster.stop_daemon("simulation")
    all_up.cluster.kubectl("-n", NAMESPACE, "delete", "daemonset", "discovery", "--wait=false")
    all_up.cluster.start_daemon("simulation")
    wait_until(
        lambda: not all_up.pod("discovery", all_up.first),
        "the pod of discovery is gone",
    )
    wait_until(
        lambda: "nvidia.com/gpu.product" not in all_up.node(all_up.first)["metadata"]["labels"],
        "the label of the product is gone",
    )
    assert (
        all_up.pod("driver", all_up.first)["metadata"]["resourceVersion"]
        == before["metadata"]["resourceVersion"]
    )
