# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing to one repository: blobs, then the manifest that makes them an image."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO
from urllib.parse import urljoin

from .._errors import EnablementError
from .._http.http_pool import Body, HttpResponse
from .._http.retries import pause_before
from . import challenge
from .image_manifests import Manifest, digest_of
from .image_names import Reference
from .login import RepositoryAccess
from .registry_errors import ImageNotFound, RegistryError, RegistryUnreachable, ServerError
from .repository import Repository
from .session import RegistryRequest, RegistrySession

_UPLOADS = "blobs/uploads/"
_CREATED = frozenset({201})
_ACCEPTED = frozenset({202})
_BINARY = {"Content-Type": "application/octet-stream"}


class Target:
    """Writes to one repository. task: what for, as messages say it."""

    def __init__(
        self,
        transport: RegistrySession,
        place: Reference,
        task: str,
        sleep: Callable[[float], None],
        mounts_from: str = "",
    ) -> None:
        """mounts_from: another repository of the same registry, whose blobs are taken over without
        being sent."""
        self._transport = transport
        self._access = RepositoryAccess(
            place, challenge.push(place.repository, mounts_from=mounts_from), task
        )
        self._mounts_from = mounts_from
        self._sleep = sleep

    def request(self) -> None:
        """Begin an upload and give it up: the registry refuses it where nothing may be pushed."""
        begun = self._send("POST", _UPLOADS, _ACCEPTED)
        location = begun.headers.get("Location", "")
        if location:
            with suppress(RegistryError):  # not all of them know how; they drop it after a while
                self._send("DELETE", location, frozenset({200, 202, 204}))

    def push(self, body: bytes) -> None:
        """Push a blob, unless it is there."""
        digest = digest_of(body)
        if not self._has(digest):
            self._upload(digest, body)

    def take_over(self, digest: str, source: Repository) -> None:
        """Bring a blob of another repository here, unless it is there; sends it only if it cannot
        be mounted."""
        if self._has(digest) or (self._mounts_from and self._mounted(digest)):
            return
        try:
            with tempfile.TemporaryFile() as file:
                source.download(digest, file)
                self._upload(digest, file)
        except OSError as error:
            what = f"Cannot {self._access.task}"
            why = (
                f"a layer of the base image cannot be kept for a moment: {error.strerror or error}"
            )
            raise EnablementError(
                what, where=tempfile.gettempdir(), why=why, todo="make room there"
            ) from error

    def tag(self, manifest: Manifest, tag: str) -> None:
        """Push a manifest under a tag."""
        headers = {"Content-Type": manifest.media_type}
        self._send("PUT", f"manifests/{tag}", _CREATED, body=manifest.body, headers=headers)

    def _has(self, digest: str) -> bool:
        return self._send("HEAD", f"blobs/{digest}", frozenset({200, 404})).status == 200

    def _mounted(self, digest: str) -> bool:
        """Whether the registry took the blob over; else it has begun an upload, which it drops
        after a while."""
        url = f"{_UPLOADS}?mount={digest}&from={self._mounts_from}"
        return self._send("POST", url, _CREATED | _ACCEPTED).status == 201

    def _upload(self, digest: str, body: bytes | BinaryIO) -> None:
        """Send a blob in one piece; after a lost connection from the beginning, since nobody knows
        what has arrived."""
        attempt = 1
        while True:
            try:
                begun = self._send("POST", _UPLOADS, _ACCEPTED)
                location = urljoin(_UPLOADS, begun.headers.get("Location", ""))
                url = f"{location}{'&' if '?' in location else '?'}digest={digest}"
                self._send("PUT", url, _CREATED, body=body, headers=_BINARY, repeatable=False)
                return
            # An upload that the registry no longer knows was on another of its instances, or is
            # half gone.
            except (RegistryUnreachable, ServerError, ImageNotFound) as error:
                attempt += 1
                pause = pause_before(attempt)
                if pause is None:
                    raise
                failure: RegistryError = error
            self._sleep(pause)
            if isinstance(failure, RegistryUnreachable) and self._has(digest):
                return

    def _send(
        self,
        method: str,
        url: str,
        expected: frozenset[int],
        *,
        body: Body = None,
        headers: dict[str, str] | None = None,
        repeatable: bool = True,
    ) -> HttpResponse:
        call = RegistryRequest(method, url, self._access, expected, headers or {}, body, repeatable)
        return self._transport.send(call)
