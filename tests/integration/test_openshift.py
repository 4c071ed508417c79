# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same recipe on a cluster with OpenShift's kinds, and on one without even those of the
Prometheus operator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import Cluster
from tests.integration.conftest import grant
from tests.integration.gpu_bed import GpuBed
from tests.integration.namespaces import make_namespace
from tests.integration.plays import PLAYBOOKS, REPO, Runner
from tests.integration.registry_bed import Bed

pytestmark = pytest.mark.recipes

OPTIONS = {"grafana": "instance", "grafana_expose": True}
BUILD, KERNEL = "9.6.20250805-0", "5.14.0-570.el9.x86_64"
# Of another machine, whose kernel has an image of its own.
COMPILED = "5.14.0-611.el9.x86_64"
# What the cluster's ImageStream has for that build (tests/cluster/openshift/instances.yaml).
TOOLKIT = f"quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:{'1a' * 32}"
SCCS = ("driver", "container-toolkit", "device-plugin", "dcgm-exporter")


def runner_for(cluster: Cluster, folder: Path) -> Runner:
    """Plays with the rights that a run needs."""
    cluster.kubectl("apply", "-f", str(REPO / "manifests" / "rbac.yaml"))
    grant(cluster, "runner", "hardware-enablement-runner")
    return Runner(cluster, "runner", folder)


@pytest.fixture(scope="module")
def openshift() -> Iterator[Cluster]:
    """A cluster that serves what OpenShift serves, with one GPU node."""
    with Cluster.up("test-openshift", openshift=True) as started:
        started.add_nodes(
            1,
            profile="gpu-h100",
            kernel=KERNEL,
            os=f"rhcos:{BUILD}",
            runtime="cri-o",
        )
        yield started


@pytest.fixture(scope="module")
def openshift_runner(openshift: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Plays on it."""
    return runner_for(openshift, tmp_path_factory.mktemp("runner"))


@pytest.fixture(scope="module")
def bare() -> Iterator[Cluster]:
    """A cluster without the Prometheus operator's kinds, with one GPU node."""
    with Cluster.up("test-bare", monitoring_crds=False) as started:
        started.add_nodes(1, profile="gpu-h100")
        yield started


def names(cluster: Cluster, kind: str) -> list[str]:
    """The names of our objects of a kind."""
    listed = cluster.kubectl(
        "get", kind, "-A", "-l", "hardware-enablement.io/recipe=nvidia-gpu", "-o", "json"
    )
    return [item["metadata"]["name"] for item in json.loads(listed)["items"]]


@pytest.fixture
def gpus(openshift: Cluster, openshift_runner: Runner, bed: Bed) -> Iterator[GpuBed]:
    """One of two kernels has an image of its own; for the other one there is one that compiles."""
    make_namespace(openshift, "nvidia-gpu", "nvidia-gpu")
    made = GpuBed(openshift, openshift_runner, bed)
    made.give_secret()
    made.publish(COMPILED, os="rhel9")
    made.publish_compiling("rhel9")
    openshift.add_nodes(
        1,
        profile="gpu-h100",
        kernel=COMPILED,
        os=f"rhcos:{BUILD}",
        runtime="cri-o",
        prefix="compiled",
    )
    yield made
    openshift.remove_nodes("compiled-1")


def an_image_that_compiles_does_so_in_the_driver_toolkit_of_the_release(gpus: GpuBed) -> None:
    repository = f"{gpus.registry.address}/nvidia/driver"
    names = {KERNEL: "595.91.07-rhel9", COMPILED: f"595-{COMPILED}-rhel9"}
    pinned = {
        kernel: f"{repository}@{gpus.images.digest('nvidia/driver', name)}"
        for kernel, name in names.items()
    }
    assert {
        kernel: {each["name"]: each["image"] for each in spec["containers"]}
        for kernel, spec in gpus.driver_specs().items()
    } == {
        KERNEL: {"driver": pinned[KERNEL], "driver-toolkit": TOOLKIT},
        COMPILED: {"driver": pinned[COMPILED]},
    }
    assert {kernel: entry["name"] for kernel, entry in gpus.record().items()} == {
        kernel: f"{repository}:{name}" for kernel, name in names.items()
    }


def test_openshift_gets_its_constraints_a_route_and_its_driver_toolkit(gpus: GpuBed) -> None:
    openshift, runner = gpus.cluster, gpus.runner
    played = gpus.play(options=gpus.options(**OPTIONS)).check()
    assert "does without" not in played.output
    assert names(openshift, "route.route.openshift.io")
    assert names(openshift, "ingress.networking.k8s.io") == []
    found = names(openshift, "securitycontextconstraints.security.openshift.io")
    for part in SCCS:
        assert any(part in name for name in found), found
    assert names(openshift, "servicemonitor.monitoring.coreos.com")
    assert set(gpus.summaries().values()) == {"ready"}
    an_image_that_compiles_does_so_in_the_driver_toolkit_of_the_release(gpus)
    mark = openshift.mark()
    gpus.play(options=gpus.options(**OPTIONS)).unchanged()
    assert runner.writes(mark) == []
    runner.play("disable", hardware_enablement_recipe="nvidia-gpu").check()
    assert names(openshift, "securitycontextconstraints.security.openshift.io") == []
    assert names(openshift, "route.route.openshift.io") == []


def test_facts_of_openshift_and_pools_of_its_machine_configs(
    openshift: Cluster, openshift_runner: Runner, tmp_path: Path
) -> None:
    runner = openshift_runner
    openshift.kubectl("label", "node", "gpu-h100-1", "node-role.kubernetes.io/worker=")
    out = tmp_path / "found.json"
    runner.play(
        PLAYBOOKS / "find_nodes.yml",
        out=str(out),
        pools=[{"name": "workers", "machine_config_pool": "worker"}],
    ).check()
    found = json.loads(out.read_text())
    assert found["cluster"]["openshift_version"] == "4.19.7"
    assert found["cluster"]["pull_secret"] == "openshift-config/pull-secret"
    assert found["cluster"]["proxy"] == {"http": "", "https": "", "no": ""}
    assert list(found["cluster"]["driver_toolkits"]) == [BUILD]
    (group,) = found["node_groups"]
    assert (group["os_build"], group["pool"], group["runtime"]) == (BUILD, "workers", "cri-o")
    unknown = runner.play(
        PLAYBOOKS / "find_nodes.yml",
        out=str(out),
        pools=[{"name": "a", "machine_config_pool": "gpu"}],
    )
    assert "there is no MachineConfigPool 'gpu': the cluster has master, worker" in " ".join(
        unknown.output.split()
    )


def test_what_the_cluster_does_not_serve_is_left_out_and_said(
    bare: Cluster, tmp_path: Path
) -> None:
    runner = runner_for(bare, tmp_path)
    said = [
        f"monitoring does without nvidia-gpu/monitoring/{file}: "
        f"the cluster does not serve monitoring.coreos.com/v1/{kind}"
        for file, kind in (
            ("servicemonitor.yaml.j2", "ServiceMonitor"),
            ("rules.yaml.j2", "PrometheusRule"),
        )
    ]
    predicted = runner.play("enable_gpu", "--check").check()
    played = runner.play("enable_gpu").check()
    for line in said:
        assert predicted.output.count(line) == played.output.count(line) == 1
    # OpenShift's kinds are missed by nobody here.
    assert played.output.count("does without") == len(said)
    assert "service/nvidia-dcgm-exporter" in bare.kubectl(
        "get", "service", "-n", "nvidia-gpu", "-o", "name"
    )
    again = runner.play("enable_gpu").check()
    again.unchanged()
    assert "does without" not in again.output
