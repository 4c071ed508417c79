# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find out what applying objects would change: by the API server's own dry run, so that it knows
defaults and webhooks.

Users without write rights get a comparison made here, and are told so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from .._errors import EnablementError
from .._json import Obj, elements, part
from .._verdicts.wait_causes import deletion_cause
from .api_client.api_errors import ApiError, Forbidden, Invalid, NotFound, UnknownKind
from .api_client.client import Client
from .api_objects.changes import Change, as_stored, contains, overlaid
from .api_objects.labels import OWNERSHIP, PART_OF_LABEL
from .api_objects.managers import foreign_fields
from .api_objects.object_fields import dotted, path_to, unknown_in, without
from .api_objects.objects import ObjectKey, key_of, without_noise
from .ownership_refusal import OwnershipOptions, refusal_of

_IMMUTABLE = re.compile(
    r"immutable|may not (be )?change|cannot (be )?change|updates to .* are forbidden", re.IGNORECASE
)
# What is in them would go with them.
_NEVER_REPLACED = frozenset(
    {"Namespace", "CustomResourceDefinition", "PersistentVolume", "PersistentVolumeClaim"}
)
_SHOWN = 5

T = TypeVar("T")


@dataclass(frozen=True)
class PlanRules:
    """What may be done to objects that are there.

    owner: the value of PART_OF_LABEL that makes an object ours; adopt: others are taken over, not
    refused; adoptable: these are in any case. recreate: replace an object whose immutable fields
    would change; renewed: objects that are in any case. awaited: objects whose kind need not be
    served yet. lenient: fields that a kind does not have are left out, not refused. left_alone:
    objects that stay as they are where somebody else has made them. offered: what a person may
    choose where others are refused.
    """

    owner: str
    adopt: bool = False
    adoptable: Set[ObjectKey] = frozenset()
    recreate: bool = False
    renewed: Set[ObjectKey] = frozenset()
    awaited: Set[ObjectKey] = frozenset()
    lenient: bool = False
    left_alone: Set[ObjectKey] = frozenset()
    offered: OwnershipOptions = field(default_factory=OwnershipOptions)


class UnknownFieldsError(EnablementError):
    """Objects have fields that their kinds do not have. fields: of each object, as the API server
    writes their paths."""

    def __init__(self, fields: Mapping[ObjectKey, Sequence[str]], host: str) -> None:
        self.fields = fields
        shown = [f"{key}: {', '.join(paths)}" for key, paths in fields.items()]
        more = f"; and {len(shown) - _SHOWN} more objects" if len(shown) > _SHOWN else ""
        super().__init__(
            "There are fields that the API server has no place for",
            where=host,
            why=f"{'; '.join(shown[:_SHOWN])}{more}",
            todo="remove or correct them",
        )


def plan(
    client: Client,
    desired: Sequence[Obj],
    rules: PlanRules,
    *,
    live: Mapping[ObjectKey, Obj],
) -> list[Change]:
    """What applying desired would do, in the same order; sends nothing but dry runs and reads.

    live: objects that are known to be there, to save reading them.
    Raises EnablementError for objects that are not ours (all of them in one message), UnknownKind,
    UnknownFieldsError, Invalid, ...
    """
    planner = _Planner(client, live, rules, desired)
    left = _left_alone(client, planner, [obj for obj in desired if key_of(obj) in rules.left_alone])
    planned = [obj for obj in desired if key_of(obj) not in left]
    served = {key_of(obj): _is_served(client, obj, planned, rules.awaited, left) for obj in planned}
    calls = [partial(planner.plan_object, obj, served=served[key_of(obj)]) for obj in planned]
    found = client.parallel(calls)
    if planner.refused:
        raise refusal_of(planner.refused, client.host, rules.offered)
    if unknown := _unknown_fields(planned, found):
        raise UnknownFieldsError(unknown, client.host)
    changes = {**left, **{change.key: change for change in _answered(found)}}
    return [changes[key_of(obj)] for obj in desired]


