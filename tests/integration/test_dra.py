# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dynamic resource allocation: a DRA driver's ResourceSlices as a proof, and ResourceClaims, which the
real scheduler allocates and the real controller makes and takes away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration import sight
from tests.integration.node_agents import NodeAgents
from tests.integration.plays import Played, Runner
from tests.integration.test_killed_runs import kill
from tests.integration.test_other_vendors import OURS, RECIPES, enable, limited
from tests.integration.waiting import PATIENTLY, wait_until, wait_until_none

pytestmark = pytest.mark.recipes

DRA: dict[str, Any] = {"hardware_enablement_recipe": "dra-like"}
OPTIONS: dict[str, Any] = {"devices": 2}
HOLDER = "holder"
# The fabric, and the part of it that GPUs are in.
CLIQUE = "3a2f1e6c-5f0b-4f4e-9b5e-0f4c2d1a7b90.32766"
GPU_OPTIONS: dict[str, Any] = {
    "exporter_validation": False,
    "driver_precompiled": True,
    "node_condition": True,
}
AMD_OPTIONS: dict[str, Any] = {"exporter_enabled": False}
GPUS: dict[str, Any] = {
    "hardware_enablement_recipe": "nvidia-gpu",
    "hardware_enablement_options": GPU_OPTIONS,
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """2 nodes with 2 cards each, 2 with 8 GPUs, and one with 8 of AMD's, whose driver it brings."""
    with Cluster.up("test-dra") as started:
        started.add_nodes(2, profile="fpga", prefix="fpga")
        started.add_nodes(2, profile="gpu-h100", prefix="gpu")
        # One fabric of NVLink.
        clique = f"sim.hardware-enablement.io/clique={CLIQUE}"
        started.kubectl("annotate", "node", "gpu-1", "gpu-2", clique)
        started.add_nodes(1, profile="gpu-mi300x", prefix="amd")
        started.kubectl(
            "annotate", "node", "amd-1", "sim.hardware-enablement.io/preinstalled=driver"
        )
        yield started


@pytest.fixture(scope="module")
def user(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Plays with the rights that the playbook rights writes down for the recipe."""
    return limited(cluster, "dra-like", tmp_path_factory.mktemp("dra"))


@pytest.fixture
def runner(cluster: Cluster, user: Runner) -> Runner:
    """The recipe, enabled."""
    if sight.phase(cluster, "dra-like") != "ready":
        assert "dra-like: ready, 2/2 nodes" in enable(
            user, {**DRA, "hardware_enablement_options": OPTIONS}
        )
    return user


def claims(cluster: Cluster) -> list[str]:
    """The ResourceClaims that there are."""
    return cluster.kubectl("get", "resourceclaims", "-A", "-o", "name").split()


def slices(cluster: Cluster) -> dict[str, int]:
    """Node -> how many devices are published of it."""
    found = json.loads(cluster.kubectl("get", "resourceslices", "-o", "json"))["items"]
    return {each["spec"]["nodeName"]: len(each["spec"]["devices"]) for each in found}


def condition(cluster: Cluster, node: str, recipe: str) -> tuple[str, str] | None:
    """Status and reason of a recipe's condition at a node, beside those of the kubelet."""
    found = {each["type"]: each for each in sight.nodes(cluster)[node]["status"]["conditions"]}
    assert found["Ready"]["status"] == "True"
    told = found.get(f"hardware-enablement.io/{recipe}")
    return (told["status"], told["reason"]) if told else None


def hold(cluster: Cluster, node: str, cards: int) -> None:
    """A pod that claims cards of a node, and runs."""
    request = {"name": "card", "exactly": {"deviceClassName": "dra-like", "count": cards}}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": HOLDER, "namespace": "default"},
        "spec": {"devices": {"requests": [request]}},
    }
    container = {"name": "main", "image": "user", "resources": {"claims": [{"name": "cards"}]}}
    spec: dict[str, Any] = {
        "nodeSelector": {"kubernetes.io/hostname": node},
        "resourceClaims": [{"name": "cards", "resourceClaimName": HOLDER}],
        "containers": [container],
    }
    metadata = {"name": HOLDER, "namespace": "default"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    cluster.kubectl(
        "apply",
        "-f",
        "-",
        stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [claim, pod]}),
    )
    cluster.kubectl("wait", "--for=condition=Ready", f"pod/{HOLDER}", PATIENTLY)


