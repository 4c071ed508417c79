# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where signatures of an image are: the registry's list of referrers, the tag that stands for it, and the tag
of older ones.

Source: the OCI distribution specification 1.1, "Listing Referrers" and "Referrers Tag Schema"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .image_manifests import Manifest
from .image_signature import BUNDLE, SIGNATURE, SIMPLE, PublicKey, signs_bundle, signs_payload
from .repository import Repository
from .web_files import LimitedFile

# A signature has some hundred bytes.
_MOST = 1_000_000
_MOST_SIGNATURES = 100


def signature_tags(digest: str) -> tuple[str, str]:
    """The tag of what refers to an image, for registries that do not list it, and the one of old."""
    tag = digest.replace(":", "-")
    return tag, f"{tag}.sig"


class SignatureSearch:
    """Looks for signatures in the repository of an image."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def is_signed(self, digest: str, keys: Sequence[PublicKey]) -> bool:
        """Whether there is one of any of these keys for that digest. Raises RegistryError and
        InvalidInput."""
        beside, older = signature_tags(digest)
        return any(
            signs_bundle(key, bundle, digest)
            for bundle in self._bundles(digest, beside)
            for key in keys
        ) or any(
            signs_payload(key, payload, signature, digest)
            for payload, signature in self._payloads(self._repository.manifest(older))
            for key in keys
        )

    def _bundles(self, digest: str, tag: str) -> Iterator[bytes]:
        index = self._repository.referrers(digest) or self._repository.manifest(tag)
        for member in index.members[:_MOST_SIGNATURES] if index else ():
            found = self._repository.manifest(str(member["digest"]))
            for layer in found.layers if found else ():
                if layer.get("mediaType") == BUNDLE:
                    yield self._blob(str(layer["digest"]))

    def _payloads(self, manifest: Manifest | None) -> Iterator[tuple[bytes, str]]:
        for layer in manifest.layers[:_MOST_SIGNATURES] if manifest else ():
            signature = (layer.get("annotations") or {}).get(SIGNATURE)
            if layer.get("mediaType") == SIMPLE and signature:
                yield self._blob(str(layer["digest"])), str(signature)

    def _blob(self, digest: str) -> bytes:
        sink = LimitedFile(f"a signature of {self._repository.place}", _MOST)
        self._repository.download(digest, sink)
        return sink.getvalue()
