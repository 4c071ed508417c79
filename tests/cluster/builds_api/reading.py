# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verbs that read: get, list and watch, in the form that was asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial

from tests.cluster.builds_api import negotiation
from tests.cluster.builds_api.images import IMAGES, stream_tag
from tests.cluster.builds_api.kinds import IMAGE_STREAM_TAGS, IMAGE_STREAMS, Obj, Resource
from tests.cluster.builds_api.messages import Answer, Request, encoded, json_answer
from tests.cluster.builds_api.objects import Objects, Place
from tests.cluster.builds_api.refusals import RefusalError, bad_request, not_found
from tests.cluster.builds_api.selection import Matches, selector
from tests.cluster.builds_api.store import ADDED, DELETED, MODIFIED, Change, Store
from tests.cluster.builds_api.tables import metadata_only, table

_END_OF_LIST = {"k8s.io/initial-events-end": "true"}


def get(objects: Objects, place: Place, request: Request) -> Answer:
    """One object."""
    found = (
        _one_tag(objects.store, place)
        if place.resource is IMAGE_STREAM_TAGS
        else objects.get(place)
    )
    return shown(place.resource, found, request)


def shown(
    resource: Resource,
    found: Obj,
    request: Request,
    status: int = 200,
    warnings: tuple[str, ...] = (),
) -> Answer:
    """An object in the form that was asked for."""
    form = negotiation.form(request.headers.get("Accept", ""))
    if form == negotiation.TABLE:
        include = request.query.get("includeObject", "Metadata")
        found = table(
            resource, [found], version=found["metadata"].get("resourceVersion", ""), include=include
        )
    elif form == negotiation.METADATA:
        found = metadata_only(found)
    return json_answer(found, status, warnings)


def listed(objects: Objects, place: Place, request: Request) -> Answer:
    """All objects that the selectors choose, in one piece whatever `limit` says."""
    chosen = selector(
        request.query.get("labelSelector", ""), request.query.get("fieldSelector", "")
    )
    with objects.store.lock:
        version = str(objects.store.version)
        items = [obj for obj in _all(objects.store, place.resource, place.namespace) if chosen(obj)]
    return json_answer(_list(place.resource, items, version, request))


def _list(resource: Resource, items: Sequence[Obj], version: str, request: Request) -> Obj:
    form = negotiation.form(request.headers.get("Accept", ""))
    if form == negotiation.TABLE:
        include = request.query.get("includeObject", "Metadata")
        return table(resource, items, version=version, include=include)
    kind, api_version = f"{resource.kind}List", resource.api_version
    if form == negotiation.METADATA:
        kind, api_version = "PartialObjectMetadataList", "meta.k8s.io/v1"
        items = [metadata_only(item) for item in items]
    return {
        "kind": kind,
        "apiVersion": api_version,
        "metadata": {"resourceVersion": version},
        "items": list(items),
    }


def watch(objects: Objects, place: Place, request: Request) -> Answer:
    """A stream of events; from the beginning where no version is given, or where the list is asked
    for as events."""
    chosen = selector(
        request.query.get("labelSelector", ""), request.query.get("fieldSelector", "")
    )
    form = negotiation.form(request.headers.get("Accept", ""))
    given = request.query.get("resourceVersion", "")
    if given and not given.isdigit():
        raise bad_request(f"invalid resource version {given!r}")
    from_start = given in ("", "0") or request.asks("sendInitialEvents")
    return Answer(
        200,
        _events(objects.store, place, request, chosen, form, None if from_start else int(given)),
    )


def _events(
    store: Store, place: Place, request: Request, chosen: Matches, form: str, since: int | None
) -> Iterator[bytes]:
    show = _Form(place.resource, form, request)
    until = time.monotonic() + request.seconds
    bookmarks = request.asks("allowWatchBookmarks")
    if since is None:
        with store.lock:
            since = store.version
            start = [obj for obj in _all(store, place.resource, place.namespace) if chosen(obj)]
        for obj in start:
            yield show.event(ADDED, obj)
        if request.asks("sendInitialEvents"):
            yield show.bookmark(since, _END_OF_LIST)
    try:
        for change in store.changes(place.resource, since, until):
            if change is None:
                if bookmarks:
                    yield show.bookmark(store.version)
            elif place.namespace in ("", change.key[2]):
                found = _seen(change, chosen)
                if found is not None:
                    yield show.event(*found)
    except RefusalError as error:
        yield encoded({"type": "ERROR", "object": error.status})


def _seen(change: Change, chosen: Matches) -> tuple[str, Obj] | None:
    """The event as those see it who watch only what a selector chooses."""
    before = change.old is not None and chosen(change.old)
    after = change.type != DELETED and chosen(change.new)
    if after:
        return (MODIFIED if before else ADDED), change.new
    return (DELETED, change.new) if before else None


class _Form:
    """Writes events; only the first table of a watch has columns."""

    def __init__(self, resource: Resource, form: str, request: Request) -> None:
        self._resource = resource
        self._form = form
        self._include = request.query.get("includeObject", "Metadata")
        self._head = True

    def event(self, kind: str, obj: Obj) -> bytes:
        if self._form == negotiation.TABLE:
            version = obj["metadata"]["resourceVersion"]
            obj = table(
                self._resource, [obj], version=version, include=self._include, head=self._head
            )
            self._head = False
        elif self._form == negotiation.METADATA:
            obj = metadata_only(obj)
        return encoded({"type": kind, "object": obj})

    def bookmark(self, version: int, annotations: dict[str, str] | None = None) -> bytes:
        meta: Obj = {"resourceVersion": str(version)}
        if annotations:
            meta["annotations"] = annotations
        if self._form == negotiation.TABLE:
            found = {
                **table(self._resource, [], version="", include="None", head=False),
                "metadata": meta,
            }
        elif self._form == negotiation.METADATA:
            found = metadata_only({"metadata": meta})
        else:
            found = {
                "kind": self._resource.kind,
                "apiVersion": self._resource.api_version,
                "metadata": meta,
            }
        return encoded({"type": "BOOKMARK", "object": found})


def _all(store: Store, resource: Resource, namespace: str) -> list[Obj]:
    if resource is not IMAGE_STREAM_TAGS:
        return store.list(resource, namespace)
    found = []
    for stream in store.list(IMAGE_STREAMS, namespace):
        for tag in (stream.get("status") or {}).get("tags") or []:
            item = _tag(store, stream, tag["tag"])
            if item is not None:
                found.append(item)
    return found


def _one_tag(store: Store, place: Place) -> Obj:
    name, colon, tag = place.name.partition(":")
    if not colon:
        raise bad_request("ImageStreamTags must be retrieved with <name>:<tag>")
    stream = store.get(IMAGE_STREAMS, place.namespace, name)
    if stream is None:
        raise not_found(IMAGE_STREAMS, name)
    found = _tag(store, stream, tag)
    if found is None:
        raise not_found(IMAGE_STREAM_TAGS, place.name)
    return found


def _tag(store: Store, stream: Obj, tag: str) -> Obj | None:
    return stream_tag(stream, tag, partial(store.get, IMAGES, ""))