def make_a_domain(cluster: Cluster) -> None:
    """The API server takes a ComputeDomain, as users make one, and lets nobody change it."""
    spec = {"channel": {"resourceClaimTemplate": {"name": "training-channel"}}}
    domain: dict[str, Any] = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": {"name": "training", "namespace": "default"},
        "spec": spec,
    }
    made = json.loads(cluster.kubectl("create", "-o", "json", "-f", "-", stdin=json.dumps(domain)))
    assert made["spec"] == {
        "numNodes": 0,
        "channel": {**spec["channel"], "allocationMode": "Single"},
    }
    with pytest.raises(ClusterError, match="stays as it was made"):
        cluster.kubectl(
            "patch", "computedomain/training", "--type=merge", "-p", '{"spec":{"numNodes":2}}'
        )
    cluster.kubectl("delete", "computedomain/training")


def ask(cluster: Cluster, node: str, resource: str) -> None:
    """A pod that asks for one of an extended resource, and runs."""
    metadata = {"name": HOLDER, "namespace": "default"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, **using(node, {resource: "1"})}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(pod))
    cluster.kubectl("wait", "--for=condition=Ready", f"pod/{HOLDER}", PATIENTLY)


def using(node: str, limits: dict[str, str]) -> dict[str, Any]:
    """The spec of a pod of somebody on a node, which takes what keeps others off its GPUs."""
    container = {"name": "main", "image": "user", "resources": {"limits": limits}}
    spec = {
        "nodeSelector": {"kubernetes.io/hostname": node},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "containers": [container],
    }
    return {"spec": spec}


def deploy(cluster: Cluster, name: str, node: str, limits: dict[str, str]) -> None:
    """A Deployment of one pod on a node, which runs."""
    labels = {"app": name}
    spec = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, **using(node, limits)},
    }
    metadata = {"name": name, "namespace": "default"}
    made = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(made))
    cluster.kubectl("rollout", "status", f"deployment/{name}", PATIENTLY)


def enable_gpus(gpus: Runner, way: str, given: dict[str, Any] | None = None) -> Played:
    """Enable with one node in a pool whose GPUs are to be served so. given: what else, by itself
    GPUS."""
    selector = {"matchLabels": {"kubernetes.io/hostname": "gpu-1"}}
    pool = {"name": "first", "selector": selector, "options": {"device_allocation": way}}
    return gpus.play("enable", **(given or GPUS), hardware_enablement_pools=[pool]).check()


def allocation(cluster: Cluster, node: str, recipe: str = "nvidia-gpu") -> str | None:
    """What a node's label says of who serves its GPUs."""
    return sight.marks(cluster)[node].get(f"{recipe}.device-allocation")


def offered(cluster: Cluster) -> dict[str, int]:
    """Node -> how many GPUs its device plugin offers."""
    nodes = sight.nodes(cluster)
    return {
        name: int(nodes[name]["status"]["allocatable"].get("nvidia.com/gpu", "0"))
        for name in ("gpu-1", "gpu-2")
    }


def running(cluster: Cluster) -> dict[str, str]:
    """The uids of somebody's pods, by what they are of."""
    pods = cluster.api.get("/api/v1/namespaces/default/pods")["items"]
    return {
        pod["metadata"].get("labels", {}).get("app", pod["metadata"]["name"]): pod["metadata"][
            "uid"
        ]
        for pod in pods
        if not pod["metadata"].get("deletionTimestamp")
    }


