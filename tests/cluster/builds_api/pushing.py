# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real images for simulated builds, where the output is in a registry of a test
(tests/cluster/registry)."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import urllib3

from tests.cluster.builds_api.stored import Obj
from tests.cluster.errors import ClusterError
from tests.cluster.registry import Images, Registry
from tests.cluster.registry.configuration import HOSTS

_LIST = "build-registries.json"


class PushError(Exception):
    """The image could not be pushed; the text is the log's last line."""


def use_registry(cluster: Path, registry: Registry) -> None:
    """Let builds of the cluster in a folder push what goes to this registry, from the next build's
    end on."""
    file = cluster / _LIST
    folders = _listed(file)
    if str(registry.folder) not in folders:
        file.write_text(json.dumps([*folders, str(registry.folder)]))


def known_registry(cluster: Path, image: str) -> Registry | None:
    """The registry that an image is in, if builds of the cluster were told of it."""
    host = image.partition("/")[0]
    return next(
        (
            found
            for found in map(_attached, _listed(cluster / _LIST))
            if found and _is_at(found, host)
        ),
        None,
    )


class Pusher:
    """Pushes images of builds. secret(namespace, name): a Secret, or None."""

    def __init__(self, cluster: Path, secret: Callable[[str, str], Obj | None]) -> None:
        self._cluster = cluster
        self._secret = secret

    def push(self, build: Obj, labels: Mapping[str, str]) -> str | None:
        """The digest of the pushed image, None where the output is in no registry that is known;
        raises PushError."""
        target = build["status"].get("outputDockerImageReference", "")
        registry = known_registry(self._cluster, target)
        if registry is None:
            return None
        host, _slash, rest = target.partition("/")
        if registry.record.auth != "none" and not self._may_push(build, registry, host):
            raise PushError(
                f"error: Failed to push image: writing manifest to {target}: unauthorized"
            )
        repository, _colon, tag = rest.partition(":")
        # What the image is made of, so that builds of other things have other digests.
        made_of = {"uid": build["metadata"]["uid"], "spec": build["spec"]}
        files = {"build.json": json.dumps(made_of, sort_keys=True).encode()}
        try:
            return Images(registry).push(repository, tag or "latest", labels=labels, files=files)
        except (ClusterError, urllib3.exceptions.HTTPError) as error:
            raise PushError(f"error: Failed to push image: {error}") from error

    def _may_push(self, build: Obj, registry: Registry, host: str) -> bool:
        """Whether the build's push secret has the account that may push there."""
        name = (build["spec"]["output"].get("pushSecret") or {}).get("name")
        secret = self._secret(build["metadata"]["namespace"], name) if name else None
        content = ((secret or {}).get("data") or {}).get(".dockerconfigjson")
        if not content:
            return False
        entry = json.loads(base64.b64decode(content)).get("auths", {}).get(host, {})
        return bool(entry.get("auth") == registry.credentials.entry["auth"])


def _listed(file: Path) -> list[str]:
    found: list[str] = json.loads(file.read_text()) if file.exists() else []
    return found


def _attached(folder: str) -> Registry | None:
    try:
        return Registry.attach(Path(folder))
    except ClusterError:
        # It was removed.
        return None


def _is_at(registry: Registry, host: str) -> bool:
    return host in {f"{name}:{registry.record.port}" for name in HOSTS}
