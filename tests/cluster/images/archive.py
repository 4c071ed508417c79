# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""OCI archives: layers from folders, one tar file that `ctr images import` and skopeo read."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import shutil
import stat
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.cluster.errors import ClusterError

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_LAYER = "application/vnd.oci.image.layer.v1.tar"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"


@dataclass(frozen=True)
class Layer:
    """An uncompressed tar file and its SHA-256 in hexadecimal. Compression would cost more time
    than it saves here."""

    file: Path
    digest: str


def architecture() -> str:
    """This machine's, as container images and Kubernetes write it."""
    return ARCHITECTURES[platform.machine()]


def write_layer(folder: Path, target: Path) -> Layer:
    """Make a layer of a root file system or of an overlay's changes (whose deletions become
    whiteouts)."""
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as tar:
        _add(tar, folder, "")
    return Layer(target, _digest(target))


def write_archive(
    target: Path, layers: Sequence[Layer], images: Mapping[str, Mapping[str, object]]
) -> None:
    """Write images that share all layers as an OCI layout in one tar file, which `docker load` reads
    as well. images: reference -> config."""
    # Blobs that are files, and blobs that are made here.
    files = {layer.digest: layer.file for layer in layers}
    texts: dict[str, bytes] = {}

    def add(document: object, media_type: str) -> dict[str, object]:
        content = json.dumps(document).encode()
        digest = hashlib.sha256(content).hexdigest()
        texts[digest] = content
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}

    layer_entries = [
        {"mediaType": _LAYER, "digest": f"sha256:{layer.digest}", "size": layer.file.stat().st_size}
        for layer in layers
    ]
    entries = []
    # Docker older than 25 knows no layout, but what its own `docker save` writes.
    saved = []
    for reference, config in images.items():
        image = {
            "architecture": architecture(),
            "os": "linux",
            "config": dict(config),
            "rootfs": {
                "type": "layers",
                "diff_ids": [f"sha256:{layer.digest}" for layer in layers],
            },
        }
        config_entry = add(image, _CONFIG)
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": config_entry,
            "layers": layer_entries,
        }
        entry = add(manifest, _MANIFEST)
        tag = reference.rpartition(":")[2]
        names = {"io.containerd.image.name": reference, "org.opencontainers.image.ref.name": tag}
        entries.append({**entry, "annotations": names})
        saved.append(
            {
                "Config": _blob(config_entry),
                "RepoTags": [reference],
                "Layers": [_blob(layer) for layer in layer_entries],
            }
        )
    index = {"schemaVersion": 2, "manifests": entries}
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as tar:
        _add_text(tar, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
        _add_text(tar, "index.json", json.dumps(index).encode())
        _add_text(tar, "manifest.json", json.dumps(saved).encode())
        for digest, content in texts.items():
            _add_text(tar, f"blobs/sha256/{digest}", content)
        for digest, file in files.items():
            tar.add(file, f"blobs/sha256/{digest}")


def read_layers(archive: Path, folder: Path) -> list[Layer]:
    """The layers of an archive's first image, unpacked into a folder; and nothing else of it."""
    with tarfile.open(archive) as tar:

        def blob(entry: Mapping[str, str]) -> IO[bytes]:
            stream = tar.extractfile(_blob(entry))
            if stream is None:
                raise ClusterError(
                    f"{archive} is no archive of an image: remove its folder, and it is made anew."
                )
            return stream

        index = tar.extractfile("index.json")
        manifest = json.load(blob(json.load(index)["manifests"][0])) if index else {"layers": []}
        layers = []
        for number, entry in enumerate(manifest["layers"]):
            file = folder / f"layer-{number}.tar"
            with file.open("wb") as target:
                shutil.copyfileobj(blob(entry), target)
            layers.append(Layer(file, entry["digest"].partition(":")[2]))
    return layers


def _blob(entry: Mapping[str, object]) -> str:
    return f"blobs/{str(entry['digest']).replace(':', '/')}"


def _add(tar: tarfile.TarFile, folder: Path, prefix: str) -> None:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        status = entry.stat(follow_symlinks=False)
        name = f"{prefix}{entry.name}"
        if stat.S_ISSOCK(status.st_mode):
            continue
        if stat.S_ISCHR(status.st_mode) and status.st_rdev == 0:
            # How an overlay says that something below was deleted; a layer says it by an empty file
            # of that name.
            _add_text(tar, f"{prefix}.wh.{entry.name}", b"")
            continue
        tar.add(entry.path, name, recursive=False)
        if entry.is_dir(follow_symlinks=False):
            if _is_opaque(entry.path):
                _add_text(tar, f"{name}/.wh..wh..opq", b"")
            _add(tar, Path(entry.path), f"{name}/")


def _is_opaque(folder: str) -> bool:
    """True if an overlay shows nothing of what lies below this folder."""
    try:
        return os.getxattr(folder, "trusted.overlay.opaque", follow_symlinks=False) == b"y"
    except OSError:
        return False


def _add_text(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    info.mode = 0o644
    tar.addfile(info, io.BytesIO(content))


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
