# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of each field of a Module of Kernel Module Management in a recipe. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._json import elements, part
from .field_mapping import FieldMapping, JoinedField, MappedOptions, UnmappedField, map_fields
from .kmm_module import KernelCase, container_of, kernel_cases

CONTAINER = "moduleLoader.container."
# What KMM takes of a container of a device plugin or DRA driver, and of its pod.
CONTAINER_FIELDS = ("args", "command", "env", "image", "imagePullPolicy", "resources", "volumeMounts")  # fmt: skip
POD_FIELDS = ("automountServiceAccountToken", "serviceAccountName", "volumes")

_IMAGE = JoinedField("the image of driver_container")
_CONTAINERFILE = JoinedField("build/Containerfile.j2")
_DRIVER = JoinedField("driver/daemonset.yaml.j2")
_TRUST = UnmappedField(
    "hardware_enablement_registry_verify and hardware_enablement_registries say whom to trust",
    differs=True,
)
_BUILD: Mapping[str, FieldMapping] = {
    "build.dockerfileConfigMap": _CONTAINERFILE,
    # Before release 1.0, where trust was a part of pull and push too.
    "build.dockerfile": _CONTAINERFILE,
    "build.pull": _TRUST,
    "build.push": _TRUST,
    "pull": _TRUST,
    "build.buildArgs": JoinedField("build.args"),
    "build.secrets": JoinedField("build.secrets, in /run/build-secrets instead of /run/secrets"),
    "build.baseImageRegistryTLS": _TRUST,
    "build.selector": UnmappedField(
        "hardware_enablement_build_node_selector says where builds run", differs=True
    ),
    "build.kanikoParams": UnmappedField("images are built without kaniko", differs=True),
    "sign.keySecret": JoinedField("build.secrets"),
    "sign.certSecret": JoinedField("build.secrets"),
    "sign.filesToSign": _CONTAINERFILE,
    "sign.unsignedImage": _CONTAINERFILE,
    "sign.unsignedImageRegistryTLS": _TRUST,
    "registryTLS": _TRUST,
    "inTreeModulesToRemove": _DRIVER,
    "inTreeModuleToRemove": _DRIVER,
}
_MODPROBE: Mapping[str, FieldMapping] = {
    "moduleName": JoinedField("option module"),
    "dirName": JoinedField("option module_directory"),
    "firmwarePath": JoinedField("option firmware_path, in a folder of its own on the node"),
    "parameters": JoinedField("option load_arguments"),
    "args.load": JoinedField("option load_arguments"),
    "args.unload": JoinedField("option unload_arguments"),
    "rawArgs.load": JoinedField("option load_arguments"),
    "rawArgs.unload": JoinedField("option unload_arguments"),
    "modulesLoadingOrder": JoinedField("options load_before and unload_arguments"),
}


def _pod(prefix: str, file: str) -> dict[str, FieldMapping]:
    """The fields of a pod that KMM runs, as they are."""
    containers = [
        f"{container}.{each}"
        for container in ("container", "initContainer")
        for each in CONTAINER_FIELDS
    ]
    return {f"{prefix}.{name}": JoinedField(file) for name in (*POD_FIELDS, *containers)}


MAPPING_FIELDS: Mapping[str, FieldMapping] = {
    "literal": _IMAGE,
    "regexp": _IMAGE,
    "containerImage": _IMAGE,
    **_BUILD,
}
FIELDS: Mapping[str, FieldMapping] = {
    "selector": JoinedField("selector"),
    "tolerations": JoinedField("option tolerations"),
    "imageRepoSecret": JoinedField("option image_pull_secrets"),
    "imageRebuildTriggerGeneration": UnmappedField(
        "an image is built anew when its inputs change", differs=True
    ),
    "moduleLoader.serviceAccountName": _DRIVER,
    f"{CONTAINER}containerImage": _IMAGE,
    f"{CONTAINER}imagePullPolicy": _DRIVER,
    f"{CONTAINER}version": UnmappedField(
        "upgrade exchanges the module node by node; labels version-module.* say nothing any more",
        differs=True,
    ),
    f"{CONTAINER}kernelMappings": _IMAGE,
    **{f"{CONTAINER}modprobe.{name}": mapping for name, mapping in _MODPROBE.items()},
    **{f"{CONTAINER}{name}": mapping for name, mapping in _BUILD.items()},
    **_pod("devicePlugin", "device_plugin/daemonset.yaml.j2"),
    **_pod("dra", "dra_driver/daemonset.yaml.j2"),
    "dra.driverName": JoinedField("the proof resource_slices, and device_access.dra_drivers"),
    "dra.deviceClasses": JoinedField("dra_driver/deviceclasses.yaml.j2"),
}

