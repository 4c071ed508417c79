# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One recipe for nodes that differ: eight kinds of them in one run, two driver versions by pools,
and refusals."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.integration import sight
from tests.integration.conftest import documented
from tests.integration.plays import Runner

Obj = dict[str, Any]

pytestmark = pytest.mark.recipes

RECIPES = Path(__file__).parents[1] / "recipes"
GENERIC, NEWEST = "6.8.0-60-generic", "6.14.0-24-generic"
EL9, COREOS = "5.14.0-570.12.1.el9_6.x86_64", "5.14.0-570.33.2.el9_6.x86_64"
# name -> (profile, kernel, operating system, container runtime)
KINDS = {
    "generic": ("gpu-t4", GENERIC, "ubuntu:24.04", "containerd"),
    "newest": ("gpu-t4", NEWEST, "ubuntu:24.04", "containerd"),
    "rhel": ("gpu-t4", EL9, "rhel:9.6", "containerd"),
    "rocky": ("gpu-t4", EL9, "rocky:9.6", "containerd"),
    "rhcos": ("gpu-t4", COREOS, "rhcos:9.6.20250523", "cri-o"),
    "crio": ("gpu-t4", GENERIC, "ubuntu:24.04", "cri-o"),
    "host": ("gpu-t4", GENERIC, "ubuntu:24.04", "containerd"),
    "arm": ("gpu-gh200", GENERIC, "ubuntu:24.04", "containerd"),
}
BROUGHT = "nvidia.com/gpu.deploy.driver=pre-installed"
RUNTIME = "nvidia-gpu.container-runtime"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A node of each kind; each has a label with its kind."""
    with Cluster.up("test-groups-of-nodes") as started:
        for kind, (profile, kernel, system, runtime) in KINDS.items():
            (node,) = started.add_nodes(
                1, profile=profile, kernel=kernel, os=system, prefix=kind, runtime=runtime
            )
            started.kubectl("label", "node", node, f"example.org/kind={kind}")
        started.kubectl("label", "node", "host-1", BROUGHT)
        started.kubectl(
            "annotate", "node", "host-1", "sim.hardware-enablement.io/preinstalled=driver"
        )
        yield started


@pytest.fixture(scope="module")
def runner(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Plays as a user with the documented rights."""
    return documented(cluster, tmp_path_factory.mktemp("runner"))


@pytest.fixture
def mixed(cluster: Cluster, runner: Runner) -> None:
    """nvidia-gpu is enabled on all kinds, in one run."""
    if sight.phase(cluster, "nvidia-gpu") != "ready":
        runner.play("enable_gpu").check()


def pool(name: str, kind: str, **options: Any) -> Obj:
    """The nodes of a kind as a pool."""
    return {
        "name": name,
        "selector": {"matchLabels": {"example.org/kind": kind}},
        "options": options,
    }


def daemonsets(cluster: Cluster, namespace: str, prefix: str) -> dict[str, Obj]:
    """Name -> DaemonSet."""
    found = json.loads(cluster.kubectl("get", "daemonset", "-n", namespace, "-o", "json"))["items"]
    return {
        item["metadata"]["name"]: item
        for item in found
        if item["metadata"]["name"].startswith(prefix)
    }


def env_of(pod: Obj) -> dict[str, str]:
    """The environment of a pod's first container."""
    return {entry["name"]: entry.get("value", "") for entry in pod["spec"]["containers"][0]["env"]}


def refused(
    runner: Runner, cluster: Cluster, *said: str, recipe: str = "two-states", **variables: Any
) -> None:
    """That a run ends with these words and without a write."""
    mark = cluster.mark()
    folder = {} if recipe == "nvidia-gpu" else {"hardware_enablement_recipe_dir": str(RECIPES)}
    played = runner.play("enable", hardware_enablement_recipe=recipe, **folder, **variables)
    assert played.code != 0, played.output
    text = " ".join(played.output.split())
    for words in said:
        assert words in text, played.output
    assert [request for request in runner.writes(mark) if "/leases" not in request] == []


