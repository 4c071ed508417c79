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
