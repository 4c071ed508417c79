# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipes that are enabled all at once on one cluster, each with a machine of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Obj = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Vendor:
    """A recipe, a machine that it is for, and what becomes of that: allocatable resources, labels."""

    recipe: str
    profile: str
    allocatable: dict[str, str]
    labels: tuple[str, ...] = ()
    options: Obj = field(default_factory=dict)
    brings_driver: bool = True
    pools: tuple[Obj, ...] = ()

    @property
    def node(self) -> str:
        """Its node's name."""
        return f"{self.profile}-1"

    def has(self, key: str, obj: Obj) -> bool:
        """Whether an object of a dump belongs to the recipe or to its node."""
        labels = obj["metadata"].get("labels", {})
        named = self.recipe in key or self.profile in key
        return named or labels.get("hardware-enablement.io/recipe") == self.recipe

    @property
    def variables(self) -> Obj:
        """What a run is given."""
        return {
            "hardware_enablement_recipe": self.recipe,
            "hardware_enablement_options": self.options,
            "hardware_enablement_pools": list(self.pools),
        }


# The pods of simulated nodes answer no requests, so there are no metrics to read.
NO_METRICS = {"exporter_validation": False}
VENDORS = (
    Vendor(
        "nvidia-gpu",
        "gpu-h100",
        {"nvidia.com/gpu": "8"},
        ("nvidia.com/gpu.product",),
        NO_METRICS,
        brings_driver=False,
    ),
    Vendor(
        "amd-gpu",
        "gpu-mi300x",
        {"amd.com/gpu": "8"},
        ("amd.com/gpu.device-id", "amd.com/gpu.vram"),
        NO_METRICS,
        pools=(
            {
                "name": "driven",
                "selector": {"matchLabels": {"example.com/driver": "amd"}},
                "options": {
                    "driver_enabled": True,
                    "driver_repository": "registry.example.com/amdgpu-driver",
                },
            },
        ),
    ),
    Vendor(
        "intel-gpu",
        "gpu-b580",
        {"gpu.intel.com/xe": "2", "gpu.intel.com/monitoring": "1"},
        ("gpu.intel.com/device.count", "gpu.intel.com/device-id.0300-e20b.present"),
        NO_METRICS,
    ),
    Vendor("intel-gaudi", "gaudi3", {"habana.ai/gaudi": "8"}, (), NO_METRICS),
    Vendor(
        "xilinx-fpga",
        "fpga",
        {"amd.com/xilinx_u250": "2"},
        (),
        {"validation_resource": "amd.com/xilinx_u250"},
    ),
    # It offers nothing to the cluster; and it extends runtime-hook.
    Vendor("onload", "nic-solarflare", {}),
)
