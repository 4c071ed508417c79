# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Containers beside the driver's of recipes/nvidia-gpu: GPUDirect Storage, GDRCopy, peer memory."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import group_of
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import (
    Obj,
    container,
    env_of,
    host_paths,
    pod_spec,
)

BOTH = {"gds_enabled": True, "gdrcopy_enabled": True}
# Name -> its variable for whoever compiles, and its program with OpenShift's Driver Toolkit
# (manifests/state-driver/0500_daemonset.yaml of NVIDIA/gpu-operator, v26.7.0).
UPSTREAM = {
    "gds": ("GDS_ENABLED", "nv-fs-ctr-run-with-dtk"),
    "gdrcopy": ("GDRCOPY_ENABLED", "gdrcopy-ctr-run-with-dtk"),
}
UBUNTU = group_of("ubuntu", "6.8.0-60-generic")
RHCOS = group_of(
    "rhcos", "5.14.0-570.28.1.el9_6.x86_64", os_id="rhcos", os_version="4.19", os_build="9.6.1-0"
)
OPENSHIFT: Obj = {
    "platform": "openshift",
    "groups": (RHCOS,),
    "cluster": {"openshift_version": "4.19.7"},
    "driver_toolkits": {"9.6.1-0": "quay.io/toolkit:1"},
}


def driver(nvidia_gpu: Any, **options: Any) -> Obj:
    """The driver's DaemonSet."""
    (found,) = nvidia_gpu(**{"groups": (UBUNTU,), **options}).objects("DaemonSet", "driver")
    return found["spec"]["template"]


def mounts(item: Obj) -> dict[str, str]:
    """Path in a container -> name of its volume."""
    return {mount["mountPath"]: mount["name"] for mount in item["volumeMounts"]}


def test_modules_are_made_beside_the_driver(nvidia_gpu: Any) -> None:
    assert [item["name"] for item in driver(nvidia_gpu)["spec"]["containers"]] == ["driver"]
    spec = driver(nvidia_gpu, **BOTH)["spec"]
    for name, (variable, _program) in UPSTREAM.items():
        item = container(spec, name)
        assert item["image"].endswith("-ubuntu24.04")
        assert "/run/nvidia/driver/usr/src" in item["args"][0]
        assert mounts(item)["/run/nvidia"] == "run-nvidia"
        assert env_of(container(spec, "driver"))[variable] == "true"
    digest = "registry.example.org/fs@sha256:" + "0" * 64
    named = driver(nvidia_gpu, gds_enabled=True, gds_image=digest)["spec"]
    assert container(named, "gds")["image"] == digest


def test_with_a_driver_toolkit_they_are_made_there(nvidia_gpu: Any) -> None:
    spec = driver(nvidia_gpu, driver_rdma="container", **BOTH, **OPENSHIFT)["spec"]
    toolkit = container(spec, "driver-toolkit")
    for name, (variable, program) in UPSTREAM.items():
        item = container(spec, name)
        assert item["command"] == ["ocp_dtk_entrypoint", program]
        assert mounts(item)["/mnt/shared-nvidia-driver-toolkit"] == "driver-toolkit"
        assert env_of(toolkit)[variable] == "true"
    assert env_of(toolkit)["GPU_DIRECT_RDMA_ENABLED"] == "true"
    assert mounts(toolkit)["/run/mellanox/drivers/usr/src"] == "mofed-sources"


@pytest.mark.parametrize(
    ("rdma", "sources", "variable"),
    [("container", "/run/mellanox/drivers/usr/src", None), ("host", "/usr/src", "true")],
)
def test_peer_memory_knows_whose_the_network_drivers_are(
    nvidia_gpu: Any, rdma: str, sources: str, variable: str | None
) -> None:
    spec = driver(nvidia_gpu, driver_rdma=rdma)["spec"]
    assert host_paths(spec)["mofed-sources"] == sources
    for name in ("driver", "peermem"):
        item = container(spec, name)
        assert env_of(item).get("USE_HOST_MOFED") == variable
        assert mounts(item)["/run/mellanox/drivers"] == "mofed"
    peermem = container(spec, "peermem")
    assert peermem["image"] == container(spec, "driver")["image"]
    assert peermem["command"] == ["nvidia-driver", "reload_nvidia_peermem"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, set()),
        ({"gdrcopy_enabled": True}, {"GDRCOPY_ENABLED"}),
        # controllers/object_controls.go of NVIDIA/gpu-operator, v26.7.0: with the network cards' nodes.
        ({"gds_enabled": True}, {"GDS_ENABLED", "MOFED_ENABLED"}),
        (BOTH, {"GDRCOPY_ENABLED", "GDS_ENABLED", "MOFED_ENABLED"}),
    ],
)
def test_who_gets_a_gpu_gets_the_device_nodes_of_what_is_beside(
    nvidia_gpu: Any, options: Obj, told: set[str]
) -> None:
    spec = pod_spec(nvidia_gpu(groups=(UBUNTU,), **options), "nvidia-device-plugin")
    env = env_of(container(spec, "device-plugin"))
    assert {
        name for name, value in env.items() if (name.endswith("_ENABLED"), value) == (True, "true")
    } == told


def test_what_is_beside_a_driver_is_part_of_what_it_is(nvidia_gpu: Any) -> None:
    def digest(**options: Any) -> str:
        annotations = driver(nvidia_gpu, **options)["metadata"]["annotations"]
        return str(annotations["hardware-enablement.io/driver"])

    found = {digest(), digest(gds_enabled=True), digest(**BOTH), digest(driver_rdma="host")}
    assert len(found) == 4
    assert digest(gds_image="example.com/other:1") == digest()


@pytest.mark.parametrize("option", [*BOTH])
@pytest.mark.parametrize("driver_option", ["driver_precompiled", "driver_build"])
def test_a_precompiled_driver_has_no_sources_for_them(
    nvidia_gpu: Any, option: str, driver_option: str
) -> None:
    more = {driver_option: True, "driver_build_repository": "registry.example.org/driver"}
    nvidia_gpu(driver_rdma="container", **more)
    with pytest.raises(InvalidInput, match=f"{option} makes its module of the sources"):
        nvidia_gpu(**{option: True}, **more)
