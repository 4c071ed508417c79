# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images from registries into a layout, and from there into a mirror. Only what is missing is sent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

from .._errors import InvalidInput
from .image_client import Registries
from .image_layout import ImageLayout
from .image_manifests import Manifest, architectures, limited
from .image_names import Reference
from .image_push import PushRepository
from .registry_errors import ImageNotFound
from .repository import Repository
from .signature_search import signature_tags


@dataclass(frozen=True)
class Transfer:
    """What an image took. digest: of the manifest or index under its name. sent: blobs and manifests
    that were missing. changed: whether anything was, the name included."""

    digest: str
    place: str
    sent: int
    changed: bool


class Exporting:
    """Fetches images into a layout. dry: only the manifests are read, and nothing is written."""

    def __init__(self, registries: Registries, layout: ImageLayout, *, dry: bool) -> None:
        self._registries = registries
        self._layout = layout
        self._dry = dry

    def export(self, reference: Reference, archs: Collection[str]) -> Transfer:
        """Fetch an image. archs: of an index under a tag, the members for these only; one that is named
        by its digest stays whole. Raises RegistryError and InvalidInput."""
        found = self._registries.manifest(reference)
        if found is None:
            raise ImageNotFound(
                f"Cannot export {reference}",
                where=reference.host,
                why="there is no such image",
                todo="correct the name, or push it",
                registry=reference.host,
            )
        place, top = found
        if archs and top.is_index and not reference.digest:
            top = _limited(reference, top, archs)
        if not self._dry:
            self._layout.begin()
        named = {str(reference): top, **_signatures(reference, place, top.digest)}
        sent = sum(self._take(place, manifest) for manifest in named.values())
        is_renamed = self._name(named)
        return Transfer(top.digest, str(place.place), sent, is_renamed or sent > 0)

    def _name(self, named: Mapping[str, Manifest]) -> bool:
        """Give images their names in the layout; returns whether any had another one."""
        there = {name: entry["digest"] for name, entry in self._layout.entries().items()}
        differing = {name: each for name, each in named.items() if there.get(name) != each.digest}
        if differing and not self._dry:
            self._layout.name(differing)
        return bool(differing)

    def _take(self, place: Repository, manifest: Manifest) -> int:
        """Fetch all that a manifest names, then the manifest; returns how much was missing."""
        sent = 0
        for member in manifest.members if manifest.is_index else ():
            sent += self._take_member(place, str(member["digest"]))
        if not manifest.is_index:
            for digest in _blobs(manifest):
                sent += self._add(digest, partial(place.download, digest))
        return sent + self._add(manifest.digest, lambda file: file.write(manifest.body))

    def _take_member(self, place: Repository, digest: str) -> int:
        found = place.manifest(digest)
        if found is None:
            raise ImageNotFound(
                f"Cannot export {place.place}",
                where=place.place.host,
                why=f"the registry does not have its manifest {digest}",
                todo="push the image again, or export some architectures only (archs)",
                registry=place.place.host,
            )
        return self._take(place, found)

    def _add(self, digest: str, fill: Callable[[BinaryIO], object]) -> int:
        if self._layout.holds(digest):
            return 0
        if not self._dry:
            self._layout.add(digest, fill)
        return 1


class Importing:
    """Sends the images of a layout to their mirrors. dry: it is only asked what is there."""

    def __init__(self, registries: Registries, layout: ImageLayout, *, dry: bool) -> None:
        self._registries = registries
        self._layout = layout
        self._dry = dry

    def send(self, reference: Reference, place: Reference) -> Transfer:
        """Send an image. place: where the mirror has it. Raises RegistryError and InvalidInput."""
        entry = self._layout.entries().get(str(reference))
        if entry is None:
            raise InvalidInput(
                f"Cannot import {reference}",
                where=str(self._layout.folder),
                why="the layout has no image of that name",
                todo="export it first, under the same name",
            )
        mirror = self._registries.push_to(place, f"push {place}")
        digest = str(entry["digest"])
        wanted = {reference.tag or digest: entry}
        for signatures in signature_tags(digest):
            named = self._layout.entries().get(str(reference.with_tag(signatures)))
            wanted |= {signatures: named} if named else {}
        sent = sum(
            self._send(mirror, self._layout.manifest(each), version)
            for version, each in wanted.items()
            if not mirror.has(version, str(each["digest"]))
        )
        return Transfer(digest, str(place), sent, changed=sent > 0)

    def _send(self, mirror: PushRepository, manifest: Manifest, version: str) -> int:
        """Send what a manifest names and the mirror has not, then the manifest; returns how much that
        was."""
        sent = 0
        if manifest.is_index:
            for member in manifest.members:
                digest = str(member["digest"])
                if not mirror.has(digest, digest):
                    sent += self._send(mirror, self._layout.manifest(member), digest)
        else:
            for digest in _blobs(manifest):
                sent += self._upload(mirror, digest)
        if not self._dry:
            mirror.put(manifest, version)
        return sent + 1

    def _upload(self, mirror: PushRepository, digest: str) -> int:
        if mirror.has_blob(digest):
            return 0
        with self._layout.opened(digest) as content:
            if not self._dry:
                mirror.upload(digest, content)
        return 1


def _signatures(reference: Reference, place: Repository, digest: str) -> dict[str, Manifest]:
    """What lies beside an image and says who made it, by the name under which that is kept."""
    beside, older = signature_tags(digest)
    found = {
        beside: place.referrers(digest) or place.manifest(beside),
        older: place.manifest(older),
    }
    return {str(reference.with_tag(tag)): each for tag, each in found.items() if each}


def _blobs(manifest: Manifest) -> list[str]:
    """What an image consists of, each once: its configuration and its layers."""
    layers = (str(layer["digest"]) for layer in manifest.layers)
    return list(dict.fromkeys([manifest.config_digest, *layers]))


def _limited(reference: Reference, index: Manifest, archs: Collection[str]) -> Manifest:
    found = limited(index, archs)
    if found is None:
        there = ", ".join(architectures(index)) or "no architecture"
        raise InvalidInput(
            f"Cannot export {reference}",
            why=f"it is for {there}, not for all of {', '.join(archs)}",
            todo="name architectures that it is for (archs)",
        )
    return found
