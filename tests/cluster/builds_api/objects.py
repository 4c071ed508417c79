# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Create, change and remove objects by the API's rules: versions, dry runs, field managers,
finalizers."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from tests.cluster.builds_api import ownership
from tests.cluster.builds_api.clock import stamp
from tests.cluster.builds_api.kinds import Obj, Resource
from tests.cluster.builds_api.refusals import (
    already_exists,
    bad_request,
    conflict,
    invalid,
    not_found,
    owned_by_others,
)
from tests.cluster.builds_api.store import Store
from tests.cluster.builds_api.strategies import prepare

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
# A user sets the rest of the metadata.
_SYSTEM = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
)
# Go's omitempty: they are not stored.
_UNSET: tuple[Any, ...] = (None, {}, [], "")
_FINALIZERS = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}


@dataclass(frozen=True)
class Place:
    """Where an object is."""

    resource: Resource
    namespace: str
    name: str


@dataclass(frozen=True)
class Writer:
    """Who writes, for managedFields, and whether anything is stored."""

    manager: str
    dry_run: bool = False


class Objects:
    """Writes to the store. All methods raise RefusalError and return the object as it is (or would
    be) stored."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def get(self, place: Place) -> Obj:
        """The object; raises RefusalError (404)."""
        found = self.store.get(place.resource, place.namespace, place.name)
        if found is None:
            raise not_found(place.resource, place.name)
        return found

    def create(self, place: Place, given: Obj, writer: Writer) -> Obj:
        """A new object; an empty name is made of generateName."""
        meta = _metadata(place, given)
        name = meta.get("name") or (
            f"{meta['generateName']}{uuid.uuid4().hex[:5]}" if "generateName" in meta else ""
        )
        if not _NAME.fullmatch(name):
            raise invalid(
                place.resource, name, [("metadata.name", "must be a lower-case DNS subdomain")]
            )
        new = {**given, "metadata": {**meta, "name": name}}
        with self.store.lock:
            if self.store.get(place.resource, place.namespace, name) is not None:
                raise already_exists(place.resource, name)
            return self._commit(place.resource, None, new, writer)

    def update(self, place: Place, given: Obj, writer: Writer) -> Obj:
        """Replace the object with all that is given but what the system sets."""
        with self.store.lock:
            old = self.get(place)
            version = (given.get("metadata") or {}).get("resourceVersion")
            if not version:
                raise invalid(
                    place.resource, place.name, [("metadata.resourceVersion", "must be specified")]
                )
            _check_version(place, old, given)
            return self._commit(
                place.resource, old, {**given, "metadata": _metadata(place, given)}, writer
            )

    def merge(self, place: Place, patch: Obj, writer: Writer, check: Callable[[Obj], Obj]) -> Obj:
        """A JSON merge patch (RFC 7386); check sees the result before it is stored."""
        with self.store.lock:
            old = self.get(place)
            _check_version(place, old, patch)
            given = check(merge_patch(old, patch))
            return self._commit(
                place.resource, old, {**given, "metadata": _metadata(place, given)}, writer
            )

    def change(self, place: Place, writer: Writer, how: Callable[[Obj], None]) -> Obj:
        """For the controllers: change a copy of the object and store it."""
        with self.store.lock:
            old = self.get(place)
            new = deepcopy(old)
            how(new)
            return self._commit(place.resource, old, new, writer)

    def apply(self, place: Place, given: Obj, writer: Writer, *, force: bool) -> tuple[Obj, bool]:
        """Server-side apply: (the object, whether it is new)."""
        wanted = {**given, "metadata": {**_metadata(place, given), "name": place.name}}
        with self.store.lock:
            old = self.store.get(place.resource, place.namespace, place.name)
            if old is not None:
                _check_version(place, old, given)
            elif not _NAME.fullmatch(place.name):
                raise invalid(
                    place.resource,
                    place.name,
                    [("metadata.name", "must be a lower-case DNS subdomain")],
                )
            try:
                new, entries = ownership.applied(old, wanted, writer.manager, stamp(), force=force)
            except ownership.FieldConflictError as error:
                raise owned_by_others(place.resource, place.name, error.owners) from error
            return self._commit(place.resource, old, new, writer, entries), old is None

    def delete(self, place: Place, options: Mapping[str, Any], *, dry_run: bool) -> Obj:
        """Remove an object, or mark it for removal while it has finalizers."""
        with self.store.lock:
            old = self.get(place)
            wanted = options.get("preconditions") or {}
            for key in ("uid", "resourceVersion"):
                if wanted.get(key, old["metadata"][key]) != old["metadata"][key]:
                    is_ = old["metadata"][key]
                    why = f"Precondition failed: {key} in precondition: {wanted[key]}, in object: {is_}"
                    raise conflict(place.resource, place.name, why)
            finalizers = list(old["metadata"].get("finalizers") or [])
            added = _FINALIZERS.get(options.get("propagationPolicy") or "")
            if added and added not in finalizers:
                finalizers.append(added)
            if dry_run or (finalizers and "deletionTimestamp" in old["metadata"]):
                return old
            if not finalizers:
                return self.store.remove(place.resource, old)
            marks = {
                "deletionTimestamp": stamp(),
                "deletionGracePeriodSeconds": 0,
                "finalizers": finalizers,
            }
            return self.store.put(place.resource, {**old, "metadata": {**old["metadata"], **marks}})

    def _commit(
        self,
        resource: Resource,
        old: Obj | None,
        new: Obj,
        writer: Writer,
        entries: Sequence[ownership.Entry] | None = None,
    ) -> Obj:
        now = stamp()
        meta = {
            key: value
            for key, value in new["metadata"].items()
            if key not in _SYSTEM and value not in _UNSET
        }
        if old is None:
            meta.update(uid=str(uuid.uuid4()), creationTimestamp=now)
        else:
            meta.update({key: old["metadata"][key] for key in _SYSTEM if key in old["metadata"]})
        prepared = prepare(resource, old, {**new, "metadata": meta})
        if entries is None:
            entries = ownership.updated(old, prepared, writer.manager, now)
        prepared = ownership.with_entries(prepared, entries)
        if old is not None and ownership.same(prepared, old):
            return old
        if writer.dry_run:
            return prepared
        if "deletionTimestamp" in meta and not meta.get("finalizers"):
            return self.store.remove(resource, prepared)
        return self.store.put(resource, prepared)


def merge_patch(value: Any, patch: Any) -> Any:
    """The value after a JSON merge patch (RFC 7386)."""
    if not isinstance(patch, dict):
        return deepcopy(patch)
    merged = dict(value) if isinstance(value, dict) else {}
    for key, item in patch.items():
        if item is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), item)
    return merged


def _metadata(place: Place, given: Obj) -> Obj:
    """The metadata that a user gives, in the place that the path names."""
    meta = {key: value for key, value in (given.get("metadata") or {}).items() if value is not None}
    if place.name and meta.get("name", place.name) != place.name:
        text = f"the name of the object ({meta['name']}) does not match the name on the URL ({place.name})"
        raise bad_request(text)
    if meta.get("namespace", place.namespace) != place.namespace:
        text = (
            "the namespace of the provided object does not match the namespace sent on the request"
            f" ({place.namespace})"
        )
        raise bad_request(text)
    for key in ("labels", "annotations"):
        values = meta.get(key) or {}
        if not isinstance(values, dict) or not all(
            isinstance(value, str) for value in values.values()
        ):
            raise bad_request(f"metadata.{key} must be a map of strings")
    return {**meta, "namespace": place.namespace}


def _check_version(place: Place, old: Obj, given: Obj) -> None:
    meta = given.get("metadata") or {}
    if meta.get("uid", old["metadata"]["uid"]) != old["metadata"]["uid"]:
        raise conflict(
            place.resource,
            place.name,
            f"the UID in the request ({meta['uid']}) is not that of the object",
        )
    if meta.get("resourceVersion") not in (None, "", old["metadata"]["resourceVersion"]):
        why = "the object has been modified; please apply your changes to the latest version and try again"
        raise conflict(place.resource, place.name, why)
