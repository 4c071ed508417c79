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
    EnabledField,
    Fields,
    MappedField,
    MappedOptions,
    ReadField,
    Switches,
    UnmappedField,
    environment,
)

_IMAGE = "driver"
# By which an image is named, in this order.
_IMAGE_KEYS = ("repository", "image", "version")
_PROBE = UnmappedField("the driver's startup probe is the recipe's; it has no other")
_IN_IMAGE = (
    "the driver's container gets no files of a ConfigMap; driver_build makes an image that has them"
)

DRIVER_FIELDS: Fields = {
    "usePrecompiled": MappedField("driver_precompiled"),
    "useOpenKernelModules": ReadField(),
    "kernelModuleType": MappedField("driver_kernel_module_type"),
    "repository": ReadField(),
    "image": ReadField(),
    "version": ReadField(),
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
    "licensingConfig": UnmappedField(
        "virtual GPUs are not what the recipe serves",
        harmless=({"nlsEnabled": True}, {"nlsEnabled": False}),
    ),
}
DRIVER_SWITCHES: Switches = {"rdma": EnabledField(default=False)}


def read_driver(found: MappedOptions, driver: Mapping[str, Any], at: str = "") -> None:
    """Add what fields of a driver mean together. at: what its fields are below."""
    _read_modules(found, driver, at)
    given = {key: str(driver[key]) for key in _IMAGE_KEYS if driver.get(key)}
    if reference := _whole_reference(given):
        for key in given:
            found.take(f"{at}{key}", "driver_image", reference)
        return
    folder, _slash, name = given.get("image", "").rpartition("/")
    if name not in ("", _IMAGE):
        other = UnmappedField(
            f"driver images are called {_IMAGE} here, and this one {name}; name yours in driver_images"
        )
        for key in given:
            found.drop(f"{at}{key}", other)
        return
    _read_parts(found, driver, given, folder, at)


def _read_parts(
    found: MappedOptions, driver: Mapping[str, Any], given: Mapping[str, str], folder: str, at: str
) -> None:
    """Repository, image and version where the system of the node completes the tag. folder: of the
    image's own name."""
    repository = "/".join(filter(None, (given.get("repository", ""), folder)))
    if repository:
        for key, is_part in (("repository", "repository" in given), ("image", bool(folder))):
            if is_part:
                found.take(f"{at}{key}", "driver_repository", repository)
    if "image" in given and not folder:
        found.ignore(f"{at}image", f"driver images are called {_IMAGE} here, too")
    if "version" in given:
        option = "driver_branch" if driver.get("usePrecompiled") else "driver_version"
        found.take(f"{at}version", option, given["version"])


def _read_modules(found: MappedOptions, driver: Mapping[str, Any], at: str) -> None:
    """The older of two fields for one thing counts where the newer one is not set."""
    path, wanted = f"{at}useOpenKernelModules", driver.get("useOpenKernelModules")
    if wanted is None:
        return
    if driver.get("kernelModuleType"):
        found.ignore(path, f"{at}kernelModuleType says it, and the operator heeds that alone")
    else:
        found.take(path, "driver_kernel_module_type", "open" if wanted else None)


def _whole_reference(given: Mapping[str, str]) -> str:
    """The reference of an image that is named whole, by a digest or by nothing but image; "" where
    the system of the node completes it."""
    image, version = given.get("image", ""), given.get("version", "")
    if image and version.startswith("sha256:"):
        return "/".join(filter(None, (given.get("repository", ""), f"{image}@{version}")))
    is_whole = given.keys() == {"image"} and (":" in image.rpartition("/")[2] or "@" in image)
    return image if is_whole else ""
