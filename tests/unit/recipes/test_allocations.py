# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipes whose devices a device plugin or a DRA driver gives: a node has one of the two."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.groups import NodeGroup
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import (
    REPO,
    Render,
    group_of,
    renderer,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import names

OF_DRA = ("dra_driver", "dra_validation")


@dataclass(frozen=True)
class Way:
    """recipe: its name. plugins: how DaemonSets of the device plugin begin. driver: the DRA driver's
    DaemonSet. device_class: the one of whole devices. resource: which extended resource it has.
    exporter: a DaemonSet that comes after either; exporter_waits_for: the state."""

    recipe: str
    plugins: tuple[str, ...]
    driver: str
    device_class: str
    resource: str
    exporter: str
    exporter_waits_for: str

    @property
    def render(self) -> Render:
        return renderer(REPO / "recipes" / self.recipe)


WAYS = (
    Way(
        "nvidia-gpu",
        ("nvidia-device-plugin", "nvidia-mps"),
        "nvidia-dra-driver",
        "gpu.nvidia.com",
        "nvidia.com/gpu",
        "nvidia-dcgm-exporter",
        "device_plugin_validation",
    ),
    Way(
        "amd-gpu",
        ("amd-gpu-device-plugin",),
        "amd-gpu-dra-driver",
        "gpu.amd.com",
        "amd.com/gpu",
        "amd-gpu-exporter",
        "device_plugin",
    ),
)
each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: str(way.recipe))


def served(way: str, pool: str = "") -> NodeGroup:
    """A group of nodes that are served so, of a recipe of which that is not usual."""
    group = replace(group_of(f"{way}-11aa22", "6.8.0-60-generic"), allocation=way)
    return replace(group, pool=pool)


@each_way
def test_nodes_have_one_of_the_two(way: Way) -> None:
    render = way.render
    found = render(groups=(served("dra"),), cluster={"kubernetes_version": "1.36.2"})
    made = names(found, "DaemonSet")
    assert way.driver in made
    assert not [name for name in made if name.startswith(way.plugins)]
    assert "device_plugin_validation" not in dict(found.validation_pods())
    assert "resourceClaims" in found.pod("dra_validation")["spec"]
    proofs = [proof.kind for state in OF_DRA for proof in found.states[state].proofs]
    assert proofs == ["rollout", "resource_slices", "workload"]
    assert "allocatable" not in [proof.kind for proof in found.states["device_plugin"].proofs]
    usual = render()
    assert not [each for state in OF_DRA for each in usual.objects(state=state)]
    assert "allocatable" in [proof.kind for proof in usual.states["device_plugin"].proofs]
    assert "resourceClaims" not in usual.pod("device_plugin_validation")["spec"]


@each_way
def test_what_nobody_has_is_waited_for_by_nobody(way: Way) -> None:
    """Each gate that pods wait for is a write for each node."""
    rendering = way.render()
    gates = re.compile(rf"hardware-enablement[.]io/{way.recipe}[.](\w+)")
    found = {
        each["metadata"]["name"]: set(gates.findall(json.dumps(each["spec"])))
        for each in rendering.objects("DaemonSet", "monitoring")
    }
    assert found == {way.exporter: {way.exporter_waits_for}}


@each_way
def test_one_pool_may_claim_what_another_asks_for(way: Way) -> None:
    rendering = way.render(
        groups=[served("dra", "claims"), served("", "asks")],
        pools={"claims": {"device_allocation": "dra"}, "asks": {}},
        cluster={"kubernetes_version": "1.36.0"},
    )
    made = names(rendering, "DaemonSet")
    plugin = way.plugins[0]
    assert [name for name in made if name.startswith(plugin) and "asks" in name]
    assert not [name for name in made if name.startswith(plugin) and "claims" in name]
    assert not [name for name in made if name.startswith(way.driver) and "asks" in name]


@each_way
def test_who_holds_a_device_is_seen_whatever_has_given_it(way: Way) -> None:
    recipe = way.render().recipe
    assert way.resource in recipe.devices.resources
    assert way.device_class in recipe.devices.access.dra_drivers
    assert (recipe.allocations, recipe.usual_allocation) == (
        ("device-plugin", "dra"),
        "device-plugin",
    )


@each_way
@pytest.mark.parametrize(
    ("version", "options", "why"),
    [
        ("1.36.2", {"device_plugin_enabled": False}, "two would give the same GPU away"),
        ("1.33.4", {}, "Kubernetes 1.33.4 does not serve resource.k8s.io/v1"),
    ],
)
def test_what_cannot_be_had_is_said_before_anything_is_written(
    way: Way, version: str, options: dict[str, bool], why: str
) -> None:
    render = way.render
    with pytest.raises(InvalidInput, match=why):
        render(groups=(served("dra"),), cluster={"kubernetes_version": version}, **options)
    assert render(cluster={"kubernetes_version": version}, **options).objects("DaemonSet")


@each_way
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
    way: Way, version: str, options: dict[str, bool], is_named: bool
) -> None:
    rendering = way.render(
        groups=(served("dra"),), cluster={"kubernetes_version": version}, **options
    )
    spec = rendering.one("DeviceClass", way.device_class)["spec"]
    assert spec.get("extendedResourceName") == (way.resource if is_named else None)
