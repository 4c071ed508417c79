# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a namespace, of whatever kind, and all objects of one kind: what goes where that goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from .._json import Obj
from .api_client.api_errors import ApiError, Forbidden, NotFound
from .api_client.client import Client
from .api_client.decoding import ALL_KINDS, read_namespaced
from .api_client.transport import READING, ApiRequest, RequestBody, RequestName
from .api_objects.kinds import Kind

_WORKERS = 8
# What cannot be listed cannot be seen, and what cannot be deleted does not go with its namespace.
_VERBS = frozenset({"list", "delete"})


@dataclass(frozen=True)
class KindDiscovery:
    """The kinds whose objects go with their namespace. silent: the group-versions
    ("metrics.k8s.io/v1beta1") of which nobody knows at the moment."""

    kinds: Sequence[Kind]
    silent: Sequence[str] = ()


@dataclass(frozen=True)
class ObjectListing:
    """objects: with nothing but their metadata, each once. forbidden: the kinds ("secrets",
    "certificates.cert-manager.io") that the user may not list; silent: those that could not be."""

    objects: Sequence[Obj]
    forbidden: Sequence[str] = ()
    silent: Sequence[str] = ()


def namespaced_kinds(client: Client) -> KindDiscovery:
    """All kinds whose objects go with their namespace, in two requests. Raises ApiError."""
    kinds: list[Kind] = []
    silent: list[str] = []
    for path in ("/api", "/apis"):
        call = ApiRequest(
            "GET",
            path,
            RequestName("read the kinds of", path, "discover"),
            body=RequestBody(accept=ALL_KINDS),
            repetition=READING,
        )
        found, unknown = client.request(call, partial(read_namespaced, verbs=_VERBS))
        kinds += found
        silent += unknown
    return KindDiscovery(kinds, silent)


def objects_of(client: Client, kinds: Sequence[Kind], namespace: str | None) -> ObjectListing:
    """All objects of these kinds, in a namespace or in all; one list for each kind, several at a
    time."""
    calls = [partial(client.list, kind, namespace=namespace, metadata_only=True) for kind in kinds]
    objects: dict[str, Obj] = {}
    unread: dict[str, ApiError] = {}
    for kind, listing in zip(kinds, client.parallel(calls, _WORKERS), strict=True):
        if isinstance(listing, NotFound):
            # Its CRD has gone since the kinds were read, and all objects with it.
            continue
        if isinstance(listing, ApiError):
            unread[f"{kind.plural}.{kind.group}".rstrip(".")] = listing
            continue
        for obj in listing.items:
            # Several groups may show the same object.
            objects.setdefault(obj["metadata"]["uid"], obj)
    forbidden = [name for name, error in unread.items() if isinstance(error, Forbidden)]
    silent = [name for name in unread if name not in forbidden]
    return ObjectListing(list(objects.values()), forbidden, silent)
