# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images in a folder, as the OCI image layout has them: written at once or not at all, and never twice.

Source: the OCI image specification 1.1 (image-layout.md, annotations.md)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from .._errors import InvalidInput
from .._json import Obj, elements, part
from .image_manifests import (
    OCI_INDEX,
    Document,
    Manifest,
    digest_of_file,
    read_document,
    read_manifest,
)
from .image_names import is_digest

REF_NAME = "org.opencontainers.image.ref.name"
_VERSION_FILE, _INDEX_FILE = "oci-layout", "index.json"
_VERSION = {"imageLayoutVersion": "1.0.0"}


class ImageLayout:
    """A layout of images. Nothing is made before something is written."""

    def __init__(self, folder: Path) -> None:
        """Raises InvalidInput for a folder that holds something else."""
        self.folder = folder
        if not folder.exists():
            return
        if not folder.is_dir() or (any(folder.iterdir()) and not (folder / _VERSION_FILE).exists()):
            raise InvalidInput(
                f"{folder} is no layout of images",
                why=f"it has no file {_VERSION_FILE}, and is not empty",
                todo="name another folder, or one that is not there yet",
            )

    def entries(self) -> dict[str, Document]:
        """The descriptors of the images that have names, by these."""
        return {name: entry for entry in self._descriptors() if (name := _name_of(entry))}

    def manifest(self, descriptor: Document) -> Manifest:
        """The manifest or index of a descriptor. Raises InvalidInput where it is not there, or not what
        its digest says."""
        digest = str(descriptor["digest"])
        media_type = str(descriptor.get("mediaType") or "")
        with self.opened(digest) as file:
            manifest = read_manifest(file.read(), media_type, like=digest)
        if manifest is None:
            raise self._damaged(digest)
        return manifest

    def holds(self, digest: str) -> bool:
        """Whether a blob is there, whole."""
        try:
            with self.path(digest).open("rb") as file:
                return digest_of_file(file, digest) == digest
        except FileNotFoundError:
            return False

    def opened(self, digest: str) -> BinaryIO:
        """A blob that is what its digest says, to be read and closed. Raises InvalidInput."""
        if not self.holds(digest):
            raise self._damaged(digest)
        return self.path(digest).open("rb")

    def path(self, digest: str) -> Path:
        """Where a blob is."""
        algorithm, _colon, digits = digest.partition(":")
        return self.folder / "blobs" / algorithm / digits

    def add(self, digest: str, fill: Callable[[BinaryIO], object]) -> None:
        """Write a blob. fill: writes into an empty file, and raises where that is not the blob."""
        self._write(self.path(digest), fill)

    def name(self, named: Mapping[str, Manifest]) -> None:
        """Give images that are there their names, which other images may have had. Other entries stay."""
        kept = [entry for entry in self._descriptors() if _name_of(entry) not in named]
        added = [
            {
                "mediaType": manifest.media_type,
                "digest": manifest.digest,
                "size": len(manifest.body),
                "annotations": {REF_NAME: name},
            }
            for name, manifest in sorted(named.items())
        ]
        whole = {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": [*kept, *added]}
        self._write_json(_INDEX_FILE, whole)

    def begin(self) -> None:
        """Say that this is a layout, before anything else is written into it."""
        if not (self.folder / _VERSION_FILE).exists():
            self._write_json(_VERSION_FILE, _VERSION)

    def _descriptors(self) -> list[Document]:
        """What is in the index. Raises InvalidInput for one that names no blob: whoever carried the folder
        may have written it."""
        try:
            text = (self.folder / _INDEX_FILE).read_bytes()
        except FileNotFoundError:
            return []
        found = read_document(text)
        entries = None if found is None else elements(found, "manifests")
        if isinstance(entries, list) and all(map(_is_descriptor, entries)):
            return entries
        raise InvalidInput(
            f"{self.folder / _INDEX_FILE} is no index of images",
            why="it is not JSON" if found is None else "it has an image without a digest",
            todo="remove it, and export again: blobs that are there are not fetched again",
        )

    def _write_json(self, name: str, content: Obj) -> None:
        body = json.dumps(content, indent=2).encode()
        self._write(self.folder / name, lambda file: file.write(body))

    def _write(self, path: Path, fill: Callable[[BinaryIO], object]) -> None:
        """Write a file at once: who is killed meanwhile leaves none of that name."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # What a run that was killed has left of it is written over.
            draft = path.with_name(f".{path.name}.part")
            try:
                with draft.open("w+b") as file:
                    fill(file)
                    file.flush()
                    os.fsync(file.fileno())
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)
        except OSError as error:
            raise InvalidInput(
                f"Cannot write the layout {self.folder}",
                where=str(path),
                why=str(error.strerror or error),
                todo="make room, or name another folder",
            ) from error

    def _damaged(self, digest: str) -> InvalidInput:
        return InvalidInput(
            f"The layout {self.folder} has not all of its images",
            why=f"{digest} is missing, or not what its digest says",
            todo="export again, which fetches what is not there, then copy the folder again",
        )


def _is_descriptor(entry: object) -> bool:
    """Whether it says which blob it is, by a digest that is no path to somewhere else."""
    return (
        isinstance(entry, dict)
        and is_digest(str(entry.get("digest")))
        and isinstance(entry.get("annotations") or {}, dict)
    )


def _name_of(descriptor: Document) -> str:
    """The name of an image; "" for one without."""
    return str(part(descriptor, "annotations").get(REF_NAME) or "")
