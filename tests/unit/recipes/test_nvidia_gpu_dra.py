# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nvidia-gpu-dra: what differs from nvidia-gpu, and that nothing else does."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import (
    REPO,
    Render,
    renderer,
)

RECIPES = REPO / "recipes"
CHANGED = {"device_plugin", "device_plugin_validation"}


@pytest.fixture(scope="module")
def recipes() -> tuple[Recipe, Recipe]:
    """nvidia-gpu, nvidia-gpu-dra."""
    base, dra = (
        load(read_bundle(RECIPES / name, RECIPES), name)
        for name in ("nvidia-gpu", "nvidia-gpu-dra")
    )
    return base, dra


def test_only_how_pods_get_gpus_is_another(recipes: tuple[Recipe, Recipe]) -> None:
    base, dra = recipes
    assert base.states.keys() - dra.states.keys() == {"mps"}
    same = dra.states.keys() - CHANGED
    assert {name for name in same if dra.states[name] != base.states[name]} == set()


def test_no_resource_is_asked_for_and_claims_are_seen(recipes: tuple[Recipe, Recipe]) -> None:
    _base, dra = recipes
    assert dra.devices.resources == ()
    assert dra.devices.access.dra_drivers == ("gpu.nvidia.com",)
    proofs = [proof.kind for name in sorted(CHANGED) for proof in dra.states[name].proofs.validate]
    assert proofs == ["rollout", "resource_slices", "workload"]


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
        ).objects("DaemonSet", "device_plugin")
        if each["metadata"]["name"].startswith("nvidia-dra-driver")
    ]
    (container,) = daemonset["spec"]["template"]["spec"]["containers"]
    env = {each["name"]: each.get("value") for each in container["env"]}
    assert env["FEATURE_GATES"] == "DynamicMIG=false,NVMLDeviceHealthCheck=true"
    assert "SERVICE_ACCOUNT_NAME" in env
    assert container["livenessProbe"]["grpc"] == container["readinessProbe"]["grpc"]
