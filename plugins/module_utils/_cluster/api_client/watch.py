# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Watches that go on by themselves: a hub keeps several of them going in the background."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any, Union

from ..._errors import EnablementError
from ..._http.retries import LONGEST_WAIT_S
from ..._json import Obj, part
from ..api_objects.kinds import Kind
from .api_errors import Gone, Unreachable
from .reading import ObjectReader
from .repetition import pause_before
from .watch_stream import WatchEvent, WatchStream

__all__ = ["WatchEvent", "WatchHub"]

WATCH_S = 300.0
# A run that could not read the first list has nothing to wait for yet.
FIRST_PATIENCE_S = 30.0
# A watch that ends sooner than this without having told anything is opened again ever more slowly.
LASTING_S = 5.0
# So many objects wait to be taken; what comes then waits in the connection, and the API server ends a
# watch that does not keep up: a new list tells the difference, which takes minutes where there are
# thousands of pods.
MOST_WAITING = 50_000


@dataclass(frozen=True)
class _WatchRequest:
    """What a subscription is about. source: see WatchEvent; leanly: see WatchHub.subscribe."""

    kind: Kind
    namespace: str | None
    labels: str | None
    fields: str | None
    source: Any
    leanly: bool


@dataclass
class _Subscription:
    """One list-and-watch, and what it has told so far: (namespace, name) -> the object, slimmed."""

    request: _WatchRequest
    known: dict[tuple[str, str], Obj] = field(default_factory=dict)
    resource_version: str = ""
    synced: bool = False
    stream: WatchStream | None = None
    trouble: str = ""


@dataclass(frozen=True)
class _Synced:
    """Goes through the queue behind the first list, so that synced means: everything was handed
    out."""

    source: Any = None


_Item = Union[WatchEvent, _Synced, EnablementError]


