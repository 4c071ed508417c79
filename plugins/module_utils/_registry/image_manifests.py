# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests, indexes and configurations of images: read, and chosen from. Pure.

Sources: the OCI image specification 1.1 (manifest.md, image-index.md, config.md) and Docker's Image
Manifest V 2, Schema 2, which differ in the names of their media types only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from .._json import parse_json
from .image_names import is_digest

Document = Mapping[str, Any]

OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
OCI_INDEX = "application/vnd.oci.image.index.v1+json"
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json"
ACCEPT = ", ".join((OCI_INDEX, DOCKER_LIST, OCI_MANIFEST, DOCKER_MANIFEST))
_INDEXES = frozenset({OCI_INDEX, DOCKER_LIST})
_IMAGES = frozenset({OCI_MANIFEST, DOCKER_MANIFEST})
_OS = "linux"
_PIECE = 1024 * 1024


@dataclass(frozen=True)
class Manifest:
    """A manifest or an index as it came. digest: of body. document: body, read."""

    media_type: str
    digest: str
    body: bytes
    document: Document

    @property
    def is_index(self) -> bool:
        """Whether it lists manifests for several platforms."""
        return self.media_type in _INDEXES

    @property
    def config_digest(self) -> str:
        """The digest of the image's configuration."""
        return str(self.document["config"]["digest"])

    @property
    def layers(self) -> list[Document]:
        """The descriptors of the image's layers, the lowest first."""
        return list(self.document.get("layers") or [])

    @property
    def members(self) -> list[Document]:
        """The descriptors of an index's manifests."""
        return list(self.document.get("manifests") or [])


def digest_of(body: bytes, like: str = "") -> str:
    """The digest of some bytes, by the algorithm of another digest (sha256 where there is none)."""
    algorithm = like.partition(":")[0] or "sha256"
    return f"{algorithm}:{hashlib.new(algorithm, body).hexdigest()}"


def digest_of_file(file: BinaryIO, like: str) -> str:
    """The digest of a file from its beginning, where it is left, by the algorithm of another digest."""
    computed = hashlib.new(like.partition(":")[0])
    file.seek(0)
    while piece := file.read(_PIECE):
        computed.update(piece)
    file.seek(0)
    return f"{computed.name}:{computed.hexdigest()}"


def read_manifest(body: bytes, content_type: str, like: str = "") -> Manifest | None:
    """A manifest or an index; None for anything else, such as the first generation of Docker's
    manifests."""
    document = read_document(body)
    if document is None:
        return None
    media_type = str(document.get("mediaType") or content_type.partition(";")[0].strip())
    manifest = Manifest(media_type, digest_of(body, like), body, document)
    if manifest.is_index:
        return manifest if _are_descriptors(document.get("manifests")) else None
    if media_type not in _IMAGES or not _are_descriptors([document.get("config")]):
        return None
    return manifest if _are_descriptors(document.get("layers")) else None


def read_document(body: bytes) -> Document | None:
    """A JSON object; None for anything else."""
    try:
        document = parse_json(body)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def choose(index: Manifest, arch: str) -> str:
    """The digest of the manifest for an architecture (as Kubernetes writes it); "" if the index has
    none.

    An entry that names no platform may be for any: its configuration will tell.
    """
    unknown = ""
    for member in index.members:
        platform = _mapping(member.get("platform"))
        if not platform:
            unknown = unknown or str(member["digest"])
        elif platform.get("architecture") == arch and platform.get("os") == _OS:
            return str(member["digest"])
    return unknown


def limited(index: Manifest, archs: Collection[str]) -> Manifest | None:
    """The index with the members for some architectures alone, which is another one; None where it
    lacks one of them."""
    members = [
        member
        for member in index.members
        if _mapping(member.get("platform")).get("architecture") in archs
    ]
    body = json.dumps({**index.document, "manifests": members}, indent=2).encode()
    lacks = set(archs) - set(architectures(index))
    return None if lacks else read_manifest(body, index.media_type)


def architectures(index: Manifest) -> list[str]:
    """The architectures that an index has images for, sorted."""
    platforms = [_mapping(member.get("platform")) for member in index.members]
    return sorted(
        {str(platform.get("architecture")) for platform in platforms if platform.get("os") == _OS}
    )


def labels_of(config: Document) -> dict[str, str]:
    """The image's labels."""
    labels = _mapping(_mapping(config.get("config")).get("Labels"))
    return {str(name): str(value) for name, value in labels.items()}


def _are_descriptors(value: object) -> bool:
    """Whether what came is a list of descriptors whose digests can be computed and whose sizes are
    numbers."""
    return isinstance(value, list) and all(
        is_digest(str(_mapping(entry).get("digest"))) and _is_size(_mapping(entry).get("size"))
        for entry in value
    )


def _is_size(value: object) -> bool:
    return value is None or (isinstance(value, int) and value >= 0)


def _mapping(value: object) -> Document:
    return value if isinstance(value, Mapping) else {}
