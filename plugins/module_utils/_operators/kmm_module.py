# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Module of Kernel Module Management, read: which kernels have which image, how it is built and
signed, by the rules of its own kernel mapper. Pure.

Fields: kmm.sigs.x-k8s.io/v1beta1 of kubernetes-sigs/kernel-module-management; kmm.sigs.k8s.io before
its release 1.0, which had other names for some; and those of a ManagedClusterModule of its hub.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._json import Obj, elements, part
from .kmm_text import filled_in, kernel_words, matches, name_words, wrong

KIND, HUB_KIND = "Module", "ManagedClusterModule"
API_VERSIONS = ("kmm.sigs.x-k8s.io/v1beta1", "kmm.sigs.k8s.io/v1beta1")
_GROUPS = tuple(version.partition("/")[0] for version in API_VERSIONS)
_RENAMED = {"driverContainer": "moduleLoader"}

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class KernelCase:
    """What holds for kernels of which a condition (of a template) is true. image: a template; build,
    sign: as the Module has them, {} for none; remove: modules of the kernel that go before."""

    condition: str
    image: str
    build: Fields
    sign: Fields
    remove: Sequence[str]


def modules_in(objects: Sequence[Obj]) -> list[Obj]:
    """The Modules among objects, also those that a hub hands to its clusters."""
    found: list[Obj] = []
    for each in objects:
        group = str(each.get("apiVersion") or "").partition("/")[0]
        if each.get("kind") == KIND and group in _GROUPS:
            found.append({**each, "spec": _renamed(part(each, "spec"))})
        if each.get("kind") == HUB_KIND and group in [f"hub.{known}" for known in _GROUPS]:
            found.append(_of_hub(each))
    return found


def _of_hub(managed: Obj) -> Obj:
    """The Module that a hub makes in each cluster."""
    spec = part(managed, "spec")
    metadata = {"name": managed["metadata"]["name"], "namespace": spec.get("spokeNamespace")}
    version = str(managed["apiVersion"]).removeprefix("hub.")
    return {
        "apiVersion": version,
        "kind": KIND,
        "metadata": metadata,
        "spec": _renamed(part(spec, "moduleSpec")),
    }


def _renamed(spec: Fields) -> Obj:
    """A Module's spec with today's names of its parts."""
    return {_RENAMED.get(name, name): value for name, value in spec.items()}


def has_loader(module: Fields) -> bool:
    """Whether it loads a kernel module; else it is there for a device plugin or DRA driver alone."""
    return bool(part(module, "spec", "moduleLoader"))


def kernel_cases(module: Fields) -> list[KernelCase]:
    """Those of a Module, of which the first that fits counts; none where it loads nothing. Raises
    InvalidInput for a regular expression, or a text, that cannot be had here."""
    if not has_loader(module):
        return []
    container = container_of(module)
    mappings = elements(container, "kernelMappings")
    if not mappings:
        where = "moduleLoader.container.kernelMappings"
        raise wrong(where, "it has no entry, and without one KMM loads the module for no kernel")
    return [_case(module, container, index, each) for index, each in enumerate(mappings)]


def container_of(module: Fields) -> Fields:
    """The part of a Module that says what is loaded."""
    return part(module, "spec", "moduleLoader", "container")


def folder_of(module: Fields) -> str:
    """The directory of its images below which lib/modules is."""
    return str(part(container_of(module), "modprobe").get("dirName") or "/opt").rstrip("/")


def _case(module: Fields, container: Fields, index: int, mapping: Fields) -> KernelCase:
    where = f"moduleLoader.container.kernelMappings[{index}]"
    condition = matches(str(mapping.get("literal") or ""), str(mapping.get("regexp") or ""))
    if not condition:
        raise wrong(where, "it has neither literal nor regexp, so KMM never uses it")
    image = str(mapping.get("containerImage") or container.get("containerImage") or "")
    if not image:
        raise wrong(where, "it has no containerImage, and neither has the container")
    return KernelCase(
        condition=condition,
        image=filled_in(image, {**kernel_words(), **name_words(module)}, "containerImage"),
        build=_build(part(container, "build"), part(mapping, "build")),
        sign=_sign(part(container, "sign"), part(mapping, "sign")),
        remove=_removed(container, mapping),
    )


def _build(common: Fields, own: Fields) -> Fields:
    """As KMM joins them: arguments by their names, Secrets of both."""
    arguments = {
        str(each["name"]): each for given in (common, own) for each in elements(given, "buildArgs")
    }
    joined = {
        "buildArgs": list(arguments.values()),
        "secrets": [*elements(common, "secrets"), *elements(own, "secrets")],
    }
    found = {**common, **_given(own), **joined}
    return {name: value for name, value in found.items() if value}


def _sign(common: Fields, own: Fields) -> Fields:
    """As KMM joins them: the files of both."""
    files = [*elements(common, "filesToSign"), *elements(own, "filesToSign")]
    return {**common, **_given(own), **({"filesToSign": files} if files else {})}


def _given(values: Fields) -> Obj:
    return {name: value for name, value in values.items() if value}


def _removed(container: Fields, mapping: Fields) -> list[str]:
    one = mapping.get("inTreeModuleToRemove") or container.get("inTreeModuleToRemove")
    if one:
        return [str(one)]
    # An empty list of a mapping counts: for these kernels nothing goes.
    own = mapping.get("inTreeModulesToRemove")
    names = own if own is not None else container.get("inTreeModulesToRemove")
    return [str(name) for name in names or ()]
