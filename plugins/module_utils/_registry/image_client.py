# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images in registries: looked up, and whether they may be pushed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from .._errors import InvalidInput
from . import challenge
from .image_files import MOST_OF_LAYER, file_in_layer
from .image_manifests import Manifest, labels_of
from .image_names import Reference
from .image_push import UPLOADS, PushRepository
from .image_signature import PublicKey
from .login import RepositoryAccess
from .policy import RegistryPolicy
from .registry_errors import RegistryError
from .repository import Platform, Repository
from .session import RegistryRequest, RegistrySession
from .signature_search import SignatureSearch
from .web_files import LimitedFile, read_file

T = TypeVar("T")


@dataclass(frozen=True)
class Image:
    """An image for one architecture.

    reference: as it was asked for. digest: what its tag points at, the manifest or an index; pin
    this one. manifest_digest: of the manifest for arch. created: RFC 3339, "" if the image does not
    say.
    """

    reference: Reference
    digest: str
    manifest_digest: str
    arch: str
    labels: Mapping[str, str]
    created: str


class Registries:
    """Asks registries and their mirrors. Safe for threads. All methods raise RegistryError and
    InvalidInput."""

    def __init__(self, policy: RegistryPolicy, sleep: Callable[[float], None] = time.sleep) -> None:
        """sleep: waits between attempts, for seconds."""
        self._policy = policy
        self._transport = RegistrySession(policy, sleep)
        self._sleep = sleep

    @property
    def requests(self) -> Counter[str]:
        """How many requests were sent so far, by method; those to token servers count as "token"."""
        return self._transport.requests

    def digest(self, reference: Reference) -> str | None:
        """The digest that a tag points at; None if there is no such image anywhere."""
        found = self._first(reference, lambda repository: repository.digest())
        return found[1] if found else None

    def find(self, reference: Reference, arch: str) -> Image | None:
        """The image for an architecture, as Kubernetes writes it (amd64, arm64); None if there is
        none anywhere.

        Raises WrongArchitecture where the image is there, but not for arch.
        """
        found = self._first(reference, lambda repository: repository.platform(arch))
        return _image(reference, arch, found[1]) if found else None

    def manifest(self, reference: Reference) -> tuple[Repository, Manifest] | None:
        """What a reference leads to, an index or the one manifest, with the place that has it; None if
        there is none anywhere."""
        return self._first(reference, lambda place: place.manifest(place.place.version))

    def is_signed(self, reference: Reference, keys: Sequence[PublicKey]) -> bool:
        """Whether an image, named by its digest, has a signature of any of these keys beside it, in the
        first place that has the image."""
        found = self.manifest(reference)
        return found is not None and SignatureSearch(found[0]).is_signed(reference.digest, keys)

    def push_to(self, place: Reference, task: str) -> PushRepository:
        """A repository at just that place, to be written to. task: what for, as messages say it."""
        return PushRepository(self._transport, place, task)

    def digest_at(self, place: Reference, version: str = "") -> str | None:
        """The digest that a tag points at in just that place, whatever mirrors it has."""
        return Repository(self._transport, place, f"look up {place}").digest(version)

    def file(self, url: str, most: int) -> bytes:
        """A file of a web server, at most so many bytes."""
        return read_file(self._policy, self._sleep, url, most)

    def layers(self, reference: Reference, most: int) -> list[bytes] | None:
        """The layers of an artifact as they lie there, each compared with its digest; None if there
        is no such artifact anywhere. Raises InvalidInput where they are more than so many bytes."""
        found = self.manifest(reference)
        if found is None:
            return None
        repository, manifest = found
        if sum(int(layer.get("size") or 0) for layer in manifest.layers) > most:
            raise InvalidInput(
                f"{reference} is too large", why=f"the limit is {most} bytes", todo="split it"
            )
        bodies: list[bytes] = []
        for layer in manifest.layers:
            # A manifest may say of a layer what it wants.
            sink = LimitedFile(str(reference), most - sum(map(len, bodies)))
            repository.download(str(layer["digest"]), sink)
            bodies.append(sink.getvalue())
        return bodies

    def file_of(self, reference: Reference, arch: str, path: str) -> bytes | None:
        """A small file of an image, from the last layer that has it; None if there is no such image
        anywhere, or it has no such file. Large layers are not read."""
        found = self._first(reference, lambda place: place.platform(arch))
        if found is None:
            return None
        repository, platform = found
        for layer in reversed(platform.manifest.layers):
            if int(layer.get("size") or 0) <= MOST_OF_LAYER:
                # A manifest may say of a layer what it wants.
                sink = LimitedFile(str(reference), MOST_OF_LAYER)
                repository.download(str(layer["digest"]), sink)
                content = file_in_layer(sink, path, str(reference))
                if content is not None:
                    return content
        return None

    def may_push(self, target: Reference) -> None:
        """Raise RegistryError where nothing may be pushed to a repository; nothing is left of the
        question."""
        place = self._policy.push_place(target)
        access = RepositoryAccess(place, challenge.push(place.repository), f"push {target}")
        begun = self._transport.send(RegistryRequest("POST", UPLOADS, access, frozenset({202})))
        upload = begun.headers.get("Location", "")
        if upload:
            given_up = RegistryRequest("DELETE", upload, access, frozenset({200, 202, 204}))
            with suppress(RegistryError):  # not all of them know how; they drop it after a while
                self._transport.send(given_up)

    def _first(
        self, reference: Reference, query: Callable[[Repository], T | None]
    ) -> tuple[Repository, T] | None:
        """What the first place that has the image says; None only if each place says that there is
        none."""
        failures: list[RegistryError] = []
        places = self._policy.places(reference)
        if not places:
            kind = "digests" if reference.tag and not reference.digest else "tags"
            why = f"its registry is not to be asked, and its mirrors serve {kind} only"
            raise RegistryError(
                f"Cannot look up {reference}",
                why=why,
                todo="correct the mirrors",
                registry=reference.host,
            )
        for place in places:
            repository = Repository(self._transport, place, f"look up {place}")
            try:
                found = query(repository)
            except RegistryError as error:
                failures.append(error)
                continue
            if found is not None:
                return repository, found
        if failures:
            raise _combined(reference, failures)
        return None


def _image(reference: Reference, arch: str, platform: Platform) -> Image:
    created = str(platform.config.get("created") or "")
    manifest = platform.manifest.digest
    return Image(
        reference, platform.top.digest, manifest, arch, labels_of(platform.config), created
    )


def _combined(reference: Reference, failures: list[RegistryError]) -> RegistryError:
    """The last failure, which tells of the source where it was asked, with what the mirrors said."""
    *mirrors, last = failures
    if not mirrors and last.what == f"Cannot look up {reference}":
        return last
    others = "".join(f", and {error.registry} failed as well ({error.why})" for error in mirrors)
    return type(last)(
        f"Cannot look up {reference}",
        where=last.where,
        why=f"{last.why}{others}",
        todo=last.todo,
        status=last.status,
        registry=last.registry,
    )
