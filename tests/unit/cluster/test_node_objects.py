# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a machine of a profile looks like to the API server: as kubelet and NFD would say it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cluster import node_objects
from tests.cluster.errors import ClusterError
from tests.cluster.node_objects import Machine, node, node_feature
from tests.cluster.profiles import load_profile, profile_names
from tests.cluster.programs import MODULES, module_version

PREFIX = "feature.node.kubernetes.io/"


def machine(
    profile: str = "gpu-h100", kernel: str = "6.8.0-60-generic", os_id: str = "ubuntu"
) -> Machine:
    return Machine("n-1", load_profile(profile), kernel, os_id, "24.04")


@pytest.mark.parametrize("name", profile_names())
def test_every_profile_makes_valid_objects(name: str) -> None:
    profile = load_profile(name)
    assert profile.description
    assert all(isinstance(device.vendor, str) and len(device.vendor) == 4 for device in profile.pci)
    assert all(isinstance(device.device, str) and len(device.device) == 4 for device in profile.pci)
    assert all(
        isinstance(value, str)
        for value in [*profile.capacity.values(), *profile.simulation.values()]
    )
    labels = node_feature(machine(name))["spec"]["labels"]
    assert all(isinstance(value, str) and len(value) <= 63 for value in labels.values())


def test_a_gpu_is_a_label_and_a_device_but_not_yet_a_resource() -> None:
    feature = node_feature(machine())
    assert feature["spec"]["labels"][PREFIX + "pci-0302_10de.present"] == "true"
    devices = [
        item["attributes"]
        for item in feature["spec"]["features"]["instances"]["pci.device"]["elements"]
    ]
    assert devices.count({"class": "0302", "vendor": "10de", "device": "2330"}) == 8
    obj = node(machine(), 1234)
    assert "nvidia.com/gpu" not in obj["status"]["capacity"]
    assert json.loads(obj["metadata"]["annotations"]["sim.hardware-enablement.io/devices"]) == {
        "nvidia.com/gpu": 8
    }
    assert obj["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"] == 1234


def test_network_devices_get_a_label_only_where_nfd_is_told_so() -> None:
    usual = node_feature(machine("gpu-h100"))["spec"]["labels"]
    told = node_feature(machine("nic-mellanox"))["spec"]["labels"]
    assert not [label for label in usual if label.endswith("_15b3.present")]
    assert (
        told[PREFIX + "pci-0200_15b3.present"]
        == told[PREFIX + "pci-0200_15b3.sriov.capable"]
        == "true"
    )


def test_a_machine_without_accelerators() -> None:
    obj = node(machine("cpu-only"), 1)
    assert "sim.hardware-enablement.io/devices" not in obj["metadata"]["annotations"]
    assert not [
        label for label in node_feature(machine("cpu-only"))["spec"]["labels"] if "pci-" in label
    ]


def test_the_node_tells_the_kernel_as_it_is_and_the_label_as_nfd_writes_it() -> None:
    odd = machine(kernel="6.12.107+deb12-cloud-amd64")
    assert node(odd, 1)["status"]["nodeInfo"]["kernelVersion"] == "6.12.107+deb12-cloud-amd64"
    labels = node_feature(odd)["spec"]["labels"]
    assert labels[PREFIX + "kernel-version.full"] == "6.12.107_deb12-cloud-amd64"
    assert [
        labels[PREFIX + f"kernel-version.{part}"] for part in ("major", "minor", "revision")
    ] == ["6", "12", "107"]


def test_a_short_kernel_version() -> None:
    assert node_objects.kernel_features("6.9-rc1") == {
        "full": "6.9-rc1",
        "major": "6",
        "minor": "9",
    }


def test_two_machines_share_no_identity() -> None:
    one, other = node(machine(), 1)["status"]["nodeInfo"], node(machine(), 1)["status"]["nodeInfo"]
    assert not {"bootID", "machineID", "systemUUID"} & {
        key for key in one if one[key] == other[key]
    }


def test_the_versions_that_nodes_tell_are_those_of_the_programs() -> None:
    versions = {module.folder: module_version(module) for module in MODULES}
    assert node(machine(), 1)["status"]["nodeInfo"]["kubeletVersion"] == versions["kubernetes"]
    annotations = node_feature(machine())["metadata"]["annotations"]
    assert annotations["nfd.node.kubernetes.io/worker.version"] == versions["nfd"]


def test_operating_systems() -> None:
    assert node_objects.parse_os("rhel:9.6") == ("rhel", "9.6")
    assert node_objects.os_features("debian", "12") == {
        "ID": "debian",
        "VERSION_ID": "12",
        "VERSION_ID.major": "12",
    }
    for build, os_id, version in (
        ("416.94.202410211619-0", "rhcos", "4.16"),
        ("9.6.20250805-0", "rhel", "9.6"),
    ):
        found = node_objects.os_features("rhcos", build)
        assert (found["ID"], found["VERSION_ID"]) == (os_id, version)
        assert found["OSTREE_VERSION"] == build
    for wrong in ("ubuntu", "Ubuntu:24.04", "ubuntu:", "ubuntu:jammy"):
        with pytest.raises(ClusterError, match="names no operating system"):
            node_objects.parse_os(wrong)


def test_selinux_systems_are_labelled() -> None:
    assert (
        node_feature(machine(os_id="rhel"))["spec"]["labels"][PREFIX + "kernel-selinux.enabled"]
        == "true"
    )
    assert PREFIX + "kernel-selinux.enabled" not in node_feature(machine())["spec"]["labels"]


def test_usable_means_ready_and_without_a_lifecycle_taint() -> None:
    obj = node(machine("gpu-a100"), 1)
    assert node_objects.is_usable(obj)  # its own taint does not matter
    obj["spec"]["taints"].append({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"})
    assert not node_objects.is_usable(obj)
    assert node_objects.is_usable(node_objects.control_plane_node())
    assert not node_objects.is_usable({"spec": {}, "status": {}})


def test_an_unknown_profile_is_answered_with_those_that_exist() -> None:
    with pytest.raises(ClusterError, match=r"choose one of .*gpu-h100"):
        load_profile("gpu-h1000")


@pytest.mark.parametrize("text", ["arch: amd64\n", "cpu: {flags: []}\nunknown: 1\n"])
def test_a_profile_that_is_not_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "odd.yaml").write_text(text)
    with pytest.raises(ClusterError, match="does not fit"):
        load_profile("odd", tmp_path)
