# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipes of several vendors on one cluster, each with nodes of its own and under the rights that
are computed for it: enabled all at once, run again, and disabled one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.integration import sight
from tests.integration.plays import Runner
from tests.integration.vendors import VENDORS, Vendor
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.recipes

every_vendor = pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.recipe)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A node of each vendor, and one that nobody is for."""
    with Cluster.up("test-recipes-at-once") as started:
        started.add_nodes(1, profile="cpu-only")
        for vendor in VENDORS:
            started.add_nodes(1, profile=vendor.profile)
            if vendor.brings_driver:
                preinstalled = "sim.hardware-enablement.io/preinstalled=driver"
                started.kubectl("annotate", "node", vendor.node, preinstalled)
        (driven,) = started.add_nodes(1, profile="gpu-mi300x")
        started.kubectl("label", "node", driven, "example.com/driver=amd")
        # The kernel's own driver has the GPUs, until AMD's unloads it.
        started.kubectl("annotate", "node", driven, "sim.hardware-enablement.io/in-tree=amdgpu")
        yield started


@pytest.fixture(scope="module")
def runners(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Runner]:
    """For each recipe plays as a user with the rights that the playbook rights writes down for it."""
    made = {}
    for vendor in VENDORS:
        folder = tmp_path_factory.mktemp(vendor.recipe)
        runner, file = Runner(cluster, vendor.recipe, folder), folder / "rights.yaml"
        runner.without_kubeconfig().play(
            "rights",
            hardware_enablement_recipe=vendor.recipe,
            hardware_enablement_rights_file=str(file),
            hardware_enablement_rights_subjects=[{"kind": "User", "name": vendor.recipe}],
        ).check()
        cluster.kubectl("apply", "-f", str(file))
        made[vendor.recipe] = runner
    return made


@pytest.fixture(autouse=True)
def _enabled(cluster: Cluster, runners: dict[str, Runner]) -> None:
    """All recipes are ready; those that are not are enabled at the same time."""
    started = {
        vendor: runners[vendor.recipe].start("enable", **vendor.variables)
        for vendor in VENDORS
        if sight.phase(cluster, vendor.recipe) != "ready"
    }
    for vendor, run in started.items():
        assert run.wait(300) == 0, (runners[vendor.recipe].folder / "enable.log").read_text()


@every_vendor
@pytest.mark.first
def test_each_is_ready_and_a_second_run_changes_nothing(
    cluster: Cluster, runners: dict[str, Runner], vendor: Vendor
) -> None:
    node, runner = sight.nodes(cluster)[vendor.node], runners[vendor.recipe]
    assert sight.marks(cluster)[vendor.node][vendor.recipe] == "ready"
    assert vendor.allocatable.items() <= node["status"]["allocatable"].items()
    assert set(vendor.labels) <= node["metadata"]["labels"].keys()
    mark = cluster.mark()
    runner.play("enable", **vendor.variables).unchanged()
    assert runner.writes(mark) == []


@pytest.mark.first
def test_amds_driver_runs_where_the_pool_has_it_and_nowhere_else(cluster: Cluster) -> None:
    path = "/api/v1/namespaces/amd-gpu/pods"
    drivers = {
        pod["spec"]["nodeName"]: pod["spec"]["containers"][0]["image"]
        for pod in cluster.api.get(path)["items"]
        if pod["metadata"]["labels"]["app.kubernetes.io/name"] == "amd-gpu-driver"
    }
    kernel = sight.nodes(cluster)["gpu-mi300x-2"]["status"]["nodeInfo"]["kernelVersion"]
    repository = "registry.example.com/amdgpu-driver"
    assert drivers == {"gpu-mi300x-2": f"{repository}:ubuntu-24.04-{kernel}-30.20.1"}
    assert sight.marks(cluster)["gpu-mi300x-2"]["amd-gpu"] == "ready"


# Of an object that is made again, what is another one: of its own time, or of who has made it.
MADE_ANEW = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")
OF_TOOLS = ("argocd.argoproj.io/", "kubectl.kubernetes.io/last-applied")
# What a run writes that no folder has: marks, locks, what it has found, and what it proves with.
OF_RUNS = ("/nodes/", "/leases", "/specialresources/", "/pods", "/events")


def deployed(cluster: Cluster, recipe: str) -> dict[str, Any]:
    """What is deployed of a recipe and what its record asks for, by kind and name, without what is
    another one each time."""
    found: dict[str, Any] = {}
    for key, obj in cluster.dump().items():
        meta = obj["metadata"]
        if key.endswith(f" SpecialResource /{recipe}"):
            found[key] = obj["spec"]
        elif (
            # A controller copies the labels of a Service to its Endpoints. A namespace that came with the
            # rights stays somebody else's for a run, and is in the folder nevertheless.
            not any(kind in key for kind in (" Endpoint", "v1 Namespace "))
            and meta.get("labels", {}).get("hardware-enablement.io/recipe") == recipe
            and "applyset.kubernetes.io/part-of" in meta["labels"]
        ):
            annotations = {
                name: value
                for name, value in meta.get("annotations", {}).items()
                if not name.startswith(OF_TOOLS)
            }
            kept = {name: value for name, value in meta.items() if name not in MADE_ANEW}
            # Its addresses are the next that are free.
            spec = {
                name: value
                for name, value in obj.get("spec", {}).items()
                if not name.startswith("clusterIP")
            }
            rest = {name: value for name, value in obj.items() if name not in ("status", "spec")}
            found[key] = {**rest, "spec": spec, "metadata": {**kept, "annotations": annotations}}
    return found


def test_a_folder_makes_what_a_run_makes(
    cluster: Cluster, runners: dict[str, Runner], tmp_path: Path
) -> None:
    """Object by object; a run then has no object to write, and status proves what it has found."""
    by_runs = {vendor.recipe: deployed(cluster, vendor.recipe) for vendor in VENDORS}
    for vendor in VENDORS:
        runner, folder = runners[vendor.recipe], tmp_path / vendor.recipe
        given = {**vendor.variables, "hardware_enablement_render_folder": str(folder)}
        mark = cluster.mark()
        assert runner.play("render", **given).check().changed
        runner.play("render", **given).unchanged()
        assert runner.writes(mark) == []
        runner.play("disable", hardware_enablement_recipe=vendor.recipe).check()
        assert deployed(cluster, vendor.recipe) == {}
    for vendor in VENDORS:
        cluster.kubectl("apply", "-k", str(tmp_path / vendor.recipe))
        assert deployed(cluster, vendor.recipe) == by_runs[vendor.recipe]
    # Nobody has set the gates by now.
    looked = runners["nvidia-gpu"].play("status", hardware_enablement_recipe="nvidia-gpu")
    assert looked.code != 0
    assert "nvidia-gpu: ready" not in looked.output
    mark = cluster.mark()
    running = {
        vendor: runners[vendor.recipe].start("enable", **vendor.variables) for vendor in VENDORS
    }
    for vendor, run in running.items():
        runner = runners[vendor.recipe]
        assert run.wait(300) == 0, (runner.folder / "enable.log").read_text()
        written = runner.writes(mark)
        assert [each for each in written if not any(own in each for own in OF_RUNS)] == []
        status = runner.play("status", hardware_enablement_recipe=vendor.recipe).check()
        assert f"{vendor.recipe}: ready" in status.output
        assert deployed(cluster, vendor.recipe) == by_runs[vendor.recipe]


def is_plain(cluster: Cluster, vendor: Vendor) -> bool:
    """Whether the vendor's node has neither devices nor labels of its operands any more."""
    node = sight.nodes(cluster)[vendor.node]
    offered = {node["status"]["allocatable"].get(name, "0") for name in vendor.allocatable}
    return offered <= {"0"} and not set(vendor.labels) & node["metadata"]["labels"].keys()


def test_each_is_disabled_without_touching_the_others(
    cluster: Cluster, runners: dict[str, Runner]
) -> None:
    after = cluster.dump()
    for vendor in VENDORS:
        before = after
        runner = runners[vendor.recipe]
        played = runner.play("disable", hardware_enablement_recipe=vendor.recipe).check()
        assert "would remove" not in played.output
        # Kubelet and NFD's master take back a moment later what its operands have told of the node.
        wait_until(
            partial(is_plain, cluster, vendor),
            f"{vendor.node} has nothing of {vendor.recipe} any more",
        )
        after = cluster.dump()
        touched = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
        assert {
            key for key in touched if not vendor.has(key, before.get(key) or after[key])
        } == set()
        made = f"hardware-enablement.io/recipe={vendor.recipe}"
        kinds = "all,configmap,serviceaccount,clusterrole,clusterrolebinding"
        assert cluster.kubectl("get", kinds, "-A", "-l", made, "-o", "name") == ""
    assert json.loads(cluster.kubectl("get", "specialresources", "-o", "json"))["items"] == []
    assert set(map(str, sight.marks(cluster).values())) == {"{}"}
