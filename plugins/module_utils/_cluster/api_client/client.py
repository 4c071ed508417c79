# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verbs of the API server. Objects are plain dicts; no model classes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from ..._errors import InvalidInput
from ..._json import Obj
from ..api_objects.changes import as_stored, contains
from ..api_objects.kinds import Kind
from ..api_objects.labels import FIELD_MANAGER
from ..api_objects.objects import ObjectKey, key_of
from .api_errors import AlreadyExists, ApiError, Conflict, NotFound, Unreachable
from .connection import open_connection
from .connection_request import ConnectionRequest
from .decoding import METADATA_ALONE, ApiResponse, read_made, read_object, read_removal
from .identity import refuse_other
from .reading import PAGE_ITEMS, Listing, ObjectReader, describe, flag
from .transport import (
    WRITING,
    ApiRequest,
    ApiTransport,
    RepetitionPolicy,
    RequestBody,
    RequestName,
)

__all__ = ["Applied", "Client", "Listing", "connect"]

T = TypeVar("T")


@dataclass(frozen=True)
class Applied:
    """What an apply made of an object. created: it was not there before. warnings: the API server's
    own words."""

    object: Obj
    created: bool
    warnings: tuple[str, ...]


class Client(ObjectReader):
    """Reads from and writes to one API server. All methods raise ApiError and may be called by
    several threads."""

    def apply(self, obj: Mapping[str, Any], *, dry_run: bool = False, force: bool = True) -> Obj:
        """Server-side apply as our field manager; returns the object as it is (or, in a dry run,
        would be)."""
        return self.apply_in_full(obj, dry_run=dry_run, force=force).object

    def apply_in_full(
        self, obj: Mapping[str, Any], *, dry_run: bool = False, force: bool = True
    ) -> Applied:
        """As apply, and says whether the object was created and what the API server warns of."""
        key = key_of(obj)
        kind = self._kind_of(key)
        call = ApiRequest(
            "PATCH",
            kind.path(key.namespace, key.name),
            RequestName("apply", str(key), _count("apply", dry_run=dry_run)),
            query={"fieldManager": FIELD_MANAGER, "force": flag(force), **_dry(dry_run=dry_run)},
            body=RequestBody(_encode(obj), "application/apply-patch+yaml"),
            repetition=WRITING,
        )

        def read(answer: ApiResponse) -> Applied:
            return Applied(
                read_object(kind, key.name, answer), answer.status == 201, _warnings(answer)
            )

        return self.request(call, read)

    def create(self, obj: Mapping[str, Any], *, dry_run: bool = False) -> Obj:
        """Create an object; raises AlreadyExists.

        Where an attempt before was not answered, one that is there and as it should be is what that
        attempt made.
        """
        key = key_of(obj)
        kind = self._kind_of(key)
        call = ApiRequest(
            "POST",
            kind.path(key.namespace),
            RequestName("create", str(key), _count("create", dry_run=dry_run)),
            query={"fieldManager": FIELD_MANAGER, **_dry(dry_run=dry_run)},
            body=RequestBody(_encode(obj)),
            repetition=WRITING,
        )
        try:
            return self.request(call, partial(read_object, kind, key.name))
        except AlreadyExists as error:
            found = self.get(kind, key.name, key.namespace) if error.attempts > 1 else None
            if found is None or not contains(found, as_stored(obj)):
                raise
            return found

    def create_subresource(
        self, kind: Kind, name: str, namespace: str, subresource: str, body: Mapping[str, Any]
    ) -> Obj:
        """POST to a subresource, such as the instantiate of a BuildConfig; returns what that made."""
        call = ApiRequest(
            "POST",
            kind.path(namespace, name, subresource),
            RequestName(subresource, describe(kind, namespace, name), "create"),
            query={"fieldManager": FIELD_MANAGER},
            body=RequestBody(_encode(body)),
        )
        return self.request(call, read_made)

    def evict(self, pod: ObjectKey, uid: str, grace_period: int | None = None) -> None:
        """Ask for a pod to leave as its PodDisruptionBudgets allow: raises Unreachable with status
        429 where one does not now. grace_period: seconds, None for the pod's own."""
        options: Obj = {"preconditions": {"uid": uid}}
        if grace_period is not None:
            options["gracePeriodSeconds"] = grace_period
        metadata = {"name": pod.name, "namespace": pod.namespace}
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": metadata,
            "deleteOptions": options,
        }
        call = ApiRequest(
            "POST",
            self._kind_of(pod).path(pod.namespace, pod.name, "eviction"),
            RequestName("evict", str(pod)),
            body=RequestBody(_encode(body)),
            # A budget that refuses goes on doing so for longer than a request is repeated.
            repetition=RepetitionPolicy(once=True),
        )
        self.request(call, read_made)

    def patch(
        self,
        kind: Kind,
        name: str,
        namespace: str | None,
        body: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        subresource: str | None = None,
        strategic: bool = False,
        dry_run: bool = False,
    ) -> Obj:
        """JSON merge patch for a mapping, JSON patch for a list of operations.

        strategic: merges lists by their items' keys, for what several write into one list.
        Operations have to be such that doing them twice does no harm: they set or test fields, and
        add to no list.
        """
        merge = "strategic-merge" if strategic else "merge"
        form = merge if isinstance(body, Mapping) else "json"
        call = ApiRequest(
            "PATCH",
            kind.path(namespace, name, subresource),
            RequestName("patch", describe(kind, namespace, name), _count("patch", dry_run=dry_run)),
            query={"fieldManager": FIELD_MANAGER, **_dry(dry_run=dry_run)},
            body=RequestBody(_encode(body), f"application/{form}-patch+json"),
            repetition=RepetitionPolicy(repeatable=True, unconditional=not _names_one(body)),
        )
        return self.request(call, partial(read_object, kind, name))

    def delete(
        self,
        kind: Kind,
        name: str,
        namespace: str | None = None,
        *,
        uid: str | None = None,
        propagation: str = "Background",
        dry_run: bool = False,
    ) -> bool:
        """Ask for an object's removal; False when it (or, with uid, the very same one) was not
        there.

        Without uid, whatever has this name while it is asked for goes: for names that nobody else
        gives.
        """
        options: Obj = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": propagation,
        }
        if uid:
            options["preconditions"] = {"uid": uid}
        call = ApiRequest(
            "DELETE",
            kind.path(namespace, name),
            RequestName(
                "delete", describe(kind, namespace, name), _count("delete", dry_run=dry_run)
            ),
            query=_dry(dry_run=dry_run),
            body=RequestBody(_encode(options)),
            repetition=RepetitionPolicy(repeatable=True, unconditional=not uid),
        )
        try:
            self.request(call, read_removal)
        except NotFound as error:
            # Where it was asked for before, that is what removed it.
            return error.attempts > 1
        except Conflict:
            if uid:
                return False
            raise
        return True

    def delete_collection(
        self, kind: Kind, *, namespace: str | None, labels: str, fields: str = ""
    ) -> None:
        """Remove PAGE_ITEMS of the objects that match labels (which may not be empty) and fields, at
        most, in the background. An API server deletes them one by one, and no request lasts longer
        than a minute (kube-apiserver --request-timeout, --delete-collection-workers)."""
        if not labels:
            raise InvalidInput(
                f"Cannot delete all {kind.plural}", why="no labels are given", todo="select some"
            )
        query = {
            "labelSelector": labels,
            "limit": str(PAGE_ITEMS),
            "propagationPolicy": "Background",
        }
        if fields:
            query["fieldSelector"] = fields
        target = f"{describe(kind, namespace)} with {labels}"
        call = ApiRequest(
            "DELETE",
            kind.path(namespace),
            RequestName("delete", target, "delete_collection"),
            query=query,
            body=RequestBody(accept=METADATA_ALONE),
            repetition=WRITING,
        )
        self.request(call, read_removal)

    def parallel(self, calls: Sequence[Callable[[], T]], workers: int = 4) -> list[T | ApiError]:
        """The calls' results in order; an ApiError is a result, anything else is raised.

        After a call without an answer, although it was repeated, no other one begins before those
        under way have ended or one was answered. Once as many in a row as there are workers had
        none, the rest get that error too: waiting for each would take minutes.
        """
        silent: list[ApiError] = []
        under_way = 0
        changed = threading.Condition()

        def run(call: Callable[[], T]) -> T | ApiError:
            nonlocal under_way
            with changed:
                changed.wait_for(lambda: not silent or not under_way)
                if len(silent) >= workers:
                    return silent[-1]
                under_way += 1
            found: T | ApiError | None = None
            try:
                found = call()
            except ApiError as error:
                found = error
            finally:
                with changed:
                    under_way -= 1
                    if not isinstance(found, Unreachable):
                        silent.clear()
                    elif not found.status or found.attempts > 1:
                        silent.append(found)
                    changed.notify_all()
            return found

        if len(calls) < 2 or workers < 2:
            return [run(call) for call in calls]
        with ThreadPoolExecutor(min(workers, len(calls)), thread_name_prefix="cluster") as executor:
            return list(executor.map(run, calls))

    def hurried(self, read_s: float, patience_s: float) -> Client:
        """The same client, but no request takes longer than this: see Transport."""
        other = Client(self.transport.hurried(read_s, patience_s))
        other._served, other._served_lock = self._served, self._served_lock
        return other

    def _kind_of(self, key: ObjectKey) -> Kind:
        kind = self.kind(key.api_version, key.kind)
        if kind.namespaced and not key.namespace:
            why = f"a {key.kind} lives in a namespace"
            raise InvalidInput(f"{key} has no namespace", why=why, todo="set metadata.namespace")
        return kind


