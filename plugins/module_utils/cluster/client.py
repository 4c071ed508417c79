# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verbs of the API server. Objects are plain dicts; no model classes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.connection import open_connection
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.errors import (
    ApiError,
    Conflict,
    NotFound,
    Unreachable,
)
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.identity import refuse_other
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.kinds import Kind
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.labels import FIELD_MANAGER
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.objects import ObjectKey, key_of
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.reading import (
    Listing,
    Reader,
    decode,
    describe,
    flag,
)
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.transport import Answer, Call, Transport
from ansible_collections.hardware.enablement.plugins.module_utils.errors import InvalidInput

__all__ = ["Applied", "Client", "Listing", "connect"]

Obj = dict[str, Any]
T = TypeVar("T")

_APPLY_ATTEMPTS = 4


@dataclass(frozen=True)
class Applied:
    """What an apply made of an object. created: it was not there before. warnings: the API server's own words."""

    object: Obj
    created: bool
    warnings: tuple[str, ...]


class Client(Reader):
    """Reads from and writes to one API server. All methods raise ApiError and may be called by several threads."""

    def apply(self, obj: Mapping[str, Any], *, dry_run: bool = False, force: bool = True) -> Obj:
        """Server-side apply as our field manager; returns the object as it is (or, in a dry run, would be)."""
        return self.apply_in_full(obj, dry_run=dry_run, force=force).object

    def apply_in_full(self, obj: Mapping[str, Any], *, dry_run: bool = False, force: bool = True) -> Applied:
        """As apply, and says whether the object was created and what the API server warns of."""
        key = key_of(obj)
        call = Call(
            "PATCH",
            self._path_of(key),
            "apply",
            str(key),
            query={"fieldManager": FIELD_MANAGER, "force": flag(force), **_dry(dry_run)},
            body=_encode(obj),
            content_type="application/apply-patch+yaml",
            count_as=_count("apply", dry_run),
            repeatable=True,
        )
        for attempt in range(1, _APPLY_ATTEMPTS + 1):
            try:
                answer = self.transport.send(call)
                break
            except Conflict as error:
                # Causes name other field managers. Without any, somebody wrote at the same moment: apply again.
                if error.causes or attempt == _APPLY_ATTEMPTS:
                    raise
        return Applied(decode(answer), answer.status == 201, _warnings(answer))

    def create(self, obj: Mapping[str, Any], *, dry_run: bool = False) -> Obj:
        """Create an object; raises AlreadyExists."""
        key = key_of(obj)
        path = self.kind(key.api_version, key.kind).path(key.namespace)
        call = Call(
            "POST",
            path,
            "create",
            str(key),
            query={"fieldManager": FIELD_MANAGER, **_dry(dry_run)},
            body=_encode(obj),
            count_as=_count("create", dry_run),
            repeatable=dry_run,
        )
        return self.ask(call)

    def create_subresource(
        self, kind: Kind, name: str, namespace: str, subresource: str, body: Mapping[str, Any]
    ) -> Obj:
        """POST to a subresource, such as the instantiate of a BuildConfig; returns what that made."""
        call = Call(
            "POST",
            kind.path(namespace, name, subresource),
            subresource,
            describe(kind, namespace, name),
            query={"fieldManager": FIELD_MANAGER},
            body=_encode(body),
            count_as="create",
        )
        return self.ask(call)

    def patch(
        self,
        kind: Kind,
        name: str,
        namespace: str | None,
        body: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        subresource: str | None = None,
        dry_run: bool = False,
    ) -> Obj:
        """JSON merge patch for a mapping, JSON patch for a list of operations."""
        call = Call(
            "PATCH",
            kind.path(namespace, name, subresource),
            "patch",
            describe(kind, namespace, name),
            query={"fieldManager": FIELD_MANAGER, **_dry(dry_run)},
            body=_encode(body),
            content_type=f"application/{'merge' if isinstance(body, Mapping) else 'json'}-patch+json",
            count_as=_count("patch", dry_run),
            repeatable=dry_run,
        )
        return self.ask(call)

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
        """Ask for an object's removal; False when it (or, with uid, the very same one) was not there."""
        options: Obj = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation}
        if uid:
            options["preconditions"] = {"uid": uid}
        call = Call(
            "DELETE",
            kind.path(namespace, name),
            "delete",
            describe(kind, namespace, name),
            query=_dry(dry_run),
            body=_encode(options),
            count_as=_count("delete", dry_run),
            repeatable=dry_run,
        )
        try:
            self.transport.send(call)
        except NotFound:
            return False
        except Conflict:
            if uid:
                return False
            raise
        return True

    def delete_collection(self, kind: Kind, *, namespace: str | None, labels: str, fields: str = "") -> None:
        """Remove all objects that match labels (which may not be empty) and fields, in the background."""
        if not labels:
            raise InvalidInput(f"Cannot delete all {kind.plural}", why="no labels are given", todo="select some")
        query = {"labelSelector": labels, "propagationPolicy": "Background"}
        if fields:
            query["fieldSelector"] = fields
        target = f"{describe(kind, namespace)} with {labels}"
        call = Call("DELETE", kind.path(namespace), "delete", target, query=query, count_as="delete_collection")
        self.transport.send(call)

    def parallel(self, calls: Sequence[Callable[[], T]], workers: int = 4) -> list[T | ApiError]:
        """The calls' results in order; an ApiError is a result, anything else is raised.

        Once the API server does not answer at all, calls that have not begun get that error too: waiting for each
        would take minutes.
        """
        dead: list[ApiError] = []

        def run(call: Callable[[], T]) -> T | ApiError:
            if dead:
                return dead[0]
            try:
                return call()
            except ApiError as error:
                if isinstance(error, Unreachable) and not error.status:
                    dead.append(error)
                return error

        if len(calls) < 2 or workers < 2:
            return [run(call) for call in calls]
        with ThreadPoolExecutor(min(workers, len(calls)), thread_name_prefix="cluster") as executor:
            return list(executor.map(run, calls))

    def _path_of(self, key: ObjectKey) -> str:
        kind = self.kind(key.api_version, key.kind)
        if kind.namespaced and not key.namespace:
            why = f"a {key.kind} lives in a namespace"
            raise InvalidInput(f"{key} has no namespace", why=why, todo="set metadata.namespace")
        return kind.path(key.namespace, key.name)


def connect(params: Mapping[str, Any]) -> Client:
    """A client from a task's connection options (kubernetes.core's names) and K8S_AUTH_* variables.

    Sends nothing, unless cluster_uid says which cluster it has to be: raises EnablementError where it is another one.
    """
    client = Client(Transport(open_connection(params)))
    if params.get("cluster_uid"):
        refuse_other(client, str(params["cluster_uid"]))
    return client


def _dry(dry_run: bool) -> dict[str, str]:
    return {"dryRun": "All"} if dry_run else {}


def _count(verb: str, dry_run: bool) -> str:
    return f"{verb} (dry run)" if dry_run else verb


def _encode(obj: Any) -> bytes:
    return json.dumps(obj, separators=(",", ":")).encode()


def _warnings(answer: Answer) -> tuple[str, ...]:
    """The texts of the Warning headers, which look like: 299 - "text"."""
    header = answer.headers.get("Warning", "")
    return tuple(part.rpartition('"')[0].replace('\\"', '"') for part in header.split('299 - "')[1:])
