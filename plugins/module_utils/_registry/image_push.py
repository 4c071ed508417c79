# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing to one repository at one place. What is there already is not sent again.

Source: the OCI distribution specification 1.1, "Push": a blob in one request, then the manifest."""

from __future__ import annotations

from typing import BinaryIO

from . import challenge
from .image_manifests import Manifest
from .image_names import Reference
from .registry_errors import RegistryError
from .repository import Repository
from .session import RegistryRequest, RegistrySession

UPLOADS = "blobs/uploads/"
# What a registry says of an upload whose answer was lost: it is over, or has more than one beginning.
_OVER = frozenset({400, 404, 416})
_BINARY = {"Content-Type": "application/octet-stream"}


class PushRepository(Repository):
    """Writes to a repository, and reads from it."""

    def __init__(self, transport: RegistrySession, place: Reference, task: str) -> None:
        super().__init__(transport, place, task, challenge.push(place.repository))

    def has_blob(self, digest: str) -> bool:
        """Whether a blob is there."""
        url = f"blobs/{digest}"
        asked = RegistryRequest("HEAD", url, self._access, frozenset({200, 404}))
        return self._transport.send(asked).status == 200

    def has(self, version: str, digest: str) -> bool:
        """Whether a tag, or a digest, leads to the manifest of that digest."""
        return self.digest(version) == digest

    def upload(self, digest: str, content: BinaryIO) -> None:
        """Send a blob; the registry compares it with its digest."""
        try:
            self._upload(digest, content)
        except RegistryError as error:
            if error.status not in _OVER:
                raise
            if not self.has_blob(digest):
                self._upload(digest, content)

    def put(self, manifest: Manifest, version: str) -> None:
        """Put a manifest or an index under a tag, or its digest; all that it names has to be there."""
        headers = {"Content-Type": manifest.media_type}
        self._transport.send(
            RegistryRequest(
                "PUT",
                f"manifests/{version}",
                self._access,
                frozenset({201}),
                headers,
                manifest.body,
            )
        )

    def _upload(self, digest: str, content: BinaryIO) -> None:
        begun = self._transport.send(
            RegistryRequest("POST", UPLOADS, self._access, frozenset({202}))
        )
        place = begun.headers.get("Location", "")
        url = f"{place}{'&' if '?' in place else '?'}digest={digest}"
        self._transport.send(
            RegistryRequest("PUT", url, self._access, frozenset({201}), _BINARY, content)
        )
