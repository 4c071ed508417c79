# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes kept for the pods that need them: taints and their tolerations, PriorityClasses and the real
scheduler, and the taint with which an autoscaler's nodes start."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.objects import create_crds, read_objects
from tests.cluster.paths import HERE
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration import sight
from tests.integration.plays import Played, Runner
from tests.integration.waiting import PATIENTLY, wait_until

pytestmark = pytest.mark.recipes

Obj = dict[str, Any]

RECIPE = "nvidia-gpu"
GPU_NODES = {"gpu-new-1", "gpu-old-1", "gpu-old-2"}
GPU = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
TEAM = {"key": "example.com/team", "value": "a", "effect": "NoSchedule"}
RULES = "/apis/readiness.node.x-k8s.io/v1alpha1/nodereadinessrules"
CLOSED: Obj = {
    "exporter_validation": False,
    "node_condition": True,
    "node_readiness_rule": "continuous",
}
STARTED = {"key": sight.SUMMARY, "value": "pending", "effect": "NoSchedule"}


def taints(cluster: Cluster) -> dict[str, list[Obj]]:
    """Node -> its taints."""
    return {name: node["spec"].get("taints", []) for name, node in sight.nodes(cluster).items()}


def tainted(cluster: Cluster, taint: Obj) -> set[str]:
    """The nodes that carry a taint."""
    return {name for name, found in taints(cluster).items() if taint in found}


def partition(runner: Runner, *arguments: str, **variables: Any) -> Played:
    """The playbook for the GPUs."""
    return runner.play("partition", *arguments, hardware_enablement_recipe=RECIPE, **variables)


def run_pod(cluster: Cluster, name: str, **spec: Any) -> None:
    """Make a pod with one container. resources: the container's."""
    container = {"name": "c", "image": "example.com/user:1", "resources": spec.pop("resources", {})}
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec},
    }
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(body))


def node_of(cluster: Cluster, name: str) -> str:
    """Where a pod was sent to; waits for that."""
    cluster.kubectl("wait", f"pod/{name}", "--for=condition=PodScheduled", PATIENTLY)
    return str(cluster.api.get(f"/api/v1/namespaces/default/pods/{name}")["spec"]["nodeName"])


@pytest.fixture(autouse=True)
def whole(cluster: Cluster, runner: Runner) -> Iterator[None]:
    """GPUs enabled, and nothing partitioned afterwards."""
    if sight.phase(cluster, RECIPE) != "ready":
        runner.play("enable_gpu").check()
    yield
    cluster.kubectl("delete", "pods", "--all", "-n", "default", "--now")
    partition(runner, partitioning_state="absent").check()


def test_other_pods_are_kept_off_and_those_that_ask_for_the_device_are_not(
    cluster: Cluster, runner: Runner
) -> None:
    # Somebody's own, one of which is what is asked for.
    cluster.kubectl("taint", "node", "gpu-old-1", "nvidia.com/gpu=present:NoSchedule")
    cluster.kubectl("taint", "node", "gpu-old-1", "example.com/mine=x:PreferNoSchedule")
    before = taints(cluster)
    since = cluster.mark()
    predicted = partition(runner, "--check", partitioning_taints=[GPU]).check()
    assert (
        "nvidia.com/gpu=present:NoSchedule would be on 2 nodes: gpu-new-1, gpu-old-2"
        in predicted.output
    )
    assert runner.writes(since) == []
    partition(runner, partitioning_taints=["nvidia.com/gpu=present:NoSchedule"]).check()
    assert tainted(cluster, GPU) == GPU_NODES

    # The record's status says what it was looked at for.
    runner.play("enable_gpu").check()
    since = cluster.mark()
    partition(runner, partitioning_taints=[GPU]).unchanged()
    runner.play("enable_gpu").unchanged()
    assert runner.writes(since) == []
    run_pod(cluster, "plain")
    run_pod(cluster, "asks", resources={"limits": {"nvidia.com/gpu": "1"}})
    assert node_of(cluster, "plain") not in GPU_NODES
    assert node_of(cluster, "asks") in GPU_NODES
    sight.delete_pod(cluster, "gpu-new-1", "device_plugin")
    wait_until(
        lambda: ("gpu-new-1", "device_plugin") in sight.pods(cluster),
        "another pod of the device plugin",
    )

    partition(runner, partitioning_taints=[]).check()
    assert taints(cluster) == before
    assert not any("nvidia-gpu.taints" in marks for marks in sight.marks(cluster).values())
    cluster.kubectl("taint", "node", "gpu-old-1", "nvidia.com/gpu-", "example.com/mine-")


