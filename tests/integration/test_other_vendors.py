# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipes after the stacks of other vendors, on one cluster, each under the rights that are
computed for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.api import Api
from tests.integration import sight
from tests.integration.operators import Operator
from tests.integration.plays import Runner

pytestmark = pytest.mark.recipes

Obj = dict[str, Any]

TESTS = Path(__file__).parents[1]
RECIPES, OURS = str(TESTS / "recipes"), str(TESTS.parent / "recipes")
NETWORKS = TESTS / "cluster" / "crds" / "networks.yaml"
GENERIC, NEWEST = "6.8.0-60-generic", "6.14.0-24-generic"
NICS = "/apis/nic.example.org/v1/namespaces/nic-like"
AMD: Obj = {
    "hardware_enablement_recipe": "amd-like",
    "hardware_enablement_options": {"driver_precompiled": [GENERIC], "exporter_validation": False},
    "hardware_enablement_pools": [
        {
            "name": "next",
            "selector": {"matchLabels": {"example.org/driver": "next"}},
            "options": {"driver_version": "7.0.1"},
        }
    ],
}
NIC: Obj = {"hardware_enablement_recipe": "nic-like"}
SRIOV: Obj = {
    "hardware_enablement_recipe": "sriov-nic",
    "hardware_enablement_options": {
        "policies": [{"name": "vf", "virtual_functions": 16}],
        "networks": [{"name": "storage", "policy": "vf", "config": {"vlan": 100}}],
    },
}


class NicOperator(Operator):
    """The program in the pod of nic-like's operator: it does on each node what the NicPolicy says."""

    def __init__(self, cluster: Cluster, nodes: list[str]) -> None:
        super().__init__()
        self._cluster = cluster
        self._api = Api(cluster.kubeconfig)
        self._nodes = nodes

    def reconcile(self) -> None:
        served = self._api.get("/apis")["groups"]
        if any(group["name"] == "nic.example.org" for group in served):
            for policy in self._api.get(f"{NICS}/nicpolicies")["items"]:
                if not policy.get("status"):
                    self._carry_out(policy)

    def _carry_out(self, policy: Obj) -> None:
        for node in self._nodes:
            new = {
                "apiVersion": policy["apiVersion"],
                "kind": "NicNode",
                "metadata": {
                    "name": node,
                    "namespace": "nic-like",
                    "ownerReferences": [owner(policy)],
                },
            }
            self._cluster.kubectl("apply", "-f", "-", stdin=json.dumps(new))
            self._report("nicnodes", node, {"functions": policy["spec"]["functions"]})
        condition = {"type": "Ready", "status": "True"}
        self._report("nicpolicies", policy["metadata"]["name"], {"conditions": [condition]})

    def _report(self, kind: str, name: str, status: Obj) -> None:
        arguments = (
            "patch",
            f"{kind}.nic.example.org",
            name,
            "-n",
            "nic-like",
            "--subresource=status",
            "--type=merge",
        )
        self._cluster.kubectl(*arguments, "-p", json.dumps({"status": status}))


def owner(obj: Obj) -> Obj:
    """A reference that has an object go with this one."""
    meta = obj["metadata"]
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
    }


def limited(
    cluster: Cluster, recipe: str, folder: Path, recipes: str = RECIPES, **variables: Any
) -> Runner:
    """Plays as a user who has just the rights that the playbook `rights` writes down for a recipe."""
    runner, file = Runner(cluster, recipe, folder), folder / f"{recipe}.yaml"
    runner.without_kubeconfig().play(
        "rights",
        **{"hardware_enablement_recipe": recipe, **variables},
        hardware_enablement_recipe_dir=recipes,
        hardware_enablement_rights_file=str(file),
        hardware_enablement_rights_subjects=[{"kind": "User", "name": recipe}],
    ).check()
    cluster.kubectl("apply", "-f", str(file))
    return runner


def enable(runner: Runner, variables: Obj) -> str:
    """Enable a recipe; what the run said."""
    return runner.play("enable", **variables, hardware_enablement_recipe_dir=RECIPES).check().output


def items(cluster: Cluster, namespace: str, kind: str) -> dict[str, Obj]:
    """The objects of a kind by name."""
    found = json.loads(cluster.kubectl("get", kind, "-n", namespace, "-o", "json"))["items"]
    return {item["metadata"]["name"]: item for item in found}


def images_on(cluster: Cluster, namespace: str, prefix: str) -> dict[str, str]:
    """Node -> name and tag of the image, of the pods whose name starts like that."""
    pods = items(cluster, namespace, "pod").values()
    return {
        pod["spec"]["nodeName"]: pod["spec"]["containers"][0]["image"].rpartition("/")[2]
        for pod in pods
        if pod["metadata"]["name"].startswith(prefix)
    }


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """4 nodes with AMD's GPUs (two kernels, one in a pool, one that brings its driver), 2 with
    adapters."""
    with Cluster.up("test-other-vendors") as started:
        started.add_nodes(2, profile="gpu-mi300x", kernel=GENERIC, os="ubuntu:24.04", prefix="amd")
        started.add_nodes(
            2, profile="gpu-mi300x", kernel=NEWEST, os="ubuntu:24.04", prefix="amd-new"
        )
        started.add_nodes(
            1, profile="nic-mellanox", kernel=GENERIC, os="ubuntu:24.04", prefix="nic"
        )
        coreos = "5.14.0-570.33.2.el9_6.x86_64"
        system = "rhcos:9.6.20250523"
        started.add_nodes(
            1, profile="nic-mellanox", kernel=coreos, os=system, prefix="nic-crio", runtime="cri-o"
        )
        started.kubectl("label", "node", "amd-2", "example.org/driver=next")
        started.kubectl("label", "node", "amd-new-2", "example.org/amdgpu-driver=preinstalled")
        started.kubectl(
            "annotate", "node", "amd-new-2", "sim.hardware-enablement.io/preinstalled=driver"
        )
        with NicOperator(started, ["nic-1", "nic-crio-1"]).running():
            yield started