class Watcher(Thread):
    """Looks again and again whether a node's GPUs are offered by both at once. twice: where they
    were."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(daemon=True)
        self.cluster = cluster
        self.twice: set[str] = set()
        self.looks = 0
        self.over = Event()

    def run(self) -> None:
        """Until it is over."""
        while not self.over.wait(0.2):
            published, plugins = slices(self.cluster), offered(self.cluster)
            self.twice |= {node for node in plugins if plugins[node] and published.get(node)}
            self.looks += 1

    def __enter__(self) -> Watcher:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.over.set()
        self.join()


def release(cluster: Cluster) -> None:
    """The pod ends, and its claim with it."""
    cluster.kubectl("delete", f"pod/{HOLDER}", f"resourceclaim/{HOLDER}")


@pytest.mark.usefixtures("runner")
def test_cards_are_proven_by_slices_and_a_claim_which_goes_with_its_pod(cluster: Cluster) -> None:
    assert slices(cluster).items() >= {"fpga-1": 2, "fpga-2": 2}.items()
    for node in ("fpga-1", "fpga-2"):
        assert sight.marks(cluster)[node]["dra-like"] == "ready"
    wait_until_none(lambda: claims(cluster), "claims of validation pods")


def test_gpus_are_claimed_where_the_recipe_for_them_is_extended(
    cluster: Cluster, tmp_path: Path
) -> None:
    recipe: dict[str, Any] = {"hardware_enablement_recipe": "nvidia-gpu-dra"}
    domains = {**GPU_OPTIONS, "compute_domains_enabled": True}
    options = {"hardware_enablement_options": domains}
    gpus = limited(cluster, "nvidia-gpu-dra", tmp_path, OURS, **options)
    gpus.play("enable", **recipe, **options).check()
    assert sight.marks(cluster)["gpu-1"]["nvidia-gpu-dra"] == "ready"
    assert condition(cluster, "gpu-1", "nvidia-gpu-dra") == ("True", "Ready")
    assert slices(cluster)["gpu-1"] == 8
    assert sight.nodes(cluster)["gpu-1"]["metadata"]["labels"]["nvidia.com/gpu.clique"] == CLIQUE
    published = json.loads(cluster.kubectl("get", "resourceslices", "-o", "json"))["items"]
    assert {
        each["spec"]["driver"] for each in published if each["spec"]["nodeName"] == "gpu-2"
    } == {
        "gpu.nvidia.com",
        "compute-domain.nvidia.com",
    }
    make_a_domain(cluster)
    named = "jsonpath={.spec.extendedResourceName}"
    assert cluster.kubectl("get", "deviceclass", "gpu.nvidia.com", "-o", named) == "nvidia.com/gpu"
    assert "nvidia.com/gpu" not in sight.nodes(cluster)["gpu-1"]["status"]["allocatable"]
    mark = cluster.mark()
    gpus.play("enable", **recipe).unchanged()
    assert gpus.writes(mark) == []
    # A pod that exists: it asks for the extended resource, and the scheduler makes its claim.
    ask(cluster, "gpu-1", "nvidia.com/gpu")
    refused = gpus.play("disable", **recipe)
    assert refused.code == 2
    assert f"pod default/{HOLDER}" in refused.output
    cluster.kubectl("delete", f"pod/{HOLDER}")
    gpus.play("disable", **recipe).check()
    assert condition(cluster, "gpu-1", "nvidia-gpu-dra") is None
    wait_until(lambda: "gpu-1" not in slices(cluster), "the driver's slice goes with it")


def test_a_pool_is_brought_to_dra_and_back_and_pods_without_a_gpu_stay(
    cluster: Cluster, tmp_path: Path
) -> None:
    gpus = limited(cluster, "nvidia-gpu", tmp_path, OURS, hardware_enablement_options=GPU_OPTIONS)
    enable_gpus(gpus, "device-plugin")
    deploy(cluster, "mover", "gpu-1", {"nvidia.com/gpu": "1"})
    deploy(cluster, "bystander", "gpu-1", {})
    deploy(cluster, "elsewhere", "gpu-2", {"nvidia.com/gpu": "1"})
    ask(cluster, "gpu-1", "nvidia.com/gpu")
    before = running(cluster)

    # Asked for, and nothing changes under who holds a GPU; nor does it under one whom nobody makes again.
    assert (
        "~ 1 node is served by device-plugin, until the playbook upgrade brings it to dra: gpu-1"
        in enable_gpus(gpus, "dra").output
    )
    blocked = gpus.play("upgrade", **GPUS)
    assert blocked.code == 2
    assert "served by device-plugin -> dra" in blocked.output
    assert f"pod default/{HOLDER}, which asks for nvidia.com/gpu: nobody makes it" in blocked.output
    assert running(cluster) == before
    assert (slices(cluster).get("gpu-1"), offered(cluster)) == (None, {"gpu-1": 8, "gpu-2": 8})
    cluster.kubectl("delete", f"pod/{HOLDER}")
    del before[HOLDER]

    # Killed where one way has gone and the other has not come; the next run goes on.
    with Watcher(cluster) as watcher:
        run = gpus.start("upgrade", **GPUS)
        wait_until(lambda: allocation(cluster, "gpu-1") == "none", "nobody serves gpu-1")
        kill(cluster, run, lock="nvidia-gpu")
        gpus.play("upgrade", **GPUS).check()
    assert (watcher.twice, watcher.looks > 0) == (set(), True)
    assert slices(cluster).items() >= {"gpu-1": 8}.items()
    assert "gpu-2" not in slices(cluster)
    assert offered(cluster) == {"gpu-1": 0, "gpu-2": 8}
    assert condition(cluster, "gpu-1", "nvidia-gpu") == ("True", "Ready")
    cluster.kubectl("rollout", "status", "deployment/mover", "-n", "default", PATIENTLY)
    after = running(cluster)
    assert {name for name, uid in after.items() if before[name] != uid} == {"mover"}
    assert len(claims(cluster)) == 1

    # Half of the nodes, one recipe: the next runs have nothing to do.
    mark = cluster.mark()
    gpus.play("upgrade", **GPUS).unchanged()
    again = enable_gpus(gpus, "dra").unchanged()
    assert "~ 1 node is served by dra: gpu-1" in again.output
    assert gpus.writes(mark) == []

    enable_gpus(gpus, "device-plugin")
    with Watcher(cluster) as watcher:
        gpus.play("upgrade", **GPUS).check()
    assert watcher.twice == set()
    assert "gpu-1" not in slices(cluster)
    assert offered(cluster) == {"gpu-1": 8, "gpu-2": 8}
    back = running(cluster)
    assert {name for name, uid in back.items() if after[name] != uid} == {"mover"}
    cluster.kubectl("delete", "deployment", "--all", "-n", "default")
    gpus.play("disable", **GPUS).check()
    assert condition(cluster, "gpu-1", "nvidia-gpu") is None
    assert allocation(cluster, "gpu-1") is None


def test_amd_gpus_move_by_the_same_steps_and_back(cluster: Cluster, tmp_path: Path) -> None:
    recipe: dict[str, Any] = {"hardware_enablement_recipe": "amd-gpu"}
    amd = limited(cluster, "amd-gpu", tmp_path, OURS, hardware_enablement_options=AMD_OPTIONS)

    def brought_to(way: str) -> tuple[int, int, str | None]:
        """What the node's label says, and what a plugin and a DRA driver offer there."""
        options = {**AMD_OPTIONS, "device_allocation": way}
        amd.play("enable", **recipe, hardware_enablement_options=options).check()
        amd.play("upgrade", **recipe).check()
        node = sight.nodes(cluster)["amd-1"]
        offers = int(node["status"]["allocatable"].get("amd.com/gpu", "0"))
        assert sight.marks(cluster)["amd-1"]["amd-gpu"] == "ready"
        return offers, slices(cluster).get("amd-1", 0), allocation(cluster, "amd-1", "amd-gpu")

    assert brought_to("device-plugin") == (8, 0, "device-plugin")
    deploy(cluster, "bystander", "amd-1", {})
    before = running(cluster)
    assert brought_to("dra") == (0, 8, "dra")
    # Nobody is left of whom a device plugin serves: what it had goes.
    assert "ServiceAccount amd-gpu/amd-gpu-device-plugin" in amd.play("enable", **recipe).output
    amd.play("enable", **recipe).unchanged()
    assert brought_to("device-plugin") == (8, 0, "device-plugin")
    assert running(cluster) == before
    cluster.kubectl("delete", "deployment", "--all", "-n", "default")
    amd.play("disable", **recipe).check()
    assert allocation(cluster, "amd-1", "amd-gpu") is None