@pytest.mark.usefixtures("mixed")
def test_eight_kinds_of_nodes_are_ready_after_one_run(cluster: Cluster) -> None:
    status = sight.record(cluster)
    assert (status["phase"], status["nodes"]["summary"]) == ("ready", "8/8")
    where = Counter(state for _node, state in sight.pods(cluster))
    assert where["driver"] == 7
    assert {
        where[state]
        for state in ("runtime_hook", "device_plugin", "monitoring", "feature_discovery")
    } == {8}
    assert ("host-1", "driver") not in sight.pods(cluster)
    rows = {row["name"]: row.get("groups", []) for row in status["states"]}
    assert {group["title"] for group in rows["runtime_hook"]} == {
        "containerd 2",
        "cri-o 1",
        "containerd 2, driver preinstalled",
    }
    assert sum(group["total"] for group in rows["driver"]) == 8


@pytest.mark.usefixtures("mixed")
def test_each_node_gets_what_fits_its_kernel_and_its_runtime(cluster: Cluster) -> None:
    pods = sight.pods(cluster)
    for kind, (_profile, kernel, _system, runtime) in KINDS.items():
        node = f"{kind}-1"
        hook = env_of(pods[node, "runtime_hook"])
        assert hook["RUNTIME"] == runtime.replace("-", "")
        assert hook["NVIDIA_DRIVER_ROOT"] == ("/" if kind == "host" else "/run/nvidia/driver")
        assert sight.marks(cluster)[node][RUNTIME] == (
            "containerd-2" if runtime == "containerd" else "cri-o-1"
        )
        if kind != "host":
            assert env_of(pods[node, "driver"])["POD_KERNEL"] == kernel
    assert sight.proofs(cluster, "host-1").keys() == sight.proofs(cluster, "generic-1").keys()


@pytest.mark.usefixtures("mixed")
def test_a_second_run_changes_nothing(cluster: Cluster, runner: Runner) -> None:
    mark = cluster.mark()
    runner.play("enable_gpu").unchanged()
    assert runner.writes(mark) == []


@pytest.mark.usefixtures("mixed")
def test_what_would_serve_a_resource_twice_is_refused(cluster: Cluster, runner: Runner) -> None:
    said = "nvidia.com/gpu would be served twice, by nvidia-gpu and by two-states"
    refused(runner, cluster, said, "nodes arm-1, crio-1, generic-1 and 5 more")
    refused(
        runner,
        cluster,
        "by nvidia-gpu and by gpu-b",
        recipe="nvidia-gpu",
        hardware_enablement_instance="gpu-b",
    )
    instance = {"hardware_enablement_instance": "nvidia-gpu"}
    refused(
        runner,
        cluster,
        "cannot be enabled as nvidia-gpu: recipe nvidia-gpu is enabled by that name",
        **instance,
    )


@pytest.mark.usefixtures("mixed")
def test_options_that_pools_cannot_have_are_refused(cluster: Cluster, runner: Runner) -> None:
    pools = [pool("dashboards", "arm", grafana="instance")]
    said = "option grafana cannot be another one in pool dashboards"
    refused(
        runner, cluster, said, "state grafana", recipe="nvidia-gpu", hardware_enablement_pools=pools
    )


@pytest.fixture
def emptied(cluster: Cluster, runner: Runner) -> Cluster:
    """The cluster without nvidia-gpu."""
    if sight.phase(cluster, "nvidia-gpu"):
        runner.play("disable", hardware_enablement_recipe="nvidia-gpu").check()
    return cluster


@pytest.mark.usefixtures("mixed")
def test_disable_takes_the_runtimes_label_too(cluster: Cluster, runner: Runner) -> None:
    runner.play("disable", hardware_enablement_recipe="nvidia-gpu").check()
    assert set(map(str, sight.marks(cluster).values())) == {"{}"}


def test_pools_that_cannot_be_meant_are_refused(emptied: Cluster, runner: Runner) -> None:
    for pools, said in (
        (
            [pool("a", "generic"), pool("b", "generic")],
            "node generic-1): it is in the pools a and b",
        ),
        (
            [pool("a", "generic"), pool("b", "none")],
            "pool b): none of the 8 nodes with the hardware is in it",
        ),
        (
            [{"name": "a", "machine_config_pool": "gpu"}],
            "there is no MachineConfigPool 'gpu': the cluster has none",
        ),
        ([pool("a", "generic", versoin="2")], "(pool a)"),
        (
            [pool("a", "generic", node_selector={"x": "y"})],
            "pool a cannot have the option node_selector",
        ),
    ):
        refused(runner, emptied, said, hardware_enablement_pools=pools)


