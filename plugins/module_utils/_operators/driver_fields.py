# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields that the driver has in ClusterPolicy (spec.driver) and in NVIDIADriver (spec) alike, as
options of the recipe nvidia-gpu. Pure.

Fields: api/nvidia/v1 and v1alpha1 of NVIDIA/gpu-operator, v26.7.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .field_mapping import (
    Fields,
    JoinedField,
    MappedField,
    MappedOptions,
    UnmappedField,
    environment,
)

_IMAGE = "driver_image, or driver_repository with driver_version or driver_branch"
_PROBE = UnmappedField("the driver's startup probe is the recipe's; it has no other")
_GUEST = UnmappedField("virtual GPUs are not what the recipe serves")
_IN_IMAGE = (
    "the driver's container gets no files of a ConfigMap; driver_build makes an image that has them"
)

DRIVER_FIELDS: Fields = {
    "usePrecompiled": MappedField("driver_precompiled"),
    "useOpenKernelModules": MappedField(
        "driver_kernel_module_type", lambda value: "open" if value else None
    ),
    "kernelModuleType": MappedField("driver_kernel_module_type"),
    "repository": JoinedField(_IMAGE),
    "image": JoinedField(_IMAGE),
    "version": JoinedField(_IMAGE),
    "imagePullPolicy": UnmappedField(
        "images are pulled where they are not there", differs=True, harmless=("IfNotPresent",)
    ),
    "imagePullSecrets": MappedField(
        "image_pull_secrets", lambda names: [str(name) for name in names]
    ),
    "resources": MappedField("resources.driver"),
    "env": MappedField("env.driver", environment),
    "args": UnmappedField("the driver's container has the recipe's arguments"),
    "hostNetwork": UnmappedField("the driver's pod has a network of its own", harmless=(False,)),
    "startupProbe": _PROBE,
    "livenessProbe": _PROBE,
    "readinessProbe": _PROBE,
    "rdma": UnmappedField(
        "the container for GPUDirect RDMA (nvidia-peermem) goes with the next exchange"
    ),
    "manager": UnmappedField(
        "upgrade frees a node itself before its driver is exchanged", differs=True
    ),
    "upgradePolicy": UnmappedField(
        "upgrade exchanges drivers when it is run, as its variables say", differs=True
    ),
    "repoConfig": UnmappedField(_IN_IMAGE),
    "certConfig": UnmappedField(_IN_IMAGE),
    "kernelModuleConfig": UnmappedField(_IN_IMAGE),
    "secretEnv": UnmappedField("no Secret becomes the driver's environment"),
    "licensingConfig": _GUEST,
}


def take_driver_image(found: MappedOptions, driver: Mapping[str, Any], prefix: str = "") -> None:
    """Add what repository, image and version of a driver mean: a digest names an image, anything
    else the first part of a tag that ends with the operating system."""
    path, version = _path(driver), str(driver.get("version") or "")
    folder, _slash, name = path.rpartition("/")
    if version.startswith("sha256:"):
        found.options["driver_image"] = f"{path}@{version}"
        return
    if name not in ("", "driver"):
        found.taken.pop(f"{prefix}image", None)
        found.dropped[f"{prefix}image"] = (
            f"driver images are called driver here, and this one {name}; name yours in driver_images"
        )
        return
    if folder:
        found.options["driver_repository"] = folder
    if version:
        branch = bool(driver.get("usePrecompiled"))
        found.options["driver_branch" if branch else "driver_version"] = version


def _path(driver: Mapping[str, Any]) -> str:
    return "/".join(filter(None, (str(driver.get(key) or "") for key in ("repository", "image"))))