def test_nodes_prove_themselves_who_serves_their_gpus_before_and_after_the_change(
    cluster: Cluster, tmp_path: Path
) -> None:
    options = {**GPU_OPTIONS, "readiness": "nfd", "node_condition": False}
    given = {**GPUS, "hardware_enablement_options": options}
    gpus = limited(cluster, "nvidia-gpu", tmp_path, OURS, hardware_enablement_options=options)
    with NodeAgents(cluster, "nvidia-gpu", ["gpu-1", "gpu-2"]):
        assert "nvidia-gpu: ready, 2/2 nodes" in enable_gpus(gpus, "device-plugin", given).output
        enable_gpus(gpus, "dra", given)
        gpus.play("upgrade", **given).check()
        for node in ("gpu-1", "gpu-2"):
            metadata = sight.nodes(cluster)[node]["metadata"]
            assert metadata["labels"]["hardware-enablement.io/nvidia-gpu"] == "ready"
            of_nfd = metadata["annotations"]["nfd.node.kubernetes.io/feature-labels"].split(",")
            assert "hardware-enablement.io/nvidia-gpu" in of_nfd
        assert slices(cluster).items() >= {"gpu-1": 8}.items()
        assert offered(cluster) == {"gpu-1": 0, "gpu-2": 8}
        # What proved it has left, and with it its claim.
        wait_until_none(lambda: claims(cluster), "claims of validation pods")
        # The next run takes away what proved the way that has gone, and the one after it has nothing to do.
        gone = enable_gpus(gpus, "dra", given).check().output
        assert "- delete DaemonSet nvidia-gpu/validate-device-plugin" in gone, gone
        mark = cluster.mark()
        enable_gpus(gpus, "dra", given).unchanged()
        assert gpus.writes(mark) == []
        gpus.play("disable", **given).check()
    assert allocation(cluster, "gpu-1") is None


