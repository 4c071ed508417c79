# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Module of Kernel Module Management, read: which kernels have which image, how it is built and
signed, and what of the rest a recipe does otherwise or not at all. Pure.

Fields: kmm.sigs.x-k8s.io/v1beta1 of kubernetes-sigs/kernel-module-management.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._errors import InvalidInput
from .._json import Obj, part
from .field_mapping import FieldMapping, JoinedField, MappedOptions, UnmappedField, map_fields

KIND, API_VERSION = "Module", "kmm.sigs.x-k8s.io/v1beta1"

_TRUST = UnmappedField(
    "hardware_enablement_registry_verify and hardware_enablement_registries say whom to trust",
    differs=True,
)
_PULL = UnmappedField(
    "images are pulled where they are not there", differs=True, harmless=("IfNotPresent",)
)
_BUILD: Mapping[str, FieldMapping] = {
    "build.dockerfileConfigMap": JoinedField("build/Containerfile.j2"),
    "build.buildArgs": JoinedField("build.args"),
    "build.secrets": JoinedField("build.secrets, in /run/build-secrets instead of /run/secrets"),
    "build.baseImageRegistryTLS": _TRUST,
    "build.selector": UnmappedField(
        "hardware_enablement_build_node_selector says where builds run", differs=True
    ),
    "build.kanikoParams": UnmappedField("images are built without kaniko", differs=True),
    "sign.keySecret": JoinedField("build.secrets"),
    "sign.certSecret": JoinedField("build.secrets"),
    "sign.filesToSign": JoinedField("build/Containerfile.j2"),
    "sign.unsignedImage": JoinedField("build/Containerfile.j2"),
    "sign.unsignedImageRegistryTLS": _TRUST,
    "registryTLS": _TRUST,
    "inTreeModulesToRemove": JoinedField("driver/daemonset.yaml.j2"),
    "inTreeModuleToRemove": JoinedField("driver/daemonset.yaml.j2"),
}
_DRA = UnmappedField("devices are advertised by a device plugin; see the recipe's proof dra")
_POD = (
    "automountServiceAccountToken",
    "container",
    "initContainer",
    "serviceAccountName",
    "volumes",
)

MAPPING_FIELDS: Mapping[str, FieldMapping] = {
    "literal": JoinedField("the image of driver_container"),
    "regexp": JoinedField("the image of driver_container"),
    "containerImage": JoinedField("the image of driver_container"),
    **_BUILD,
}
FIELDS: Mapping[str, FieldMapping] = {
    "selector": JoinedField("selector"),
    "tolerations": JoinedField("option tolerations"),
    "imageRepoSecret": JoinedField("option image_pull_secrets"),
    "imageRebuildTriggerGeneration": UnmappedField("an image is built anew when its inputs change", differs=True),
    "moduleLoader.serviceAccountName": UnmappedField("the driver's pod has a service account of its own", differs=True),
    "moduleLoader.container.containerImage": JoinedField("the image of driver_container"),
    "moduleLoader.container.imagePullPolicy": _PULL,
    "moduleLoader.container.version": UnmappedField(
        "upgrade exchanges the module node by node; labels version-module.* say nothing any more", differs=True
    ),
    "moduleLoader.container.kernelMappings": JoinedField("the image of driver_container"),
    "moduleLoader.container.modprobe": JoinedField("driver/daemonset.yaml.j2"),
    **{f"moduleLoader.container.{name}": mapping for name, mapping in _BUILD.items()},
    **{f"devicePlugin.{name}": JoinedField("device_plugin/daemonset.yaml.j2") for name in _POD},
    "dra": _DRA,
}  # fmt: skip

# What KMM fills into texts, as expressions of a template.
KERNEL = '(kernel.raw | regex_replace("[+]$", ""))'
# What has another form than a name, such as an operation on a value, has no name here.
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))?")
# As a tag can hold it; of kernels with a plus inside KMM has no image.
_IN_TAGS = dict.fromkeys(
    ("KERNEL_FULL_VERSION", "KERNEL_VERSION"), f'{{{{ {KERNEL} | regex_replace("[+]", "-") }}}}'
)
_XYZ = r"^([0-9]+)[.]([0-9]+)[.]([0-9]+).*$"