def test_our_own_pods_tolerate_whatever_is_asked_for_before_it_is_there(
    cluster: Cluster, runner: Runner
) -> None:
    before = sight.uids(cluster)
    played = partition(runner, partitioning_taints=[TEAM]).check()
    assert "pods that are to run there have to tolerate example.com/team=a:NoSchedule" in (
        played.output
    )
    assert tainted(cluster, TEAM) == GPU_NODES
    drivers = {place for place in before if place[1] == "driver"}
    assert {place: sight.uids(cluster)[place] for place in drivers} == {
        place: before[place] for place in drivers
    }
    sight.delete_pod(cluster, "gpu-new-1", "monitoring")
    wait_until(
        lambda: ("gpu-new-1", "monitoring") in sight.pods(cluster),
        "another pod of monitoring",
    )
    # Who joins gets it, too.
    (joined,) = cluster.add_nodes(1, profile="gpu-t4", prefix="joined")
    runner.play("enable_gpu").check()
    assert tainted(cluster, TEAM) == {*GPU_NODES, joined}
    # One that goes leaves the others as they are.
    cluster.remove_nodes(joined)
    partition(runner, partitioning_taints=[GPU]).check()
    assert (tainted(cluster, TEAM), tainted(cluster, GPU)) == (set(), GPU_NODES)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ([{**GPU, "effect": "NoExecute"}], "would end all pods on these nodes"),
        ([{**GPU, "value": "other"}], "cannot be put on gpu-old-2"),
        ([{"key": "a b", "effect": "NoSchedule"}], "its key is no qualified name"),
        ([GPU, {**GPU, "value": "y"}], "has NoSchedule already"),
    ],
)
def test_what_is_refused_before_the_first_write(
    cluster: Cluster, runner: Runner, asked: list[Obj], why: str
) -> None:
    cluster.kubectl("taint", "node", "gpu-old-2", "nvidia.com/gpu=theirs:NoSchedule")
    since = cluster.mark()
    played = partition(runner, partitioning_taints=asked)
    cluster.kubectl("taint", "node", "gpu-old-2", "nvidia.com/gpu-")
    assert played.code != 0
    assert why in played.output
    assert runner.writes(since) == []


def test_pods_of_high_priority_displace_those_of_low(cluster: Cluster, runner: Runner) -> None:
    partition(runner, partitioning_soft=True).check()
    classes = {
        item["metadata"]["name"]: (item["value"], item.get("globalDefault", False))
        for item in cluster.api.get("/apis/scheduling.k8s.io/v1/priorityclasses")["items"]
        if item["metadata"]["name"].startswith(RECIPE)
    }
    assert classes == {
        "nvidia-gpu-high-priority": (1_000_000, False),
        "nvidia-gpu-low-priority": (100_000, False),
    }
    partition(runner, partitioning_soft=True).unchanged()
    node = cluster.api.get("/api/v1/nodes/gpu-new-1")
    count = node["status"]["allocatable"]["nvidia.com/gpu"]
    all_of_them = {
        "resources": {"limits": {"nvidia.com/gpu": count}},
        "nodeSelector": {"kubernetes.io/hostname": "gpu-new-1"},
    }
    run_pod(cluster, "filler", priorityClassName="nvidia-gpu-low-priority", **all_of_them)
    assert node_of(cluster, "filler") == "gpu-new-1"
    run_pod(cluster, "urgent", priorityClassName="nvidia-gpu-high-priority", **all_of_them)
    assert node_of(cluster, "urgent") == "gpu-new-1"
    names = {
        item["metadata"]["name"]
        for item in cluster.api.get("/api/v1/namespaces/default/pods")["items"]
    }
    assert "filler" not in names
    # A value can only be changed by a new one.
    own = [{"name": "nvidia-gpu-high-priority", "value": 7}]
    partition(runner, partitioning_soft=True, partitioning_priority_classes=own).check()
    found = cluster.api.get("/apis/scheduling.k8s.io/v1/priorityclasses")["items"]
    assert {
        i["metadata"]["name"]: i["value"] for i in found if i["metadata"]["name"] in classes
    } == {"nvidia-gpu-high-priority": 7}