def connect(request: ConnectionRequest) -> Client:
    """A client from a task's connection options and K8S_AUTH_* variables.

    Sends nothing, unless cluster_uid says which cluster it has to be: raises EnablementError where
    it is another one.
    """
    client = Client(ApiTransport(open_connection(request)))
    if request.cluster_uid:
        refuse_other(client, request.cluster_uid)
    return client


def _names_one(body: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> bool:
    """Whether a patch is meant for one version of an object, or for one object of several of that
    name."""
    metadata = body.get("metadata") or {} if isinstance(body, Mapping) else {}
    return "resourceVersion" in metadata or "uid" in metadata


def _dry(*, dry_run: bool) -> dict[str, str]:
    return {"dryRun": "All"} if dry_run else {}


def _count(verb: str, *, dry_run: bool) -> str:
    return f"{verb} (dry run)" if dry_run else verb


def _encode(obj: Any) -> bytes:
    return json.dumps(obj, separators=(",", ":")).encode()


def _warnings(answer: ApiResponse) -> tuple[str, ...]:
    """The texts of the Warning headers, which look like: 299 - "text"."""
    header = answer.headers.get("Warning") or ""
    return tuple(
        part.rpartition('"')[0].replace('\\"', '"') for part in header.split('299 - "')[1:]
    )
