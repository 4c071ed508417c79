# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image of the daemon for real nodes: python-base and one layer more."""

from __future__ import annotations

import json
import shutil
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.cluster.images import Image, ensure_image
from tests.cluster.images.archive import Layer, write_archive, write_layer
from tests.rmd.packing import fill_root

REFERENCE = "localhost/rmd:1"


def make_image(archive: Path, simulation: Mapping[str, Any] | None = None, *, reference: str = REFERENCE) -> Image:
    """Write the image as an OCI archive, for RealNode.load. simulation: see Simulation in command.py."""
    base = ensure_image("python-base")
    with tempfile.TemporaryDirectory(prefix="he-rmd-") as name:
        folder = Path(name)
        layers = _layers(base.archive, folder)
        fill_root(folder / "root", simulation or {})
        layers.append(write_layer(folder / "root", folder / "layer.tar"))
        partial = archive.with_name(f".{archive.name}~")
        write_archive(partial, reference, layers, {"Env": _env(base.archive), "Entrypoint": ["/usr/bin/rmd"]})
        partial.replace(archive)
    return Image(reference, archive, base.packages, ())


def _layers(archive: Path, folder: Path) -> list[Layer]:
    """The layers of an OCI archive, unpacked into the folder."""
    found = []
    with tarfile.open(archive) as tar:
        for entry in _manifest(tar)["layers"]:
            digest = entry["digest"].removeprefix("sha256:")
            file = folder / f"{digest}.tar"
            with _blob(tar, digest) as source, file.open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            found.append(Layer(file, digest))
    return found


def _env(archive: Path) -> list[str]:
    with tarfile.open(archive) as tar:
        digest = _manifest(tar)["config"]["digest"].removeprefix("sha256:")
        with _blob(tar, digest) as config:
            return list(json.load(config)["config"].get("Env", ()))


def _manifest(tar: tarfile.TarFile) -> dict[str, Any]:
    index = tar.extractfile("index.json")
    assert index is not None
    digest = json.load(index)["manifests"][0]["digest"].removeprefix("sha256:")
    with _blob(tar, digest) as manifest:
        found: dict[str, Any] = json.load(manifest)
    return found


def _blob(tar: tarfile.TarFile, digest: str) -> Any:
    blob = tar.extractfile(f"blobs/sha256/{digest}")
    assert blob is not None, digest
    return blob