def _left_alone(
    client: Client, planner: _Planner, objects: Sequence[Obj]
) -> dict[ObjectKey, Change]:
    """Those of the objects that somebody else has made, and that stay so."""
    found = _answered(client.parallel([partial(planner.leave_alone, obj) for obj in objects]))
    return {change.key: change for change in found if change is not None}


def _answered(found: Sequence[T | ApiError]) -> list[T]:
    """What was found out of each object. Raises ApiError where something could not be."""
    errors = [entry for entry in found if isinstance(entry, ApiError)]
    if len(errors) > 1:
        errors[0].why += f" (and {len(errors) - 1} more objects cannot be planned)"
    if errors:
        raise errors[0]
    return [entry for entry in found if not isinstance(entry, ApiError)]


def _unknown_fields(
    desired: Sequence[Obj], found: Sequence[Change | ApiError]
) -> dict[ObjectKey, list[str]]:
    """The fields that the API server refuses, by object."""
    refused = {
        key_of(obj): unknown_in(error.causes)
        for obj, error in zip(desired, found, strict=True)
        if isinstance(error, Invalid)
    }
    return {key: paths for key, paths in refused.items() if paths}


class _Planner:
    """The look at one object, which runs in several threads."""

    def __init__(
        self,
        client: Client,
        live: Mapping[ObjectKey, Obj],
        rules: PlanRules,
        desired: Sequence[Obj],
    ) -> None:
        # Whether each could be taken over.
        self.refused: dict[ObjectKey, bool] = {}
        self._client = client
        self._live = live
        self._rules = rules
        self._desired = desired
        self._namespaces = {
            obj["metadata"]["name"] for obj in desired if obj["kind"] == "Namespace"
        }
        self._roles = {
            (obj["kind"], obj["metadata"]["name"])
            for obj in desired
            if obj["kind"].endswith("Role")
        }

    def leave_alone(self, obj: Obj) -> Change | None:
        """An object that somebody else has made, which stays as it is; None where it is ours, or is
        not there, or is about to go."""
        key = key_of(obj)
        before = None if key in self._live else self._read(key)
        if before is None or "deletionTimestamp" in before["metadata"] or self._is_ours(before):
            return None
        differs = (
            "" if contains(before, _without_owner(obj)) else ", and is not what the recipe has"
        )
        note = f"was there before{differs}"
        return Change(key, "unchanged", before, before, note, obj, theirs=True)

    def plan_object(self, obj: Obj, *, served: bool) -> Change:
        key = key_of(obj)
        change = self._use_as_it_is(obj, key) or self._plan(obj, key, served=served)
        change.desired = change.desired or obj
        change.adopted = change.action == "update" and not self._is_ours(change.before or {})
        return change

    def _use_as_it_is(self, obj: Obj, key: ObjectKey) -> Change | None:
        """A namespace that somebody has made as it has to be, say for a pull secret, stays theirs;
        None otherwise."""
        if key.kind != "Namespace" or key in self._live:
            return None
        before = self._read(key)
        if before is None or "deletionTimestamp" in before["metadata"] or self._is_ours(before):
            return None
        return (
            Change(key, "unchanged", before, before, "was there before")
            if contains(before, _without_owner(obj))
            else None
        )

    def _plan(self, obj: Obj, key: ObjectKey, *, served: bool) -> Change:
        if not served:
            return Change(key, "create", None, obj)
        try:
            applied = self._client.apply_in_full(obj, dry_run=True)
        except NotFound as error:
            return self._plan_what_lacks(obj, key, error)
        except Forbidden as error:
            if any("terminat" in cause for cause in error.causes):
                raise self._in_going_namespace(key, error) from None
            return self._predict(obj, key, error)
        except Invalid as error:
            if unknown_in(error.causes):
                return self._plan_without(obj, key, error)
            return self._replace(obj, key, error)
        if applied.created:
            return Change(key, "create", None, applied.object, "; ".join(applied.warnings))
        before = self._read(key)
        if before is None:
            # It went between the two requests.
            return Change(key, "create", None, applied.object)
        return self._compare(key, before, applied.object, "; ".join(applied.warnings))

    def _in_going_namespace(self, key: ObjectKey, error: Forbidden) -> ApiError:
        """The error for an object whose namespace is being deleted: what holds that up."""
        namespace = self._read(ObjectKey("v1", "Namespace", "", key.namespace))
        return error if namespace is None else _is_going(error.what, self._client.host, namespace)

    def _plan_without(self, obj: Obj, key: ObjectKey, error: Invalid) -> Change:
        """An object of whose fields the API server knows some not: without them where that may be.
        What it says of a definition that is among desired counts only once that is applied."""
        if any(_brings(other, key) for other in self._desired):
            return self._compare_locally(obj, key, "")
        found = [path_to(obj, text) for text in unknown_in(error.causes)]
        paths = [path for path in found if path]
        if not paths or not self._rules.lenient:
            raise error
        kept = without(obj, paths)
        change = self._plan(kept, key, served=True)
        change.desired = change.desired or kept
        change.left_out = (*map(dotted, paths), *change.left_out)
        return change

    def _plan_what_lacks(self, obj: Obj, key: ObjectKey, error: NotFound) -> Change:
        """An object that cannot be tried out yet, for lack of its namespace or of the role that it
        binds; others raise."""
        if "namespaces" not in error.why:
            if "roleRef" not in obj:
                raise error
            return self._bind(obj, key, error)
        known = not key.namespace or key.namespace in self._namespaces
        note = "" if known else f"namespace {key.namespace} does not exist yet"
        return Change(key, "create", None, obj, note)

    def _compare(self, key: ObjectKey, before: Obj, after: Obj, note: str) -> Change:
        self._refuse_going(key, before)
        foreign = foreign_fields(before)
        note = "; ".join(filter(None, [self._check_owner(key, before), note, foreign]))
        if "deletionTimestamp" in before["metadata"]:
            return _once_gone(key, before, after)
        same = without_noise(before) == without_noise(after)
        return Change(key, "unchanged" if same else "update", before, after, note)

    def _predict(self, obj: Obj, key: ObjectKey, error: Forbidden) -> Change:
        """Compare the fields that we set, since trying it out was refused."""
        right = " cannot " in error.why
        why = "for lack of the right to try it out" if right else f"since {error.why}"
        return self._compare_locally(obj, key, f"predicted locally, {why}")

    def _bind(self, obj: Obj, key: ObjectKey, error: NotFound) -> Change:
        """A binding's role, not the binding, is what is not there; so says the API server to who
        may not grant all."""
        role = (str(obj["roleRef"].get("kind")), str(obj["roleRef"].get("name")))
        if role in self._roles:
            return self._compare_locally(obj, key, "")
        error.why = f"{role[0]} {role[1]}, which it binds, does not exist"
        raise error

    def _compare_locally(self, obj: Obj, key: ObjectKey, note: str) -> Change:
        """Compare the fields that we set, without the API server's help."""
        before = self._read(key)
        if before is None:
            return Change(key, "create", None, obj, note)
        wanted = as_stored(obj)
        if contains(before, wanted):
            return self._compare(key, before, before, note)
        return self._compare(key, before, overlaid(before, wanted), note)

    def _replace(self, obj: Obj, key: ObjectKey, error: Invalid) -> Change:
        if not any(_IMMUTABLE.search(cause) for cause in error.causes or [error.why]):
            raise error
        before = self._read(key)
        if before is None:
            raise error
        self._refuse_going(key, before)
        note = self._check_owner(
            key, before, replaced="deletionTimestamp" not in before["metadata"]
        )
        if "deletionTimestamp" in before["metadata"]:
            return _once_gone(key, before, obj)
        if key.kind in _NEVER_REPLACED:
            error.todo = f"remove the {key.kind} by hand if what is in it may be lost"
            raise error
        if not self._rules.recreate and key not in self._rules.renewed:
            error.todo = "set recreate (hardware_enablement_recreate in the playbooks) to delete it and create it anew"
            raise error
        note = "; ".join(filter(None, [note, error.why]))
        return Change(key, "replace", before, obj, note)

    def _refuse_going(self, key: ObjectKey, before: Obj) -> None:
        """Raise ApiError where what is being deleted holds what is made before it is gone, whosever
        it is."""
        if key.kind in _NEVER_REPLACED and "deletionTimestamp" in before["metadata"]:
            raise _is_going(f"Cannot apply {key}", self._client.host, before)

    def _is_ours(self, before: Obj) -> bool:
        labels = part(before, "metadata", "labels")
        return bool(labels.get(PART_OF_LABEL) == self._rules.owner)

    def _check_owner(self, key: ObjectKey, before: Obj, *, replaced: bool = False) -> str:
        if self._is_ours(before):
            return ""
        # What is adopted is put back some day: nothing secret is written down, and nothing made
        # anew is the same.
        may_adopt = self._rules.adopt or key in self._rules.adoptable
        could = not replaced and (key.api_version, key.kind) != ("v1", "Secret")
        if not may_adopt or not could:
            self.refused[key] = could
        return "adopted"

    def _read(self, key: ObjectKey) -> Obj | None:
        known = self._live.get(key)
        if known is not None:
            return known
        return self._client.get(
            self._client.kind(key.api_version, key.kind), key.name, key.namespace
        )