@pytest.fixture(scope="module")
def users(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Runner]:
    """A user for each recipe."""
    names = ("amd-like", "nic-like")
    return {name: limited(cluster, name, tmp_path_factory.mktemp(name)) for name in names}


@pytest.fixture
def amd(cluster: Cluster, users: dict[str, Runner]) -> Runner:
    """amd-like, enabled."""
    if sight.phase(cluster, "amd-like") != "ready":
        assert "amd-like: ready, 4/4 nodes" in enable(users["amd-like"], AMD)
    return users["amd-like"]


@pytest.fixture
def nic(cluster: Cluster, users: dict[str, Runner]) -> Runner:
    """nic-like, enabled."""
    if sight.phase(cluster, "nic-like") != "ready":
        assert "nic-like: ready, 2/2 nodes" in enable(users["nic-like"], NIC)
    return users["nic-like"]


@pytest.mark.usefixtures("amd")
def test_gpus_of_amd_have_the_driver_that_fits_each_node(cluster: Cluster) -> None:
    assert images_on(cluster, "amd-like", "amdgpu-driver-") == {
        "amd-1": f"amdgpu-driver:6.4.3-{GENERIC}-ubuntu24.04",
        "amd-2": f"amdgpu-driver:7.0.1-{GENERIC}-ubuntu24.04",
        # No image was compiled for this kernel.
        "amd-new-1": "amdgpu-driver:6.4.3-ubuntu24.04",
    }
    for node in ("amd-1", "amd-2", "amd-new-1", "amd-new-2"):
        found = sight.nodes(cluster)[node]
        assert found["status"]["allocatable"]["amd.com/gpu"] == "8"
        assert found["metadata"]["labels"]["amd.com/gpu.device-id"] == "74a1"
        assert sight.marks(cluster)[node]["amd-like"] == "ready"


@pytest.mark.usefixtures("nic")
def test_adapters_have_what_their_operator_and_their_runtime_ask_for(cluster: Cluster) -> None:
    programs = {
        item["spec"]["template"]["spec"]["volumes"][0]["hostPath"]["path"]
        for name, item in items(cluster, "nic-like", "daemonset").items()
        if name.startswith("sriov-cni")
    }
    assert programs == {"/opt/cni/bin", "/var/lib/cni/bin"}
    (policy,) = items(cluster, "nic-like", "nicpolicies.nic.example.org").values()
    operator = items(cluster, "nic-like", "deployment")["nic-operator"]
    (available,) = [
        item for item in operator["status"]["conditions"] if item["type"] == "Available"
    ]
    assert policy["metadata"]["creationTimestamp"] >= available["lastTransitionTime"]
    for node in ("nic-1", "nic-crio-1"):
        assert sight.nodes(cluster)[node]["status"]["allocatable"]["nvidia.com/cx7_vf"] == "32"
        assert sight.marks(cluster)[node]["nic-like"] == "ready"


def test_a_second_run_changes_nothing(cluster: Cluster, amd: Runner, nic: Runner) -> None:
    for runner, variables in ((amd, AMD), (nic, NIC)):
        mark = cluster.mark()
        runner.play("enable", **variables, hardware_enablement_recipe_dir=RECIPES).unchanged()
        assert runner.writes(mark) == []


def test_disabled_leaves_nothing(cluster: Cluster, amd: Runner, nic: Runner) -> None:
    for runner, name in ((amd, "amd-like"), (nic, "nic-like")):
        made = f"hardware-enablement.io/recipe={name}"
        kinds = "all,configmap,serviceaccount,role,rolebinding,clusterrole,clusterrolebinding,nicpolicies"
        assert len(cluster.kubectl("get", kinds, "-A", "-l", made, "-o", "name").split()) > 10
        runner.play(
            "disable", hardware_enablement_recipe=name, hardware_enablement_recipe_dir=RECIPES
        ).check()
        assert cluster.kubectl("get", kinds, "-A", "-l", made, "-o", "name") == ""
        assert items(cluster, name, "pod") == {}
    assert set(map(str, sight.marks(cluster).values())) == {"{}"}
    assert json.loads(cluster.kubectl("get", "specialresources", "-o", "json"))["items"] == []


def test_adapters_are_divided_and_attached_by_a_recipe_of_ours(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.kubectl("apply", "-f", str(NETWORKS))
    runner = limited(cluster, "sriov-nic", tmp_path, OURS, **SRIOV)
    assert "sriov-nic: ready, 2/2 nodes" in runner.play("enable", **SRIOV).check().output
    for node in ("nic-1", "nic-crio-1"):
        offered = sight.nodes(cluster)[node]["status"]["allocatable"]
        assert offered["sriov.hardware-enablement.io/vf"] == "32"
    (network,) = items(cluster, "sriov-nic", "network-attachment-definitions").values()
    assert json.loads(network["spec"]["config"])["vlan"] == 100
    mark = cluster.mark()
    runner.play("enable", hardware_enablement_recipe="sriov-nic").unchanged()
    assert runner.writes(mark) == []
    runner.play("disable", hardware_enablement_recipe="sriov-nic").check()
    assert items(cluster, "sriov-nic", "pod") == {}
    assert items(cluster, "sriov-nic", "network-attachment-definitions") == {}
    assert sight.marks(cluster)["nic-1"].keys() <= {"nic-like"}
