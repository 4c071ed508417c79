# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from tests.cluster.simulation.operands import fits_kernel, image_version
from tests.unit.cluster.simulation.objects import CUDA, DRIVER, PLUGIN, TOOLKIT, pod


@pytest.mark.parametrize(
    ("image", "more", "role"),
    [
        (DRIVER, {}, "driver"),
        ("registry.test:5000/he/nvidia-driver-5.15.0-1:1", {}, "driver"),
        ("nvcr.io/nvidia/cloud-native/k8s-driver-manager:v0.12", {}, "other"),
        (TOOLKIT, {}, "runtime-hook"),
        (PLUGIN, {"command": ["nvidia-device-plugin"]}, "device-plugin"),
        (PLUGIN + "@sha256:abc", {}, "device-plugin"),
        (PLUGIN, {"command": ["gpu-feature-discovery"]}, "feature-discovery"),
        (CUDA, {}, "driver-validator"),
        (CUDA, {"gpus": 1}, "plugin-validator"),
        (CUDA, {"command": ["chroot", "/host", "nvidia-smi", "-L"]}, "host-driver-validator"),
        (CUDA, {"command": ["nvidia-smi", "-L"]}, "driver-validator"),
        ("nvcr.io/nvidia/k8s/dcgm-exporter:4.6.0-4.8.3-distroless", {}, "exporter"),
        ("docker.io/grafana/grafana:12.4.1", {}, "other"),
        ("docker.io/rocm/k8s-device-plugin:1.31.0.8", {}, "device-plugin"),
        ("docker.io/rocm/k8s-device-plugin:labeller-1.31.0.8", {}, "feature-discovery"),
    ],
)
def test_a_pod_is_known_by_image_command_and_request(image: str, more: dict, role: str) -> None:  # type: ignore[type-arg]
    assert pod(image, **more).operand.role == role


def test_a_role_that_a_stack_has_nobody_for_is_not_waited_for() -> None:
    assert pod(PLUGIN, command=["nvidia-device-plugin"]).operand.requires == (
        "driver",
        "runtime-hook",
    )
    assert pod("docker.io/rocm/k8s-device-plugin:1.31.0.8").operand.requires == ("driver",)


@pytest.mark.parametrize(
    ("image", "kernel", "fits"),
    [
        ("x/driver:580-5.15.0-1-generic-ubuntu22.04", "5.15.0-1-generic", True),
        ("x/driver:580-5.15.0-1-generic-ubuntu22.04", "5.15.0-2-generic", False),
        ("x/driver:580-5.15.0-10-ubuntu22.04", "5.15.0-1", False),
        ("x/driver:580-5.14.0-570.el9.x86_64-rhel9.6", "5.14.0-570.el9.x86_64", True),
        # A plus sign is no tag character.
        ("x/driver:580-6.12.107-deb12-amd64-debian12", "6.12.107+deb12-amd64", True),
        ("x/driver-6.1.0-20:1", "6.1.0-20", True),
        # Compiled on the node: the tag names no kernel.
        ("x/driver:580.95.05-ubuntu22.04", "5.15.0-1-generic", True),
        ("x/driver@sha256:0123", "5.15.0-1-generic", True),
    ],
)
def test_a_driver_image_fits_the_kernel_that_it_names(image: str, kernel: str, fits: bool) -> None:
    assert fits_kernel(image, kernel) is fits


def test_the_driver_version_is_the_start_of_the_tag() -> None:
    assert image_version(DRIVER) == "580.95.05"
    assert image_version("r:5000/x/driver:595-6.8.0-60-generic-ubuntu24.04") == "595"
    assert image_version("x/driver@sha256:0123") == ""


def test_a_pod_names_its_own_behaviour() -> None:
    made = pod(
        "x",
        annotations={
            "simulation.hardware-enablement.test/behaviour": "fail",
            "simulation.hardware-enablement.test/exit-code": "3",
        },
    )
    assert made.behaviour is not None
    assert (made.behaviour.name, made.behaviour.exit_code) == ("fail", 3)
    wrong = pod("x", annotations={"simulation.hardware-enablement.test/behaviour": "dance"})
    assert wrong.behaviour is not None
    assert "dance" in wrong.behaviour.message