def _once_gone(key: ObjectKey, before: Obj, after: Obj) -> Change:
    note = "it is being deleted, and is created anew when it is gone"
    return Change(key, "replace", before, after, note)


def _is_going(what: str, host: str, going: Obj) -> ApiError:
    """The error for what has to be gone first: what holds it up, and what to do about that."""
    cause = deletion_cause(going)
    key = key_of(going)
    return ApiError(
        what,
        where=host,
        why=f"{key} is being deleted: {cause.why}",
        todo=f"{cause.todo}, then run again",
    )


def _without_owner(obj: Obj) -> Obj:
    """An object without what makes it ours: as somebody else would have made it."""
    metadata = obj["metadata"]
    labels = {
        name: value for name, value in part(metadata, "labels").items() if name not in OWNERSHIP
    }
    return {**obj, "metadata": {**metadata, "labels": labels}}


def _is_served(
    client: Client,
    obj: Obj,
    desired: Sequence[Obj],
    awaited: Set[ObjectKey],
    left: Mapping[ObjectKey, Change],
) -> bool:
    """Whether the kind is served; False when its CRD is among desired or it is awaited; else
    UnknownKind. left: what stays as it is: if it is the kind's CRD, there is nothing to wait for."""
    key = key_of(obj)
    try:
        client.kind(key.api_version, key.kind)
    except UnknownKind as error:
        theirs = next((name for name, crd in left.items() if _defines(crd.before, key)), None)
        if theirs is not None:
            error.todo = f"update {theirs}, which was there before and stays as it is"
        elif key in awaited or any(_brings(other, key) for other in desired):
            return False
        error.what = f"Cannot apply {key}: {error.what[0].lower()}{error.what[1:]}"
        raise
    return True


def _brings(obj: Obj, key: ObjectKey) -> bool:
    """Whether obj is the CRD of a key's kind, and has its version."""
    spec = part(obj, "spec")
    versions = [
        f"{spec.get('group')}/{version.get('name')}" for version in elements(spec, "versions")
    ]
    return _defines(obj, key) and key.api_version in versions


def _defines(obj: Obj | None, key: ObjectKey) -> bool:
    """Whether obj is the CRD of a key's kind, in whatever versions."""
    spec = part(obj or {}, "spec")
    return (
        spec.get("group") == key.api_version.rpartition("/")[0]
        and part(spec, "names").get("kind") == key.kind
    )
