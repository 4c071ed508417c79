# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipes/nvidia-gpu-passthrough: its scripts, run by a real shell on a folder that looks like sysfs.
NVIDIA's vfio-manage is a program that binds what the folder lets it bind."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import REPO, renderer
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import container, pod_spec

PASSTHROUGH = renderer(REPO / "recipes" / "nvidia-gpu-passthrough")
BIND = """#!/bin/sh
echo "$*" >> "$NODE/calls"
for device in "$NODE"/sys/bus/pci/devices/*; do
  [ -e "$device/stays" ] || ln -sfn /sys/bus/pci/drivers/vfio-pci "$device/driver"
done
"""


class Node:
    """A node's GPUs and IOMMU."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "sys/kernel/iommu_groups/1").mkdir(parents=True)
        (folder / "bin").mkdir()
        (folder / "bin/vfio-manage").write_text(BIND)
        (folder / "bin/vfio-manage").chmod(0o755)

    def device(self, address: str, driver: str = "", **files: str) -> Path:
        """A PCI device, a GPU unless its class says otherwise."""
        made = self.folder / "sys/bus/pci/devices" / address
        made.mkdir(parents=True)
        for name, text in {"vendor": "0x10de", "class": "0x030200", **files}.items():
            (made / name.rstrip("_")).write_text(f"{text}\n")
        if driver:
            (made / "driver").symlink_to(f"/sys/bus/pci/drivers/{driver}")
        group = made / "iommu_group"
        group.symlink_to(self.folder / "sys/kernel/iommu_groups/1")
        devices = self.folder / "sys/kernel/iommu_groups/1/devices"
        devices.mkdir(exist_ok=True)
        (devices / address).symlink_to(made)
        return made

    def run(self, spec: dict[str, Any], name: str) -> tuple[int, str]:
        """Exit code and words of a container's script, which would wait for ever where all is well."""
        script = container(spec, name)["args"][0]
        for path in ("/sys/", "/run/vfio/"):
            script = script.replace(path, f"{self.folder}{path}")
        (self.folder / "run/vfio").mkdir(parents=True, exist_ok=True)
        script = script.replace("while true; do nap 3600; done", "exit 0")
        env = {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "NODE": str(self.folder)}
        ran = subprocess.run(
            ["/bin/sh", "-c", script], env=env, capture_output=True, text=True, check=False
        )
        return ran.returncode, ran.stdout + ran.stderr

    def bind(self) -> tuple[int, str]:
        """Run what binds GPUs."""
        return self.run(pod_spec(PASSTHROUGH(), "nvidia-vfio"), "vfio")

    @property
    def is_ready(self) -> bool:
        """Whether the readiness probe passes."""
        return (self.folder / "run/vfio/ready").exists()


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """A node with an IOMMU, and no GPU yet."""
    return Node(tmp_path)


def test_gpus_are_bound_and_others_are_not_asked_for(node: Node) -> None:
    node.device("0000:01:00.0", "nouveau")
    node.device("0000:02:00.0", "mlx5_core", vendor="0x15b3", class_="0x020000")
    code, said = node.bind()
    assert (code, said) == (0, "GPU 0000:01:00.0 is bound to vfio-pci\n")
    assert node.is_ready
    assert (node.folder / "calls").read_text() == "bind --all\n"


def test_one_that_is_not_bound_fails_though_the_program_only_warns(node: Node) -> None:
    node.device("0000:01:00.0", "nouveau", stays="")
    code, said = node.bind()
    assert code == 1
    assert "GPU 0000:01:00.0 is not bound to vfio-pci, but to nouveau; have the kernel" in said
    assert not node.is_ready


def test_a_driver_in_use_is_not_taken_away(node: Node) -> None:
    node.device("0000:01:00.0", "nvidia")
    (node.folder / "sys/module/nvidia/holders/nvidia_uvm").mkdir(parents=True)
    code, said = node.bind()
    assert code == 1
    assert "which is in use; take the node out of the recipe nvidia-gpu" in said
    assert not (node.folder / "calls").exists()


def test_without_an_iommu_nothing_is_bound(node: Node) -> None:
    (node.folder / "sys/kernel/iommu_groups/1").rmdir()
    code, said = node.bind()
    assert code == 1
    assert "the node has no IOMMU" in said
    assert not (node.folder / "calls").exists()


def test_a_group_is_one_machine_s(node: Node) -> None:
    pod = PASSTHROUGH().pod("vfio_validation")
    node.device("0000:00:01.0", "pcieport", vendor="0x8086", class_="0x060400")
    assert node.run(pod["spec"], "vfio") == (1, "the node has no GPU of NVIDIA\n")
    node.device("0000:01:00.0", "vfio-pci")
    assert node.run(pod["spec"], "vfio") == (0, " 0000:01:00.0\n")
    node.device("0000:01:00.1", "snd_hda_intel", class_="0x040300")
    code, said = node.run(pod["spec"], "vfio")
    assert code == 1
    assert "shares its IOMMU group with 0000:01:00.1, which snd_hda_intel has" in said
