# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The public keys that images have to be signed with: named as text, or by an object of the cluster that
has them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from ..._cluster.api_client.api_errors import Forbidden
from ..._cluster.api_client.client import Client
from ..._cluster.api_client.rights import Right
from ..._errors import EnablementError, InvalidInput
from ..._json import Obj, part
from ..._registry.image_signature import PublicKey, public_keys

RIGHTS = (
    Right("", ("secrets",), ("get",)),
    Right("", ("configmaps",), ("get",), read_only=("get",)),
)

# As kubectl names objects.
_OBJECT = re.compile(r"(secret|configmap)/([a-z0-9]([a-z0-9.-]*[a-z0-9])?)")
_KINDS = {"secret": "Secret", "configmap": "ConfigMap"}
# The Secret that cosign makes has its private key, too.
_PUBLIC = "-----BEGIN PUBLIC KEY-----"
_TODO = "put cosign.pub there"


class KeyLookup:
    """The keys, each object read once. namespace: of the objects."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._read: dict[str, list[PublicKey]] = {}

    def named(self, name: str) -> list[PublicKey]:
        """The keys that are meant by keys in PEM, or by `secret/NAME` or `configmap/NAME`. Raises
        InvalidInput for text that is neither, EnablementError where the object has none."""
        if name not in self._read:
            found = _OBJECT.fullmatch(name.strip())
            self._read[name] = self._of(_KINDS[found[1]], found[2]) if found else public_keys(name)
        return self._read[name]

    def _of(self, kind: str, name: str) -> list[PublicKey]:
        title = f"{kind} {self._namespace}/{name}"
        try:
            found = self._client.get(self._client.kind("v1", kind), name, self._namespace)
        except Forbidden as error:
            todo = "grant get on it, or name the key itself"
            raise EnablementError(f"{title} cannot be read", why=error.why, todo=todo) from None
        if found is None:
            why = "images have to be signed with the key that is in it"
            raise EnablementError(f"{title} does not exist", why=why, todo=_TODO)
        try:
            keys = [key for text in _public(found) for key in public_keys(text)]
        except InvalidInput as error:  # which is not what the task was given
            raise EnablementError(f"{title} has a wrong key", why=error.why, todo=_TODO) from None
        if not keys:
            raise EnablementError(f"{title} has no public key", todo=_TODO)
        return keys


def _public(holder: Obj) -> Iterator[str]:
    """The texts of an object that are about public keys."""
    is_secret = holder.get("kind") == "Secret"
    for _name, value in sorted(part(holder, "data").items()):
        text = _decoded(str(value)) if is_secret else str(value)
        if _PUBLIC in text:
            yield text


def _decoded(value: str) -> str:
    try:
        return base64.b64decode(value).decode()
    except (binascii.Error, UnicodeDecodeError):  # some other file
        return ""
