# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images that a recipe needs in a cluster, each with its digest: those that pods name, drivers for
each kernel, and what they are built on and by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .._builds.resolve import Find
from .._builds.streams import is_internal
from .._errors import EnablementError, InvalidInput
from .._json import Obj
from .._nodes.groups import NodeGroup
from .._recipes.building import render_build, stage_images
from .._recipes.checking.object_names import images_of
from .._recipes.loading.lookups import is_looked_up
from .._recipes.readiness.node_readiness import runs_pod
from .._recipes.render import render_pod
from .._registry.registry_errors import WrongArchitecture
from .._states.desired import Desired
from .kernel_answers import PreflightFinding

# In the place of a node's name.
_ANY = "any"


@dataclass(frozen=True)
class NeededImage:
    """An image by the name by which it is looked for. pinned: the same with its digest, "" where that
    is not known, for the reason in why. blocks: pods do not start for that reason."""

    image: str
    pinned: str = ""
    why: str = ""
    blocks: bool = False

    @property
    def finding(self) -> PreflightFinding | None:
        """What is wrong with it."""
        return PreflightFinding("images", self.why, blocks=self.blocks) if self.why else None


def named_images(objects: Sequence[Obj], desired: Desired) -> set[str]:
    """The images of pods that these objects make, and of the pods that prove the states; but for those
    that were found by kernel."""
    resolved: Mapping[str, Mapping[str, Any]] = desired.facts.resolved or {}
    known = {str(image) for images in resolved.values() for image in images.values()}
    pods = [*objects, *validation_pods(desired)]
    return {image for obj in pods for _path, image in images_of(obj)} - known


def built_from(desired: Desired) -> set[str]:
    """The images that builds name themselves, beside their base image."""
    found: set[str] = set()
    for state in filter(is_looked_up, desired.recipe.states.values()):
        for group in desired.discovery.coarse(state.per):
            with suppress(InvalidInput):  # which the look-up has said already
                build = render_build(desired.recipe, state, desired.facts, group)
                found |= stage_images(build.containerfile) if build else set()
    return found


def needed_images(names: Iterable[str], archs: Sequence[str], find: Find) -> list[NeededImage]:
    """What the registries say of images, for all of these architectures. Nodes may reach what is out of
    reach from here."""
    return [_needed(name, archs, find, by_nodes=False) for name in sorted(set(names))]


def pulled_images(wanted: Iterable[tuple[str, str]], find: Find) -> list[NeededImage]:
    """Images as nodes pull them. wanted: each with an architecture."""
    return [_needed(name, [arch], find, by_nodes=True) for name, arch in sorted(wanted)]


def found_drivers(
    rows: Sequence[Mapping[str, Any]], groups: Iterable[NodeGroup]
) -> set[tuple[str, str]]:
    """The drivers that driver_container has found, each with its architecture. rows: its groups."""
    archs = {group.id: group.system.arch for group in groups}
    return {(str(row["image"]), archs[row["group"]]) for row in rows if row["image"]}


def found_images(rows: Sequence[Mapping[str, Any]], bases: Mapping[str, str]) -> list[NeededImage]:
    """The drivers and what they are built on, as driver_container has found them. rows: its groups.
    bases: name of an image -> the same by its digest."""
    found = {str(row["name"]): str(row["image"]) for row in rows if row["image"] and row["name"]}
    return [
        NeededImage(name, with_digest(name, pinned))
        for name, pinned in sorted({**bases, **found}.items())
    ]


def to_mirror(images: Iterable[NeededImage]) -> list[Obj]:
    """The images that a mirror has to have, each once: what lies in OpenShift's internal registry comes
    with its release, or is built there."""
    pinned = {each.image: each.pinned for each in images if not _is_internal(each.image)}
    return [{"image": name, "pinned": digest} for name, digest in pinned.items()]


def _is_internal(name: str) -> bool:
    try:
        return is_internal(name)
    except InvalidInput:  # which the look-up has said already
        return False


def with_digest(name: str, pinned: str) -> str:
    """A name as it is, with the digest of what it was found as."""
    return f"{name.partition('@')[0]}@{pinned.partition('@')[2]}"


def _needed(name: str, archs: Sequence[str], find: Find, *, by_nodes: bool) -> NeededImage:
    try:
        found = [find(name, arch) for arch in archs]
    except WrongArchitecture as error:
        return NeededImage(name, why=str(error).rstrip("."), blocks=True)
    except EnablementError as error:
        return NeededImage(name, why=str(error).rstrip("."), blocks=by_nodes)
    first = found[0]
    if first is None:
        return NeededImage(name, why=f"{name} does not exist; push it", blocks=True)
    return NeededImage(name, with_digest(name, first.reference))


def validation_pods(desired: Desired) -> Iterator[Obj]:
    """The pods that prove states, on some node of each group."""
    for name, state in desired.rendered.items():
        for group in desired.discovery.node_groups:
            for index in state.proofs_on.get(group.id, ()):
                proof = state.proofs[index]
                if runs_pod(proof):
                    yield render_pod(desired.recipe, name, proof, desired.facts, group, _ANY)