def test_a_node_that_starts_with_our_taint_is_opened_when_it_is_proven(
    cluster: Cluster, runner: Runner
) -> None:
    names = cluster.add_nodes(2, profile="gpu-t4", prefix="scaled")
    cluster.kubectl("taint", "node", *names, f"{sight.SUMMARY}=pending:NoSchedule")
    cluster.kubectl("taint", "node", "scaled-1", "team=a:PreferNoSchedule")
    cluster.kubectl("taint", "node", "scaled-2", "team=a:NoSchedule")
    played = runner.play("enable_gpu", hardware_enablement_failure_grace=3)
    assert "does not tolerate the node's taint team=a:NoSchedule" in played.output
    assert tainted(cluster, STARTED) == {"scaled-2"}
    assert {each["key"] for each in taints(cluster)["scaled-1"]} == {"team"}
    cluster.kubectl("taint", "node", "scaled-2", "team-")
    runner.play("enable_gpu").check()
    assert tainted(cluster, STARTED) == set()
    cluster.remove_nodes(*names)


def test_a_node_that_its_readiness_rule_closes_says_why_and_opens_again(
    cluster: Cluster, runner: Runner
) -> None:
    """The controller's part, a taint, is the test's: no proxy has its module."""
    create_crds(cluster.api, read_objects(HERE / "crds" / "node-readiness.yaml"))
    options = {"hardware_enablement_options": CLOSED}
    runner.play("enable_gpu", **options).check()
    labels = sight.nodes(cluster)["gpu-new-1"]["metadata"]["labels"]
    specs = [rule["spec"] for rule in cluster.api.get(RULES)["items"]]
    (spec,) = (
        each for each in specs if each["nodeSelector"]["matchLabels"].items() <= labels.items()
    )
    assert spec["conditions"] == [{"type": sight.SUMMARY, "requiredStatus": "True"}]
    closed = spec["taint"]
    # A device plugin dies; what the controller does about a condition that is not True is a taint.
    set_fault(cluster.kubeconfig, "gpu-new-1", "device-plugin", "crash", message="no GPU answers")
    hurry = {"hardware_enablement_failure_grace": 2, "hardware_enablement_timeout": 20}
    assert runner.play("enable_gpu", **options, **hurry).code != 0
    cluster.kubectl("taint", "node", "gpu-new-1", f"{closed['key']}=pending:NoSchedule")
    played = runner.play("enable_gpu", **options, **hurry)
    clear_faults(cluster.kubeconfig)
    assert played.code != 0
    assert "no GPU answers" in played.output, played.output
    assert sight.marks(cluster)["gpu-new-1"]["nvidia-gpu"] == "device_plugin.degraded"
    runner.play("enable_gpu", **options).check()
    assert sight.marks(cluster)["gpu-new-1"]["nvidia-gpu"] == "ready"
    runner.play("disable", hardware_enablement_recipe=RECIPE).check()
    assert cluster.api.get(RULES)["items"] == []
    cluster.kubectl("taint", "node", "gpu-new-1", f"{closed['key']}-")


def test_disabling_leaves_nothing_of_it(cluster: Cluster, runner: Runner) -> None:
    before = taints(cluster)
    partition(runner, partitioning_taints=[GPU, TEAM], partitioning_soft=True).check()
    runner.play("disable", hardware_enablement_recipe=RECIPE).check()
    assert taints(cluster) == before
    found = cluster.api.get("/apis/scheduling.k8s.io/v1/priorityclasses")["items"]
    assert not [item for item in found if item["metadata"]["name"].startswith(RECIPE)]
    refused = partition(runner, partitioning_taints=[GPU])
    assert "nvidia-gpu is not enabled" in refused.output