def test_two_driver_versions_by_pools_in_one_recipe(emptied: Cluster, runner: Runner) -> None:
    pools = [
        pool("new", "generic", driver_version="2.0"),
        {
            "name": "el",
            "selector": {
                "matchExpressions": [
                    {"key": "example.org/kind", "operator": "In", "values": ["rhel", "rocky"]}
                ]
            },
            "options": {"driver_version": "3.0"},
        },
    ]
    variables: Obj = {
        "hardware_enablement_recipe": "two-states",
        "hardware_enablement_recipe_dir": str(RECIPES),
        "hardware_enablement_pools": pools,
    }
    runner.play("enable", **variables).check()
    images = {
        name: item["spec"]["template"]["spec"]["containers"][0]["image"]
        .rpartition(":")[2]
        .partition("-")[0]
        for name, item in daemonsets(emptied, "two-states", "driver-").items()
    }
    assert Counter(images.values()) == {"1.0": 4, "2.0": 1, "3.0": 2}
    assert {name.split("-")[1] for name, version in images.items() if version != "1.0"} == {
        "new",
        "el",
    }
    pods = json.loads(emptied.kubectl("get", "pod", "-n", "two-states", "-o", "json"))["items"]
    on = {
        pod["spec"]["nodeName"]: pod["spec"]["containers"][0]["image"]
        .rpartition(":")[2]
        .partition("-")[0]
        for pod in pods
        if pod["metadata"]["name"].startswith("driver-")
    }
    expected = {f"{kind}-1": "1.0" for kind in KINDS}
    assert on == {**expected, "generic-1": "2.0", "rhel-1": "3.0", "rocky-1": "3.0"}
    record = json.loads(emptied.kubectl("get", "specialresource", "two-states", "-o", "json"))
    assert [entry["name"] for entry in record["spec"]["pools"]] == ["new", "el"]
    mark = emptied.mark()
    runner.play("enable", **variables).unchanged()
    assert runner.writes(mark) == []
    assert "two-states: ready, 8/8 nodes" in runner.play("status", **variables).check().output
    # Without the pools no node is in one any more, so what was made for them goes.
    runner.play("enable", **{**variables, "hardware_enablement_pools": []}).check()
    found = daemonsets(emptied, "two-states", "driver-")
    assert len(found) == 6
    assert not any(name.startswith(("driver-new-", "driver-el-")) for name in found)
    runner.play(
        "disable",
        hardware_enablement_recipe="two-states",
        hardware_enablement_recipe_dir=str(RECIPES),
    ).check()


def test_one_recipe_twice_on_nodes_of_their_own(emptied: Cluster, runner: Runner) -> None:
    def variables(instance: str, kind: str) -> Obj:
        return {
            "hardware_enablement_recipe": "two-states",
            "hardware_enablement_recipe_dir": str(RECIPES),
            "hardware_enablement_instance": instance,
            "hardware_enablement_options": {"node_selector": {"example.org/kind": kind}},
        }

    for instance, kind in (("east", "rhel"), ("west", "rocky")):
        runner.play("enable", **variables(instance, kind)).check()
        assert list(daemonsets(emptied, instance, "plugin")) == ["plugin"]
        assert sight.marks(emptied)[f"{kind}-1"][f"{instance}.driver"] == "ready"
        assert sight.marks(emptied)[f"{kind}-1"][instance] == "ready"
    runner.play("enable", **variables("east", "rhel")).unchanged()
    assert (
        "east: ready, 1/1 nodes"
        in runner.play("status", hardware_enablement_recipe_dir=str(RECIPES)).check().output
    )
    runner.play("disable", **variables("east", "rhel")).check()
    assert sight.marks(emptied)["rhel-1"] == {}
    assert sight.marks(emptied)["rocky-1"]["west"] == "ready"
    runner.play("disable", **variables("west", "rocky")).check()