class _EventQueue:
    """What waits to be taken, in the order in which it came; of an object that changes meanwhile the
    last event, in the place of the first. most: of how many objects."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._items: dict[Hashable, _Item] = {}
        self._changed = threading.Condition()
        self._closed = False

    def put(self, key: Hashable, item: _Item) -> None:
        """Wait until there is room, unless nobody takes anything any more."""
        with self._changed:
            before = self._items.get(key)
            if before is None:
                self._changed.wait_for(lambda: len(self._items) < self._most or self._closed)
            self._items[key] = item if before is None else _both(before, item)
            self._changed.notify_all()

    def take(self, timeout: float) -> list[_Item]:
        """All that waits; for the first one at most timeout seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._items, timeout)
            found = list(self._items.values())
            self._items.clear()
            self._changed.notify_all()
            return found

    def close(self) -> None:
        """Nobody takes anything any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


def _both(before: _Item, after: _Item) -> _Item:
    """Two events of an object as one: who has not heard of it hears that it is new."""
    if isinstance(before, WatchEvent) and isinstance(after, WatchEvent):
        is_new = before.type == "ADDED" and after.type == "MODIFIED"
        return replace(after, type="ADDED") if is_new else after
    return after


class WatchHub:
    """Lists and watches in background threads, whose events come together in next().

    A subscription starts with an ADDED event for each object that is there. It survives cut
    connections, expired resource versions and an API server that does not answer, for as long as
    the caller waits: after a new list the difference is told. Who takes events seldom hears of each
    object once, as it is then. managedFields are left out of all objects. A DELETED event may carry
    only the object's metadata and spec.nodeName.
    """

    def __init__(
        self,
        client: ObjectReader,
        *,
        patience_s: float = FIRST_PATIENCE_S,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        """patience_s: how long the first list of a subscription may take before next() raises
        Unreachable. most_waiting: of how many objects events wait to be handed out."""
        self._client = client
        self._patience_s = patience_s
        self._queue = _EventQueue(most_waiting)
        self._subscriptions: list[_Subscription] = []
        self._unsynced = 0
        self._closed = threading.Event()
        self._failure: EnablementError | None = None

    @property
    def synced(self) -> bool:
        """Whether next() has handed out the first list of every subscription."""
        return self._unsynced == 0

    @property
    def trouble(self) -> str:
        """Why nothing is heard of some kind right now, "" where all is well: for who says that time
        is up."""
        return next((entry.trouble for entry in self._subscriptions if entry.trouble), "")

    def subscribe(
        self,
        kind: Kind,
        *,
        namespace: str | None = None,
        labels: str | None = None,
        fields: str | None = None,
        source: Any = None,
        leanly: bool = False,
    ) -> None:
        """Start to list and watch. With a source, an error is an event, which ends this
        subscription alone. leanly: events carry nothing but what is read of the kind, see
        Client.list."""
        request = _WatchRequest(kind, namespace, labels, fields, source, leanly)
        subscription = _Subscription(request)
        self._subscriptions.append(subscription)
        self._unsynced += 1
        threading.Thread(
            target=self._run, args=(subscription,), name=f"watch-{kind.plural}", daemon=True
        ).start()

    def next(self, timeout: float) -> list[WatchEvent]:
        """What has happened, waiting for at most timeout seconds for the first thing.

        Returns early, maybe with nothing, when a subscription has become synced. Raises the
        ApiError that ended a subscription.
        """
        if self._failure is not None:
            raise self._failure
        events: list[WatchEvent] = []
        for item in self._queue.take(timeout):
            self._take(item, events)
        if self._failure is not None and not events:
            raise self._failure
        return events

    def close(self) -> None:
        """Stop all watches; their threads end by themselves."""
        self._closed.set()
        self._queue.close()
        for subscription in self._subscriptions:
            if subscription.stream is not None:
                subscription.stream.stop()

    def _take(self, item: _Item, events: list[WatchEvent]) -> None:
        if isinstance(item, WatchEvent):
            events.append(item)
        elif isinstance(item, _Synced):
            self._unsynced -= 1
            if item.source is not None:
                events.append(WatchEvent("SYNCED", {}, item.source))
        else:
            self._failure = item

    def _run(self, subscription: _Subscription) -> None:
        """The thread of one subscription: ends when the hub is closed, or with an error that
        waiting does not heal."""
        begun = time.monotonic()
        failures = 0
        while not self._closed.is_set():
            started, version = time.monotonic(), subscription.resource_version
            asked_s = 0.0
            try:
                if not subscription.resource_version:
                    self._list(subscription)
                self._follow(subscription, self._open(subscription))
            except Gone:
                subscription.resource_version = ""
            except Unreachable as error:
                asked_s, subscription.trouble = error.asked_s, error.why
                if not subscription.synced and time.monotonic() - begun > self._patience_s:
                    self._fail(subscription, error)
                    return
            except EnablementError as error:
                self._fail(subscription, error)
                return
            except Exception as error:  # noqa: BLE001 (nobody else would see that this thread has died)
                why = f"{type(error).__name__}: {error}"
                what = f"Cannot watch {subscription.request.kind.plural}"
                self._fail(subscription, EnablementError(what, why=why, todo="report it"))
                return
            if time.monotonic() - started < LASTING_S:
                advanced = version and subscription.resource_version not in ("", version)
                failures = 1 if advanced else failures + 1
                self._closed.wait(max(min(asked_s, LONGEST_WAIT_S), pause_before(failures + 2)))
            else:
                failures = 0

    def _list(self, subscription: _Subscription) -> None:
        """List, and tell the difference to what was told before."""
        request = subscription.request
        listing = self._client.list(
            request.kind,
            namespace=request.namespace,
            labels=request.labels,
            fields=request.fields,
            leanly=request.leanly,
            each_alone=request.source is not None,
        )
        missing = dict(subscription.known)
        for obj in listing.items:
            metadata = obj["metadata"]
            before = missing.pop(_place(obj), None)
            if before is not None and before["metadata"]["uid"] != metadata["uid"]:
                self._tell(subscription, "DELETED", before)
                before = None
            if before is None:
                self._tell(subscription, "ADDED", obj)
            elif before["metadata"].get("resourceVersion") != metadata.get("resourceVersion"):
                self._tell(subscription, "MODIFIED", obj)
        for obj in missing.values():
            self._tell(subscription, "DELETED", obj)
        subscription.resource_version = listing.resource_version
        if not subscription.synced:
            subscription.synced = True
            self._queue.put(object(), _Synced(subscription.request.source))

    def _open(self, subscription: _Subscription) -> WatchStream:
        request = subscription.request
        stream = self._client.watch(
            request.kind,
            namespace=request.namespace,
            labels=request.labels,
            fields=request.fields,
            resource_version=subscription.resource_version,
            timeout_s=WATCH_S,
            leanly=request.leanly,
            each_alone=request.source is not None,
        )
        subscription.stream, subscription.trouble = stream, ""
        if self._closed.is_set():
            stream.stop()
        return stream

    def _follow(self, subscription: _Subscription, stream: WatchStream) -> None:
        for event in stream:
            subscription.resource_version = event.object["metadata"]["resourceVersion"]
            if event.type != "BOOKMARK":
                self._tell(subscription, event.type, event.object)

    def _tell(self, subscription: _Subscription, type_: str, obj: Obj) -> None:
        obj["metadata"].pop("managedFields", None)
        if type_ == "DELETED":
            subscription.known.pop(_place(obj), None)
        else:
            subscription.known[_place(obj)] = _slim(obj)
        event = WatchEvent(type_, obj, subscription.request.source)
        self._queue.put((id(subscription), _place(obj), obj["metadata"]["uid"]), event)

    def _fail(self, subscription: _Subscription, error: EnablementError) -> None:
        """The end of a subscription: of all where it has no source."""
        if subscription.request.source is None:
            self._queue.put(object(), error)
            return
        if not subscription.synced:
            self._queue.put(object(), _Synced())
        event = WatchEvent("ERROR", {"message": str(error)}, subscription.request.source)
        self._queue.put(object(), event)


def _place(obj: Obj) -> tuple[str, str]:
    return obj["metadata"].get("namespace") or "", obj["metadata"]["name"]


def _slim(obj: Obj) -> Obj:
    """What is kept to tell of an object's end: enough to know whose it was, little enough for
    thousands of them."""
    node = part(obj, "spec").get("nodeName")
    kept = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": obj["metadata"]}
    return {**kept, "spec": {"nodeName": node}} if node else kept
