# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images for a test's registry, pushed and read by its HTTP API alone: not by the client that is to
be tested."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3

from tests.cluster.errors import ClusterError
from tests.cluster.registry.registry import Registry
from tests.cluster.registry.token_server import PATH

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


@dataclass(frozen=True)
class Contents:
    """An image as it lies in a registry: the documents, and for each layer its files, path ->
    content."""

    manifest: Mapping[str, Any]
    config: Mapping[str, Any]
    layers: Sequence[Mapping[str, bytes]]


class Images:
    """Pushes to and reads from one registry, as its account that may push."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        ca = str(registry.folder / "pki" / "ca.crt")
        self._pool = urllib3.PoolManager(ca_certs=ca, retries=False, timeout=30)

    def push(
        self,
        repository: str,
        tag: str,
        *,
        arch: str = "amd64",
        labels: Mapping[str, str] | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> str:
        """Push an image of one layer under a tag; returns its digest. files: path -> content."""
        content = archive(files or {"etc/motd": b"hello\n"})
        layer = gzip.compress(content, mtime=0)
        config = {
            "architecture": arch,
            "os": "linux",
            "created": "2026-11-21T12:00:00Z",
            "config": {"Labels": dict(labels or {})},
            "rootfs": {"type": "layers", "diff_ids": [_digest(content)]},
        }
        body = json.dumps(config).encode()
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {"mediaType": CONFIG, **self._blob(repository, body)},
            "layers": [{"mediaType": LAYER, **self._blob(repository, layer)}],
        }
        return self._manifest(repository, tag, manifest)

    def push_archive(self, repository: str, tag: str, file: Path) -> str:
        """Push the one image of an OCI archive (a tar of an image layout) under a tag; returns its
        digest."""
        with tarfile.open(file) as archived:

            def read(name: str) -> bytes:
                found = archived.extractfile(name)
                if found is None:
                    raise ClusterError(f"{file} is no OCI archive: it has no file {name}.")
                return found.read()

            def blob(digest: str) -> bytes:
                return read(f"blobs/{digest.replace(':', '/')}")

            manifest = json.loads(blob(json.loads(read("index.json"))["manifests"][0]["digest"]))
            for part in (manifest["config"], *manifest["layers"]):
                self._blob(repository, blob(part["digest"]))
        return self._manifest(repository, tag, manifest)

    def push_parts(
        self, repository: str, version: str, manifest: Mapping[str, Any], *blobs: bytes
    ) -> str:
        """Push blobs, and a manifest that names them; returns its digest."""
        for body in blobs:
            self._blob(repository, body)
        return self._manifest(repository, version, manifest)

    def push_index(self, repository: str, tag: str, members: Mapping[str, str]) -> str:
        """Push an index of images that are there, architecture -> digest; returns its digest."""
        listed = []
        for arch, digest in members.items():
            size = len(self.get(repository, f"manifests/{digest}"))
            platform = {"architecture": arch, "os": "linux"}
            listed.append(
                {"mediaType": MANIFEST, "digest": digest, "size": size, "platform": platform}
            )
        return self._manifest(
            repository, tag, {"schemaVersion": 2, "mediaType": INDEX, "manifests": listed}
        )

    def contents(self, repository: str, version: str) -> Contents:
        """Read an image, each blob compared with its digest."""
        manifest = json.loads(self.get(repository, f"manifests/{version}"))
        blobs = [manifest["config"], *manifest["layers"]]
        config, *layers = (self.get(repository, f"blobs/{blob['digest']}") for blob in blobs)
        for blob, content in zip(blobs, (config, *layers), strict=True):
            if (_digest(content), len(content)) != (blob["digest"], blob["size"]):
                raise ClusterError(f"{repository}: a blob is not what the manifest says.")
        return Contents(
            manifest, json.loads(config), [extracted(_plain(layer)) for layer in layers]
        )

    def get(self, repository: str, path: str) -> bytes:
        """The body of GET /v2/REPOSITORY/PATH."""
        return self._ask("GET", repository, path, 200).data

    def digest(self, repository: str, tag: str) -> str:
        """What a tag points at."""
        return _digest(self.get(repository, f"manifests/{tag}"))

    def tags(self, repository: str) -> set[str]:
        """The repository's tags; none where it does not exist."""
        try:
            return set(json.loads(self.get(repository, "tags/list"))["tags"] or ())
        except ClusterError:
            return set()

    def clear(self, repository: str, tags: Collection[str]) -> None:
        """Remove the images of those of the tags that are there."""
        there = self.tags(repository) & set(tags)
        for digest in {self.digest(repository, tag) for tag in there}:
            self.delete(repository, digest)

    def delete(self, repository: str, digest: str) -> None:
        """Remove a manifest and all tags that point at it."""
        self._ask("DELETE", repository, f"manifests/{digest}", 202, actions="delete")

    def _blob(self, repository: str, body: bytes) -> dict[str, Any]:
        digest = _digest(body)
        begun = self._ask("POST", repository, "blobs/uploads/", 202)
        location = begun.headers["Location"]
        url = f"{location}{'&' if '?' in location else '?'}digest={digest}"
        self._ask("PUT", repository, url, 201, body=body, content_type="application/octet-stream")
        return {"digest": digest, "size": len(body)}

    def _manifest(self, repository: str, tag: str, manifest: Mapping[str, Any]) -> str:
        body = json.dumps(manifest).encode()
        self._ask(
            "PUT",
            repository,
            f"manifests/{tag}",
            201,
            body=body,
            content_type=str(manifest["mediaType"]),
        )
        return _digest(body)

    def _ask(
        self,
        method: str,
        repository: str,
        path: str,
        expected: int,
        *,
        body: bytes | None = None,
        content_type: str = "",
        actions: str = "pull,push",
    ) -> urllib3.BaseHTTPResponse:
        url = path if "://" in path else f"https://{self._registry.address}/v2/{repository}/{path}"
        headers = {
            "Accept": f"{MANIFEST}, {INDEX}",
            "Content-Type": content_type,
            **self._login(repository, actions),
        }
        answer = self._pool.request(method, url, body=body, headers=headers)
        if answer.status != expected:
            raise ClusterError(
                f"{method} {url} was answered {answer.status}: {answer.data.decode()[:300]}"
            )
        return answer

    def _login(self, repository: str, actions: str) -> dict[str, str]:
        basic = {"Authorization": f"Basic {self._registry.credentials.entry['auth']}"}
        if self._registry.record.auth != "token":
            return basic
        query = urlencode(
            {"service": "registry.test", "scope": f"repository:{repository}:{actions}"}
        )
        url = f"https://127.0.0.1:{self._registry.record.token_port}{PATH}?{query}"
        token = self._pool.request("GET", url, headers=basic).json()["token"]
        return {"Authorization": f"Bearer {token}"}


def archive(files: Mapping[str, bytes]) -> bytes:
    """A tar file, the same for the same files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path, content in sorted(files.items()):
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def extracted(content: bytes) -> dict[str, bytes]:
    """The regular files of a tar file, path -> content."""
    found = {}
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        for entry in tar:
            file = tar.extractfile(entry) if entry.isreg() else None
            if file is not None:
                found[entry.name] = file.read()
    return found


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _plain(layer: bytes) -> bytes:
    """A layer's tar, which may be compressed."""
    return gzip.decompress(layer) if layer.startswith(b"\x1f\x8b") else layer
