# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What options of sriov-nic change."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
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
# As the recipe's page has it.
EXTENDED = (
    (REPO / "recipes" / "sriov-nic" / "README.md")
    .read_text()
    .partition("# my-nic/recipe.yml\n")[2]
    .partition("```")[0]
)
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
        'fast 15b3 1021,a2dc ens1 * * 8 kernel - - - false , "isRdma": true',
        'rest * * * * * 8 vfio-pci - - - false , "drivers": ["vfio-pci"]',
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
        system = replace(GROUPS[0].system, runtime=runtime)
        groups = [replace(GROUPS[0], system=system)]
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


SWITCH = {**POLICY, "eswitch_mode": "switchdev"}
TOOLS = "registry.example.com/network-tools:1"


@pytest.mark.parametrize(
    ("policy", "host_network", "privileged", "capabilities"),
    [
        (POLICY, False, False, []),
        ({**POLICY, "mtu": 9000}, False, False, ["NET_ADMIN"]),
        (SWITCH, True, False, ["NET_ADMIN"]),
        ({**POLICY, "link_type": "infiniband"}, True, False, ["NET_ADMIN"]),
        ({**POLICY, "firmware": True}, False, True, []),
    ],
)
def test_the_pod_may_what_its_policies_need(
    sriov_nic: Render,
    policy: dict[str, Any],
    host_network: bool,
    privileged: bool,
    capabilities: list[str],
) -> None:
    rendering = sriov_nic(
        platform="openshift", apis=OPENSHIFT_APIS, policies=[policy], tools_image=TOOLS
    )
    spec = pod_spec(rendering, "virtual-functions")
    (program,) = spec["initContainers"]
    security = program["securityContext"]
    assert spec.get("hostNetwork", False) is host_network
    assert security.get("privileged", False) is privileged
    assert security.get("capabilities", {}).get("add", []) == capabilities
    allowed = rendering.one("SecurityContextConstraints", "sriov-nic-virtual-functions")
    assert allowed["allowHostNetwork"] is host_network
    assert allowed["allowPrivilegedContainer"] is privileged
    assert allowed["allowedCapabilities"] == capabilities


def test_programs_come_from_the_image_that_has_them(sriov_nic: Render) -> None:
    spec = pod_spec(sriov_nic(policies=[SWITCH], tools_image=TOOLS), "virtual-functions")
    assert [item["image"] for item in spec["initContainers"]] == [TOOLS]
    assert spec["containers"][0]["image"].startswith("ghcr.io/k8snetworkplumbingwg/sriov-cni:")


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"mtuu": 9000}, "policy fast has mtuu, which policies do not have"),
        ({"mtu": "big"}, 'mtu of policy fast is "big"; give it a number'),
        ({"link_type": "ib"}, 'link_type of policy fast is "ib"; give it ethernet or infiniband'),
        ({"driver": "uio"}, 'driver of policy fast is "uio"; give it kernel or vfio-pci'),
        ({"vdpa_type": "vhost"}, "functions become vDPA devices with eswitch_mode switchdev"),
        (
            {"vdpa_type": "vhost", "eswitch_mode": "switchdev", "rdma": True},
            "policy fast has vdpa_type and rdma",
        ),
        ({"eswitch_mode": "switchdev"}, "policy fast has eswitch_mode, whose programs no image"),
        ({"link_type": "infiniband"}, "policy fast has link_type, whose programs no image"),
        ({"firmware": True}, "policy fast has firmware, whose programs no image"),
    ],
)
def test_what_no_node_can_have_is_refused_before_anything_is_written(
    sriov_nic: Render, policy: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        sriov_nic(policies=[{**POLICY, **policy}])
    assert said in str(refused.value)


def test_infiniband_has_a_cni_program_of_its_own(sriov_nic: Render) -> None:
    policies = [{**POLICY, "link_type": "infiniband"}, {**POLICY, "name": "other"}]
    networks = [{"name": "a", "policy": "fast"}, {"name": "b", "policy": "other"}]
    rendering = sriov_nic(
        policies=policies, networks=networks, tools_image=TOOLS, apis=frozenset({MULTUS})
    )
    types = [
        json.loads(each["spec"]["config"])["type"]
        for each in rendering.objects("NetworkAttachmentDefinition")
    ]
    assert types == ["ib-sriov", "sriov"]
    (name,) = {each for each in names(rendering, "DaemonSet") if each.startswith("sriov-cni")}
    programs = pod_spec(rendering, name)["containers"]
    assert [each["readinessProbe"]["exec"]["command"][-1] for each in programs] == [
        "/host/programs/sriov",
        "/host/programs/ib-sriov",
    ]


def test_another_prefix_is_that_of_a_recipe_that_extends_this_one(
    tmp_path: Path, render_folder: Callable[[Path], Render]
) -> None:
    folder = tmp_path / "my-nic"
    folder.mkdir()
    (tmp_path / "sriov-nic").symlink_to(REPO / "recipes" / "sriov-nic")
    (folder / "recipe.yml").write_text(EXTENDED)
    rendering = render_folder(folder)(policies=[POLICY])
    assert rendering.recipe.devices.resources == ("openshift.io/*",)
    (program,) = pod_spec(rendering, "virtual-functions")["initContainers"]
    assert env_of(program)["PREFIX"] == "openshift.io"
    (container,) = rendering.pod("device_plugin_validation")["spec"]["containers"]
    assert container["resources"]["limits"] == {"openshift.io/fast": 1}