@dataclass(frozen=True)
class KernelCase:
    """What holds for kernels of which a condition (of a template) is true. image: a template; build,
    sign: as the Module has them, {} for none; remove: modules of the kernel that go before."""

    condition: str
    image: str
    build: Mapping[str, Any]
    sign: Mapping[str, Any]
    remove: Sequence[str]


def kernel_cases(module: Mapping[str, Any]) -> list[KernelCase]:
    """Those of a Module, of which the first that fits counts. Raises InvalidInput for a regular
    expression, or a variable, that cannot be had here."""
    container = _container(module)
    words = words_of(module)
    return [_case(container, mapping, words) for mapping in container.get("kernelMappings") or [{}]]


def fields_of(module: Mapping[str, Any]) -> MappedOptions:
    """What becomes of each field that is given."""
    found = map_fields(module.get("spec") or {}, FIELDS)
    for index, mapping in enumerate(_container(module).get("kernelMappings") or ()):
        prefix = f"moduleLoader.container.kernelMappings[{index}]."
        mapped = map_fields(mapping, MAPPING_FIELDS, prefix)
        found.taken |= mapped.taken
        found.dropped |= mapped.dropped
        found.differs |= mapped.differs
    return found


def words_of(module: Mapping[str, Any]) -> dict[str, str]:
    """Variable of a text -> what it is in a template."""
    metadata = module["metadata"]
    numbers = {
        f"KERNEL_{name}": f'{{{{ {KERNEL} | regex_replace({json.dumps(_XYZ)}, "{groups}") }}}}'
        for name, groups in (("XYZ", r"\\1.\\2.\\3"), ("X", r"\\1"), ("Y", r"\\2"), ("Z", r"\\3"))
    }
    return {
        "KERNEL_FULL_VERSION": f"{{{{ {KERNEL} }}}}",
        "KERNEL_VERSION": f"{{{{ {KERNEL} }}}}",
        "MOD_NAME": str(metadata["name"]),
        "MOD_NAMESPACE": str(metadata.get("namespace") or "default"),
        **numbers,
    }


def filled_in(text: str, words: Mapping[str, str], where: str) -> str:
    """A text of a Module as a template. Raises InvalidInput for a variable that is not known."""

    def replaced(hit: re.Match[str]) -> str:
        name = hit[1] or hit[2]
        if name not in words:
            raise wrong(where, f"{text[:80]!r} has a variable that is not known")
        return words[name]

    return _VARIABLE.sub(replaced, text)


def wrong(where: str, why: str) -> InvalidInput:
    """What is said of a Module that cannot be had as a recipe."""
    return InvalidInput(
        "the Module cannot be made a recipe",
        where=where,
        why=why,
        todo="change that in a copy of the Module, and give the copy as a file",
    )


def _case(
    container: Mapping[str, Any], mapping: Mapping[str, Any], words: Mapping[str, str]
) -> KernelCase:
    def both(name: str) -> Obj:
        return {**part(container, name), **part(mapping, name)}

    image = str(mapping.get("containerImage") or container.get("containerImage") or "")
    return KernelCase(
        condition=_condition(mapping),
        image=filled_in(image, {**words, **_IN_TAGS}, "containerImage"),
        build=both("build"),
        sign=both("sign"),
        remove=_removed(mapping) or _removed(container),
    )


def _removed(mapping: Mapping[str, Any]) -> list[str]:
    one = mapping.get("inTreeModuleToRemove")
    return [str(name) for name in mapping.get("inTreeModulesToRemove") or ([one] if one else [])]


def _condition(mapping: Mapping[str, Any]) -> str:
    if literal := mapping.get("literal"):
        return f"{KERNEL} == {json.dumps(str(literal))}"
    if not (expression := str(mapping.get("regexp") or "")):
        return "true"
    try:
        re.compile(expression)
    except re.error as error:
        raise wrong("kernelMappings", f"regexp {expression[:80]!r}: {error}") from None
    whole = json.dumps(f"(?s)^.*?(?:{expression}).*$")
    return f'{KERNEL} | regex_replace({whole}, "") == ""'


def _container(module: Mapping[str, Any]) -> Mapping[str, Any]:
    return part(module, "spec", "moduleLoader", "container")
