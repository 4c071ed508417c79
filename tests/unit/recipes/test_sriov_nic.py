# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What options of sriov-nic change."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import (
    GROUPS,
    OPENSHIFT_APIS,
    REPO,
    Render,
    renderer,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import (
    env_of,
    host_paths,
    names,
    pod_spec,
)

POLICY: dict[str, Any] = {"name": "fast", "virtual_functions": 8}
MULTUS = "k8s.cni.cncf.io/v1/NetworkAttachmentDefinition"


@pytest.fixture(scope="module")
def sriov_nic() -> Render:
    """Renders the recipe."""
    return renderer(REPO / "recipes" / "sriov-nic")


def test_policies_are_lines_of_words(sriov_nic: Render) -> None:
    chosen = {"vendor": "15b3", "devices": ["1021", "a2dc"], "interfaces": ["ens1"], "rdma": True}
    rendering = sriov_nic(
        policies=[{**POLICY, **chosen}, {**POLICY, "name": "rest", "driver": "vfio-pci"}]
    )
    (program,) = pod_spec(rendering, "virtual-functions")["initContainers"]
    assert env_of(program)["POLICIES"].split("\n") == [
        "fast 15b3 1021,a2dc ens1 8 kernel true",
        "rest * * * 8 vfio-pci false",
        "",
    ]


def test_a_network_is_what_multus_hands_to_sriov_cni(sriov_nic: Render) -> None:
    networks = [
        {"name": "storage", "policy": "fast", "config": {"vlan": 100, "ipam": {"type": "dhcp"}}},
        {"name": "plain", "policy": "fast", "namespace": "apps"},
    ]
    rendering = sriov_nic(policies=[POLICY], networks=networks, apis=frozenset({MULTUS}))
    storage, plain = rendering.objects("NetworkAttachmentDefinition")
    assert json.loads(storage["spec"]["config"]) == {
        "cniVersion": "1.0.0",
        "name": "storage",
        "type": "sriov",
        "vlan": 100,
        "ipam": {"type": "dhcp"},
    }
    resource = "sriov.hardware-enablement.io/fast"
    assert storage["metadata"]["annotations"]["k8s.v1.cni.cncf.io/resourceName"] == resource
    assert [each["metadata"]["namespace"] for each in (storage, plain)] == ["sriov-nic", "apps"]
    without = sriov_nic(policies=[POLICY], networks=networks)
    assert "cni/networks.yaml.j2" in without.skipped()


def test_cni_goes_where_the_runtime_looks(sriov_nic: Render) -> None:
    def folder(runtime: str, **options: Any) -> str:
        groups = [replace(GROUPS[0], runtime=runtime)]
        rendering = sriov_nic(policies=[POLICY], groups=groups, **options)
        (name,) = {each for each in names(rendering, "DaemonSet") if each.startswith("sriov-cni")}
        return host_paths(pod_spec(rendering, name))["programs"]

    assert folder("containerd") == "/opt/cni/bin"
    assert folder("cri-o") == "/var/lib/cni/bin"
    assert folder("cri-o", cni_folder="/usr/libexec/cni") == "/usr/libexec/cni"


def test_only_the_device_plugin_is_privileged_and_openshift_is_told(sriov_nic: Render) -> None:
    rendering = sriov_nic(policies=[POLICY], platform="openshift", apis=OPENSHIFT_APIS)
    privileged = {
        item["metadata"]["name"]: item["allowPrivilegedContainer"]
        for item in rendering.objects("SecurityContextConstraints")
    }
    assert privileged == {
        "sriov-nic-virtual-functions": False,
        "sriov-nic-device-plugin": True,
        "sriov-nic-cni": False,
    }
    runs = {
        state
        for state, spec in rendering.pod_specs()
        for each in spec["containers"]
        if each["securityContext"].get("privileged")
    }
    assert runs == {"device_plugin"}


def test_a_pod_asks_for_a_function_of_the_first_policy(sriov_nic: Render) -> None:
    (container,) = sriov_nic(policies=[POLICY]).pod("device_plugin_validation")["spec"][
        "containers"
    ]
    assert container["resources"]["limits"] == {"sriov.hardware-enablement.io/fast": 1}
    assert not list(sriov_nic(policies=[POLICY], validation_enabled=False).validation_pods())