def test_a_second_run_changes_nothing(cluster: Cluster, runner: Runner) -> None:
    mark = cluster.mark()
    runner.play("enable", **DRA, hardware_enablement_recipe_dir=RECIPES).unchanged()
    assert runner.writes(mark) == []


def test_a_node_of_which_fewer_devices_are_published_is_named(
    cluster: Cluster, runner: Runner
) -> None:
    set_fault(cluster.kubeconfig, "fpga-1", "fpga-dra-driver", "mute")
    wait_until(lambda: "fpga-1" not in slices(cluster), "the driver takes its slice away")
    played = runner.play(
        "enable", **DRA, hardware_enablement_recipe_dir=RECIPES, hardware_enablement_failure_grace=1
    )
    clear_faults(cluster.kubeconfig)
    wait_until(lambda: "fpga-1" in slices(cluster), "the slice is back")
    assert played.code == 2
    assert "fpga.example.org publishes 0 devices of the node, wanted at least 2" in played.output


def test_a_claimed_device_keeps_the_recipe_and_is_waited_for(
    cluster: Cluster, runner: Runner
) -> None:
    hold(cluster, "fpga-2", 2)
    # Another version: the claim is proven again, for which no device is free.
    played = runner.play(
        "enable",
        **DRA,
        hardware_enablement_recipe_dir=RECIPES,
        hardware_enablement_options={**OPTIONS, "version": "0.3.1"},
        hardware_enablement_failure_grace=1,
    )
    assert "no device of the node is free for what the validation pod claims" in played.output
    refused = runner.play("disable", **DRA, hardware_enablement_recipe_dir=RECIPES)
    assert refused.code == 2
    assert f"pod default/{HOLDER}" in refused.output
    release(cluster)


def test_disabled_leaves_nothing(cluster: Cluster, runner: Runner) -> None:
    runner.play("disable", **DRA, hardware_enablement_recipe_dir=RECIPES).check()
    made = "hardware-enablement.io/recipe=dra-like"
    kinds = "all,resourceclaimtemplate,resourceclaim,deviceclass,resourceslice,clusterrole"
    assert cluster.kubectl("get", kinds, "-A", "-l", made, "-o", "name") == ""
    wait_until_none(lambda: claims(cluster), "claims of validation pods")
