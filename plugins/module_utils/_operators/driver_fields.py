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

from .._json import part
from .field_mapping import (
    EnabledField,
    FieldMapping,
    Fields,
    MappedField,
    MappedOptions,
    ReadField,
    SkippedField,
    Switches,
    UnmappedField,
    environment,
    image_reference,
)

_IMAGE = "driver"
# By which an image is named, in this order.
_IMAGE_KEYS = ("repository", "image", "version")
# Another text than these is what it is anyway, to the operator too.
_PULLED = ("Always", "Never")
_PROBED = ("failureThreshold", "initialDelaySeconds", "periodSeconds", "timeoutSeconds")
REPOSITORIES = MappedField("driver_repositories_config_map")
NO_IMAGE = UnmappedField("repository, image and version make an image together, and one is missing")
LABELS = UnmappedField(
    "pods are found by the recipe's labels and annotations; an admission policy can add others"
)
RIGHTS = UnmappedField(
    "the recipe gives each container the rights that its program needs, and no more"
)
NO_EFFECT = SkippedField("it has no effect in the operator either")
_PROBE = UnmappedField(
    "a startup probe waits for the driver, and every run asks by its proofs whether it is still there"
)


def _beside(name: str) -> dict[str, FieldMapping]:
    """What is said of a container beside the driver's."""
    return {
        f"{name}.enabled": MappedField(f"{name}_enabled", lambda on: on or None),
        **{f"{name}.{key}": ReadField() for key in _IMAGE_KEYS},
        f"{name}.imagePullPolicy": UnmappedField(
            "images beside the driver's are pulled where they are not there",
            differs=True,
            harmless=("IfNotPresent",),
        ),
        f"{name}.imagePullSecrets": MappedField(
            "image_pull_secrets", lambda names: [str(each) for each in names]
        ),
        f"{name}.env": UnmappedField(
            "its container has the variables of the driver's: give env of the state driver"
        ),
        f"{name}.args": NO_EFFECT,
    }


DRIVER_FIELDS: Fields = {
    "usePrecompiled": MappedField("driver_precompiled"),
    "useOpenKernelModules": ReadField(),
    "kernelModuleType": MappedField("driver_kernel_module_type"),
    "repository": ReadField(),
    "image": ReadField(),
    "version": ReadField(),
    "imagePullPolicy": MappedField(
        "driver_pull_policy", lambda given: given if given in _PULLED else None
    ),
    "imagePullSecrets": MappedField(
        "image_pull_secrets", lambda names: [str(name) for name in names]
    ),
    "resources": MappedField("resources.driver"),
    "env": MappedField("env.driver", environment),
    "args": MappedField("driver_args", lambda given: [str(each) for each in given]),
    "hostNetwork": MappedField("driver_host_network", lambda given: given or None),
    "startupProbe.successThreshold": UnmappedField(
        "Kubernetes allows 1 alone in a startup probe", harmless=(1,)
    ),
    **{f"startupProbe.{name}": MappedField(f"driver_startup_probe.{name}") for name in _PROBED},
    "livenessProbe": _PROBE,
    "readinessProbe": _PROBE,
    "rdma": ReadField(),
    "manager": UnmappedField(
        "upgrade frees a node itself before its driver is exchanged", differs=True
    ),
    "upgradePolicy": UnmappedField(
        "upgrade exchanges drivers when it is run, as its variables say", differs=True
    ),
    "certConfig.name": MappedField("driver_certificates_config_map"),
    "kernelModuleConfig.name": MappedField("driver_module_config_map"),
    "secretEnv": MappedField("driver_secret_env"),
    "licensingConfig.secretName": MappedField("driver_license_secret"),
    "licensingConfig.nlsEnabled": SkippedField(
        "the token of the licence is used where it is there"
    ),
    "licensingConfig": UnmappedField(
        "a licence is a Secret here: make one of its ConfigMap, and name it in driver_license_secret"
    ),
}
DRIVER_SWITCHES: Switches = {"rdma": EnabledField(default=False)}
# Containers beside the driver's: in a ClusterPolicy beside its driver, in an NVIDIADriver inside.
_BESIDE = ("gds", "gdrcopy")
BESIDE_FIELDS: Fields = {field: each for name in _BESIDE for field, each in _beside(name).items()}
BESIDE_SWITCHES: Switches = dict.fromkeys(_BESIDE, EnabledField(default=False))


def read_beside(found: MappedOptions, spec: Mapping[str, Any]) -> None:
    """Add the images of the containers beside the driver's, the tags of which the system of the node
    completes here, too."""
    for name in _BESIDE:
        given = part(spec, name)
        keys = [key for key in _IMAGE_KEYS if given.get("enabled") and given.get(key)]
        reference = image_reference(given)
        for key in keys:
            if reference:
                found.take(f"{name}.{key}", f"{name}_image", reference)
            else:
                found.drop(f"{name}.{key}", NO_IMAGE)


def read_driver(found: MappedOptions, driver: Mapping[str, Any], at: str = "") -> None:
    """Add what fields of a driver mean together. at: what its fields are below."""
    _read_modules(found, driver, at)
    _read_rdma(found, part(driver, "rdma"), f"{at}rdma.")
    given = {key: str(driver[key]) for key in _IMAGE_KEYS if driver.get(key)}
    if reference := _whole_reference(given):
        for key in given:
            found.take(f"{at}{key}", "driver_image", reference)
        return
    folder, _slash, name = given.get("image", "").rpartition("/")
    if name not in ("", _IMAGE):
        found.take(f"{at}image", "driver_image_name", name)
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
    if given.get("image") == _IMAGE:
        found.ignore(f"{at}image", f"driver images are called {_IMAGE} here, too")
    if "version" in given:
        option = "driver_branch" if driver.get("usePrecompiled") else "driver_version"
        found.take(f"{at}version", option, given["version"])


def _read_rdma(found: MappedOptions, rdma: Mapping[str, Any], at: str) -> None:
    """Whose drivers the network cards have, where there is peer memory for them."""
    for name in ("enabled", "useHostMofed"):
        if rdma.get("enabled") and rdma.get(name):
            option = "host" if rdma.get("useHostMofed") else "container"
            found.take(f"{at}{name}", "driver_rdma", option)
        elif name in rdma and (rdma.get("enabled") or name == "enabled"):
            found.ignore(f"{at}{name}", "it is so here without being set, too")


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
