# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The credentials for registries, out of the Secrets that nodes and builds use."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping

from .._cluster.api_client.api_errors import Forbidden
from .._cluster.api_client.client import Client
from .._cluster.api_client.rights import Right
from .._errors import EnablementError, InvalidInput
from .._json import part
from .._registry.keyring import Keyring

_KEYS = (".dockerconfigjson", ".dockercfg")


# The credentials with which images are looked up and pushed.
RIGHTS = (Right("", ("secrets",), ("get",)),)


def read_keyring(client: Client, namespace: str, names: Iterable[str]) -> Keyring:
    """The keyring of the named pull secrets. One that does not exist is an error: so it is for the
    kubelet, later."""
    kind = client.kind("v1", "Secret")
    keyrings = []
    for name in dict.fromkeys(names):
        try:
            secret = client.get(kind, name, namespace)
        except Forbidden as error:
            raise EnablementError(
                f"Secret {namespace}/{name} cannot be read",
                why=error.why,
                todo="grant get on it, or look images up by an ImageStream or a node (lookup_from)",
            ) from None
        if secret is None:
            raise EnablementError(
                f"Secret {namespace}/{name} does not exist",
                why="images are looked up and pushed with it",
                todo="create it with `kubectl create secret docker-registry`",
            )
        keyrings.append(keyring_of(secret, f"{namespace}/{name}"))
    return Keyring().before(*keyrings)


def keyring_of(secret: Mapping[str, object], title: str) -> Keyring:
    """The keyring of one pull secret. title: its namespace and name."""
    try:
        return Keyring.from_configs([_decoded(secret, title)])
    except InvalidInput as error:  # no input of the task: what is known otherwise, stays
        raise EnablementError(error.what, where=title, why=error.why, todo=error.todo) from None


def _decoded(secret: Mapping[str, object], title: str) -> str:
    data = part(secret, "data")
    for key in _KEYS:
        if isinstance(data, dict) and key in data:
            try:
                return base64.b64decode(data[key], validate=True).decode()
            except (binascii.Error, UnicodeDecodeError):
                break
    raise EnablementError(
        f"Secret {title} holds no registry credentials",
        why=f"it has no readable key {' or '.join(_KEYS)}",
        todo="create it with `kubectl create secret docker-registry`",
    )
