# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading from one repository at one place; all that comes is compared with its digest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from .._http.http_pool import HttpResponse
from . import challenge
from .image_manifests import (
    ACCEPT,
    Document,
    Manifest,
    architectures,
    choose,
    digest_of,
    digest_of_file,
    read_document,
    read_manifest,
)
from .image_names import Reference, is_digest
from .login import RepositoryAccess
from .registry_errors import ImageNotFound, RegistryError, WrongArchitecture, WrongDigest
from .session import RegistryRequest, RegistrySession

_FOUND_OR_NOT = frozenset({200, 404})


@dataclass(frozen=True)
class Platform:
    """What a reference leads to for one architecture. top: what its tag points at, the manifest
    itself or an index."""

    top: Manifest
    manifest: Manifest
    config: Document


class Repository:
    """Reads one repository. place: host and repository that are asked. task: what for, as messages
    say it. scopes: see challenge.py."""

    def __init__(
        self,
        transport: RegistrySession,
        place: Reference,
        task: str,
        scopes: tuple[str, ...] | None = None,
    ) -> None:
        self.place = place
        self._transport = transport
        scopes = scopes or challenge.pull(place.repository)
        self._access = RepositoryAccess(place, scopes, task)

    def digest(self, version: str = "") -> str | None:
        """The digest that a tag points at (the place's own, where none is given); None if there is no
        such tag."""
        version = version or self.place.version
        url = f"manifests/{version}"
        answer = self._transport.send(
            RegistryRequest("HEAD", url, self._access, _FOUND_OR_NOT, {"Accept": ACCEPT})
        )
        if answer.status == 404:
            return None
        digest = _digest_header(answer)
        if digest:
            return digest
        # The header is only recommended.
        manifest = self.manifest(version)
        return manifest.digest if manifest else None

    def platform(self, arch: str) -> Platform | None:
        """The manifest and the configuration for an architecture; None if there is no such tag."""
        top = self.manifest(self.place.version)
        if top is None:
            return None
        manifest = self._of_index(top, arch) if top.is_index else top
        config = self._config(manifest)
        found = str(config.get("architecture") or "no architecture")
        if found != arch:
            why = f"it is for {found}, not for {arch}"
            raise self._error(WrongArchitecture, why, f"push one for {arch}, or name another image")
        return Platform(top, manifest, config)

    def manifest(self, version: str) -> Manifest | None:
        """The manifest or index under a tag or a digest; None if there is none."""
        answer = self._transport.send(
            RegistryRequest(
                "GET", f"manifests/{version}", self._access, _FOUND_OR_NOT, {"Accept": ACCEPT}
            )
        )
        if answer.status == 404:
            return None
        wanted = version if is_digest(version) else _digest_header(answer)
        content_type = answer.headers.get("Content-Type", "")
        manifest = read_manifest(answer.body, content_type, like=wanted)
        if manifest is None:
            why = f"what it points at is no image that can be read ({content_type or 'of unknown type'})"
            raise self._error(RegistryError, why, "push it as an OCI image")
        self._compare(manifest.digest, wanted)
        return manifest

    def referrers(self, digest: str) -> Manifest | None:
        """The index of what refers to an image; None where the registry does not list it."""
        answer = self._transport.send(
            RegistryRequest("GET", f"referrers/{digest}", self._access, _FOUND_OR_NOT)
        )
        content_type = answer.headers.get("Content-Type", "")
        return read_manifest(answer.body, content_type) if answer.status == 200 else None

    def download(self, digest: str, sink: BinaryIO) -> None:
        """Write a blob to an empty file; raises NotFound and WrongDigest."""
        answer = self._transport.send(
            RegistryRequest("GET", f"blobs/{digest}", self._access, _FOUND_OR_NOT), sink
        )
        if answer.status == 404:
            raise self._missing(f"the layer {digest}")
        self._compare(digest_of_file(sink, digest), digest)

    def _of_index(self, index: Manifest, arch: str) -> Manifest:
        digest = choose(index, arch)
        if not digest:
            why = (
                f"it is for {', '.join(architectures(index)) or 'no architecture'}, not for {arch}"
            )
            raise self._error(WrongArchitecture, why, f"push one for {arch}, or name another image")
        manifest = self.manifest(digest)
        if manifest is None:
            raise self._missing(f"its manifest for {arch} ({digest})")
        if manifest.is_index:
            raise self._error(
                RegistryError, "its index lists another index", "push it as an OCI image"
            )
        return manifest

    def _config(self, manifest: Manifest) -> Document:
        digest = manifest.config_digest
        answer = self._transport.send(
            RegistryRequest("GET", f"blobs/{digest}", self._access, _FOUND_OR_NOT)
        )
        if answer.status == 404:
            raise self._missing(f"its configuration {digest}")
        self._compare(digest_of(answer.body, like=digest), digest)
        config = read_document(answer.body)
        if config is None:
            raise self._error(
                RegistryError, "its configuration is not JSON", "push it as an OCI image"
            )
        return config

    def _compare(self, computed: str, wanted: str) -> None:
        if wanted and computed != wanted:
            why = f"what came has the digest {computed}, not {wanted}"
            raise self._error(
                WrongDigest, why, "see what lies between here and the registry, then run again"
            )

    def _missing(self, part: str) -> RegistryError:
        return self._error(
            ImageNotFound, f"the registry does not have {part}", "push the image again"
        )

    def _error(self, kind: type[RegistryError], why: str, todo: str) -> RegistryError:
        host = self.place.host
        return kind(f"Cannot {self._access.task}", where=host, why=why, todo=todo, registry=host)


def _digest_header(answer: HttpResponse) -> str:
    """The digest that the registry tells of its answer; "" if it tells none."""
    digest = answer.headers.get("Docker-Content-Digest", "")
    return digest if is_digest(digest) else ""