# What an entry of kernelMappings may have instead of the container.
_OWN = ("containerImage", "build.dockerfileConfigMap", "sign.keySecret", "sign.certSecret",
        "sign.unsignedImage")  # fmt: skip
# What KMM does not look at where rawArgs are given.
_BESIDE_RAW = ("modprobe.args.load", "modprobe.args.unload", "modprobe.parameters",
               "modprobe.modulesLoadingOrder")  # fmt: skip
_LABELS = "kmm.node.kubernetes.io/"


def fields_of(module: Mapping[str, Any]) -> MappedOptions:
    """What becomes of each field that is given; each is in one of its lists."""
    found = map_fields(part(module, "spec"), FIELDS)
    mappings = elements(container_of(module), "kernelMappings")
    for index, mapping in enumerate(mappings):
        mapped = map_fields(mapping, MAPPING_FIELDS, f"{CONTAINER}kernelMappings[{index}].")
        found.taken |= mapped.taken
        found.dropped |= mapped.dropped
        found.differs |= mapped.differs
    if mappings:  # each of their fields is named
        found.taken.pop(f"{CONTAINER}kernelMappings", None)
    for path, why in _overruled(module, kernel_cases(module)):
        if found.taken.pop(path, ""):
            found.dropped[path] = why
    for name in part(module, "spec", "selector"):
        if _LABELS in str(name) and found.taken.pop("selector", ""):
            found.differs["selector"] = (
                f"the label {name} is KMM's, which takes it away with the Module that it is of: "
                "select what marks the hardware"
            )
    return found


def lost_labels(module: Mapping[str, Any], name: str) -> dict[str, str]:
    """Labels that KMM keeps on nodes, and pods may select -> what says the same here. name: the
    recipe's."""
    spec, metadata = part(module, "spec"), module["metadata"]
    prefix = f"{_LABELS}{metadata.get('namespace') or 'default'}.{metadata['name']}"
    ready = f"select pods' nodes by hardware-enablement.io/{name}=ready, nobody keeps this any more"
    ends = {
        "ready": "moduleLoader",
        "device-plugin-ready": "devicePlugin",
        "dra-ready": "dra",
    }
    labels = {f"{prefix}.{end}": ready for end, field in ends.items() if spec.get(field)}
    if container_of(module).get("version"):
        labels[f"{prefix}.version.ready"] = ready
    return {f"label {label}": why for label, why in labels.items()}


def _overruled(module: Mapping[str, Any], cases: list[KernelCase]) -> Iterator[tuple[str, str]]:
    """Fields that do not count in this Module, for KMM neither."""
    container = container_of(module)
    mappings = elements(container, "kernelMappings")
    if part(container, "modprobe").get("rawArgs"):
        for name in _BESIDE_RAW:
            yield f"{CONTAINER}{name}", "KMM does not look at it beside rawArgs"
    for name in _OWN:
        if mappings and all(_at(mapping, name) for mapping in mappings):
            yield f"{CONTAINER}{name}", "each entry of kernelMappings has its own"
    yield from _unsigned(cases)
    yield from _in_tree(container, mappings)


def _unsigned(cases: list[KernelCase]) -> Iterator[tuple[str, str]]:
    built = [bool(case.build) for case in cases]
    unsigned = "what is signed is the image that is built"
    if built and all(built):
        yield f"{CONTAINER}sign.unsignedImage", unsigned
    for index, is_built in enumerate(built):
        if is_built:
            yield f"{CONTAINER}kernelMappings[{index}].sign.unsignedImage", unsigned


def _in_tree(container: Mapping[str, Any], mappings: Any) -> Iterator[tuple[str, str]]:
    one, several = "inTreeModuleToRemove", "inTreeModulesToRemove"
    if container.get(one):
        yield f"{CONTAINER}{several}", f"{one} goes before it"
    if mappings and all(mapping.get(one) or mapping.get(several) for mapping in mappings):
        yield f"{CONTAINER}{several}", "each entry of kernelMappings has its own"
    if mappings and all(mapping.get(one) for mapping in mappings):
        yield f"{CONTAINER}{one}", "each entry of kernelMappings has its own"
    for index, mapping in enumerate(mappings):
        if mapping.get(one) or container.get(one):
            path = f"{CONTAINER}kernelMappings[{index}].{several}"
            yield path, f"{one} goes before it"


def _at(mapping: Mapping[str, Any], path: str) -> Any:
    *above, last = path.split(".")
    return part(mapping, *above).get(last)
