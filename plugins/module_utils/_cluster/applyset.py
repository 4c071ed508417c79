# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ApplySets (KEP-3659): the id of a set, and what belongs to it, found by labels and without any
local memory."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import partial

from .._json import Obj
from .api_client.api_errors import ApiError
from .api_client.client import Client
from .api_objects.kinds import Kind
from .api_objects.objects import ObjectKey, key_of


def applyset_id(name: str, namespace: str, kind: str, group: str) -> str:
    """The id of the set whose parent is this object; namespace and group are "" for cluster scope
    and core."""
    digest = hashlib.sha256(f"{name}.{namespace}.{kind}.{group}".encode()).digest()
    return f"applyset-{base64.urlsafe_b64encode(digest).decode().rstrip('=')}-v1"


def owned(
    client: Client, kinds: Sequence[Kind], labels: str, namespaces: Sequence[str]
) -> dict[ObjectKey, Obj]:
    """All objects of these kinds that match labels: one list for each kind (and namespace, where it
    lives in one).

    Without namespaces, those of all namespaces. An object that several group-versions show appears
    once.
    """
    calls = []
    for kind in kinds:
        places = list(namespaces) if kind.namespaced and namespaces else [None]
        calls += [
            partial(client.list, kind, namespace=namespace, labels=labels) for namespace in places
        ]
    found: dict[ObjectKey, Obj] = {}
    uids: set[str] = set()
    for listing in client.parallel(calls):
        if isinstance(listing, ApiError):
            raise listing
        for obj in listing.items:
            if obj["metadata"]["uid"] not in uids:
                uids.add(obj["metadata"]["uid"])
                found[key_of(obj)] = obj
    return found
