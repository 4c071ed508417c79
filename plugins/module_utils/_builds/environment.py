# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a build depends on beside its inputs: how it is made, whom it trusts, and the Secrets where
it runs."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from .._cluster.api_client.api_errors import Forbidden
from .._cluster.api_client.client import Client
from .._errors import EnablementError
from .._json import Obj, part
from .build_request import BuildRequest

_OPTIONS = ("image_pull_secrets", "proxy", "tolerations")


class NamespaceSecrets:
    """The Secrets of the namespace that builds run in, each read once."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._read: dict[str, Obj | EnablementError | None] = {}

    def title(self, name: str) -> str:
        """A Secret as messages name it."""
        return f"{self._namespace}/{name}"

    def keys(self, name: str) -> frozenset[str] | None:
        """The keys of a Secret, None where there is no such Secret. Raises EnablementError where it
        may not be read."""
        found = self._found(name)
        return None if found is None else frozenset(part(found, "data"))

    def content(self, name: str) -> dict[str, bytes] | None:
        """Key -> content, as keys() finds them."""
        found = self._found(name)
        if found is None:
            return None
        try:
            return {key: base64.b64decode(value) for key, value in part(found, "data").items()}
        except binascii.Error:  # nothing that an API server lets pass
            return {}

    def identity(self, name: str) -> str:
        """What changes with the Secret, and tells nothing of what is in it."""
        try:
            metadata = (self._found(name) or {"metadata": {}})["metadata"]
        except EnablementError:
            return "unreadable"
        return f"{metadata.get('uid', '')}/{metadata.get('resourceVersion', '')}"

    def _found(self, name: str) -> Obj | None:
        if name not in self._read:
            self._read[name] = self._fetch(name)
        found = self._read[name]
        if isinstance(found, EnablementError):
            raise found
        return found

    def _fetch(self, name: str) -> Obj | EnablementError | None:
        try:
            return self._client.get(self._client.kind("v1", "Secret"), name, self._namespace)
        except Forbidden as error:
            what = f"Secret {self.title(name)} cannot be read"
            return EnablementError(
                what, why=error.why, todo="grant get on it, since a build needs it"
            )


def environment(
    build: BuildRequest,
    options: Mapping[str, Any],
    registries: str,
    names: Iterable[str],
    secrets: NamespaceSecrets,
) -> str:
    """A hash (64 hex digits) of what decides how builds go.

    build: of the task. registries: how they are asked, the cluster's settings included. names: the
    Secrets that are used where builds run.
    """
    counted = {
        "params": build.counted,
        "options": {name: options.get(name) for name in _OPTIONS},
        "registries": registries,
        "secrets": {name: secrets.identity(name) for name in sorted(filter(None, set(names)))},
    }
    return hashlib.sha256(json.dumps(counted, sort_keys=True, default=str).encode()).hexdigest()
