# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays recipe nvidia-gpu beside a registry with driver images, as NVIDIA's has them."""

from __future__ import annotations

from typing import Any

from tests.integration.driver_bed import SECRET, DriverBed, Obj


class GpuBed(DriverBed):
    """nvidia-gpu, whose images are looked up in the registry."""

    recipe = "nvidia-gpu"
    nodes = "feature.node.kubernetes.io/pci-0302_10de.present=true"

    def options(self, **others: Any) -> Obj:
        """Images that are compiled are wanted, and those that compile taken where there are none."""
        return {
            "driver_lookup": True,
            "driver_precompiled": True,
            "driver_repository": f"{self.registry.address}/nvidia",
            "image_pull_secrets": [SECRET],
            **others,
        }

    def publish(
        self, kernel: str, version: str = "", os: str = "ubuntu24.04", **labels: str
    ) -> str:
        """Push an image as NVIDIA does: the tag and one label tell branch and kernel; returns its
        digest."""
        labels = {"version": version or f"595-{kernel}", **labels}
        return self.images.push("nvidia/driver", f"595-{kernel}-{os}", labels=labels)

    def publish_compiling(self, os: str) -> str:
        """Push the image that compiles on the node, as NVIDIA does; returns its digest."""
        return self.images.push("nvidia/driver", f"595.91.07-{os}")
