# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same small write to many objects, several at a time: statuses, annotations, finalizers. An
object that is gone, or replaced by another one of its name, is skipped. The first other error is
raised after all writes were sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._json import Obj, elements
from .api_client.api_errors import AlreadyExists, ApiError, Conflict, Invalid, NotFound
from .api_client.client import Client
from .api_objects.kinds import Kind

WORKERS = 8
# How often a list of finalizers that somebody else changes meanwhile is tried.
_ATTEMPTS = 4


def write_statuses(client: Client, kind: Kind, statuses: Sequence[tuple[Obj, Obj]]) -> None:
    """Replace the status of objects of a kind."""
    _each(
        client,
        statuses,
        lambda obj, status: _patch(
            client, kind, obj, [{"op": "add", "path": "/status", "value": status}], "status"
        ),
    )


def merge_statuses(client: Client, kind: Kind, patches: Sequence[tuple[Obj, Obj]]) -> None:
    """One merge patch of the status of each object."""
    _each(client, patches, lambda obj, body: _patch(client, kind, obj, body, "status"))


def merge_specs(client: Client, kind: Kind, patches: Sequence[tuple[Obj, Obj]]) -> None:
    """One merge patch of the spec of each object."""
    _each(client, patches, lambda obj, spec: _patch(client, kind, obj, {"spec": spec}))


def annotate(
    client: Client, kind: Kind, annotations: Sequence[tuple[Obj, Mapping[str, str | None]]]
) -> None:
    """Merge annotations into these very objects; None removes one."""

    def write(obj: Obj, wanted: Mapping[str, str | None]) -> Obj:
        uid = {name: value for name, value in obj["metadata"].items() if name == "uid"}
        return _patch(client, kind, obj, {"metadata": {**uid, "annotations": dict(wanted)}})

    _each(client, annotations, write)


def create_missing(client: Client, kind: Kind, wanted: Sequence[Obj]) -> list[Obj]:
    """Create objects; returns them, or what another run was faster with."""

    def create(obj: Obj) -> Obj:
        try:
            return client.create(obj)
        except AlreadyExists:
            metadata = obj["metadata"]
            return client.get(kind, metadata["name"], metadata.get("namespace")) or obj

    return _each(client, [(obj,) for obj in wanted], create)


def set_finalizer(
    client: Client, kind: Kind, objects: Sequence[Obj], finalizer: str, *, held: bool
) -> list[Obj]:
    """Put a finalizer on objects, or take it off, which lets those go that were deleted. Returns
    those that are so then, without what was deleted or changed meanwhile."""
    done = _each(
        client,
        [(obj,) for obj in objects],
        lambda obj: _set_finalizer(client, kind, obj, finalizer, held=held),
    )
    return [obj for obj in done if obj is not None]


def _set_finalizer(
    client: Client, kind: Kind, obj: Obj, finalizer: str, *, held: bool
) -> Obj | None:
    metadata = obj["metadata"]
    for _attempt in range(_ATTEMPTS):
        # The version guards finalizers of others, since a list is replaced as a whole.
        kept = [name for name in elements(metadata, "finalizers") if name != finalizer]
        wanted = [*kept, finalizer] if held else kept
        body = {"metadata": {"finalizers": wanted, "resourceVersion": metadata["resourceVersion"]}}
        try:
            _patch(client, kind, obj, body)
            return obj
        except (Conflict, Invalid) as error:
            # Somebody else has written, or has deleted it: then the API server takes no new
            # finalizer.
            found = client.get(kind, metadata["name"], metadata.get("namespace"))
            if found is None or _edition(found) != _edition(obj):
                return None
            if isinstance(error, Invalid):
                raise
            metadata = found["metadata"]
    return None


def _edition(obj: Mapping[str, Any]) -> tuple[Any, ...]:
    """What tells that an object is still the one that was looked at, and asks for the same."""
    metadata = obj["metadata"]
    return metadata["uid"], metadata.get("generation"), "deletionTimestamp" in metadata


def _patch(client: Client, kind: Kind, obj: Obj, body: Any, subresource: str | None = None) -> Obj:
    metadata = obj["metadata"]
    return client.patch(
        kind, metadata["name"], metadata.get("namespace"), body, subresource=subresource
    )


def _each(client: Client, items: Sequence[tuple[Any, ...]], work: Callable[..., Any]) -> list[Any]:
    def call(item: tuple[Any, ...]) -> Callable[[], Any]:
        return lambda: work(*item)

    answers = client.parallel([call(item) for item in items], workers=WORKERS)
    for answer in answers:
        if isinstance(answer, ApiError) and not isinstance(
            answer, (NotFound, Conflict, AlreadyExists)
        ):
            raise answer
    return [answer for answer in answers if not isinstance(answer, ApiError)]
