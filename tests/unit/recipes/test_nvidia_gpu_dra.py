# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nvidia-gpu-dra: what differs from nvidia-gpu, and that nothing else does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.groups import NodeGroup
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import (
    REPO,
    Render,
    group_of,
    renderer,
)

RECIPES = REPO / "recipes"
OF_DRA = ("dra_driver", "dra_validation")


@pytest.fixture(scope="module")
def recipes() -> tuple[Recipe, Recipe]:
    """nvidia-gpu, nvidia-gpu-dra."""
    base, dra = (
        load(read_bundle(RECIPES / name, RECIPES), name)
        for name in ("nvidia-gpu", "nvidia-gpu-dra")
    )
    return base, dra


def test_only_what_is_usual_is_another(recipes: tuple[Recipe, Recipe]) -> None:
    base, dra = recipes
    assert dra.states == base.states
    assert (base.allocations, dra.allocations) == (("device-plugin", "dra"),) * 2
    assert (base.usual_allocation, dra.usual_allocation) == ("device-plugin", "dra")


def test_who_holds_a_gpu_is_seen_whatever_has_given_it(recipes: tuple[Recipe, Recipe]) -> None:
    for recipe in recipes:
        assert "nvidia.com/gpu" in recipe.devices.resources
        assert recipe.devices.access.dra_drivers == ("gpu.nvidia.com",)


def served(way: str) -> NodeGroup:
    """A group of nodes that are served so, of a recipe of which that is not usual."""
    return replace(group_of(f"{way}-11aa22", "6.8.0-60-generic"), allocation=way)


def test_nodes_have_one_of_the_two(nvidia_gpu: Render) -> None:
    found = nvidia_gpu(groups=(served("dra"),), cluster={"kubernetes_version": "1.36.2"})
    names = {each["metadata"]["name"] for each in found.objects("DaemonSet")}
    assert "nvidia-dra-driver" in names
    assert not [name for name in names if name.startswith(("nvidia-device-plugin", "nvidia-mps"))]
    assert [state for state, _pod in found.validation_pods() if "driver" not in state] == [
        "dra_validation"
    ]
    proofs = [proof.kind for state in OF_DRA for proof in found.states[state].proofs]
    assert proofs == ["rollout", "resource_slices", "workload"]
    assert "allocatable" not in [proof.kind for proof in found.states["device_plugin"].proofs]
    usual = nvidia_gpu()
    assert not [each for state in OF_DRA for each in usual.objects(state=state)]
    assert "allocatable" in [proof.kind for proof in usual.states["device_plugin"].proofs]


@pytest.mark.parametrize(
    ("version", "options", "why"),
    [
        ("1.36.2", {"device_plugin_enabled": False}, "two would give the same GPU away"),
        ("1.33.4", {}, "Kubernetes 1.33.4 does not serve resource.k8s.io/v1"),
    ],
)
def test_what_cannot_be_had_is_said_before_anything_is_written(
    nvidia_gpu: Render, version: str, options: dict[str, bool], why: str
) -> None:
    with pytest.raises(InvalidInput, match=why):
        nvidia_gpu(groups=(served("dra"),), cluster={"kubernetes_version": version}, **options)
    assert nvidia_gpu(cluster={"kubernetes_version": version}, **options).objects("DaemonSet")


# kubernetes-sigs/dra-driver-nvidia-gpu v0.4.1, deployments/helm/dra-driver-nvidia-gpu/templates/deviceclass-*.yaml: the
# class, the type of its devices, and the extended resource whose pods get them.
OF_THE_CHART = {
    "gpu.nvidia.com": ("gpu", "nvidia.com/gpu"),
    "mig.nvidia.com": ("mig", None),
    "vfio.gpu.nvidia.com": ("vfio", None),
}


@pytest.fixture(scope="module")
def render() -> Render:
    """Renders recipes/nvidia-gpu-dra."""
    return renderer(RECIPES / "nvidia-gpu-dra")


def test_its_classes_are_those_of_the_chart(render: Render) -> None:
    made = render(cluster={"kubernetes_version": "1.36.2"}).objects("DeviceClass")
    text = "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == '{}'"
    assert {
        each["metadata"]["name"]: (
            each["spec"]["selectors"][0]["cel"]["expression"],
            each["spec"].get("extendedResourceName"),
        )
        for each in made
    } == {name: (text.format(kind), resource) for name, (kind, resource) in OF_THE_CHART.items()}


@pytest.mark.parametrize(
    ("version", "options", "is_named"),
    [
        ("1.36.0", {}, True),
        ("1.37.1+rke2r1", {}, True),
        # Its feature gate is off there, and the API server drops the field.
        ("1.35.3", {}, False),
        ("1.36.0", {"extended_resource": False}, False),
    ],
)
def test_the_extended_resource_is_named_where_kubernetes_keeps_it(
    render: Render, version: str, options: dict[str, bool], is_named: bool
) -> None:
    spec = render(cluster={"kubernetes_version": version}, **options).one(
        "DeviceClass", "gpu.nvidia.com"
    )["spec"]
    assert ("extendedResourceName" in spec) is is_named


def test_feature_gates_and_probes_are_the_drivers(render: Render) -> None:
    gates = {"NVMLDeviceHealthCheck": True, "DynamicMIG": False}
    (daemonset, *_others) = [
        each
        for each in render(
            cluster={"kubernetes_version": "1.36.2"}, dra_feature_gates=gates
        ).objects("DaemonSet", "dra_driver")
        if each["metadata"]["name"].startswith("nvidia-dra-driver")
    ]
    (container,) = daemonset["spec"]["template"]["spec"]["containers"]
    env = {each["name"]: each.get("value") for each in container["env"]}
    assert env["FEATURE_GATES"] == "DynamicMIG=false,NVMLDeviceHealthCheck=true"
    assert "SERVICE_ACCOUNT_NAME" in env
    assert container["livenessProbe"]["grpc"] == container["readinessProbe"]["grpc"]
