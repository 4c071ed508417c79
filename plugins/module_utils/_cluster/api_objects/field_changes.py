# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields in which two versions of an object differ, fit to be shown: without the API server's
noise and without secrets. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from ..._json import Obj
from .changes import Change
from .objects import redact, without_noise

HIDDEN = "********"
MISSING = object()
# By these keys the items of a list are named and matched.
_NAMES = ("name", "key", "type", "mountPath", "containerPort")


@dataclass(frozen=True)
class FieldChange:
    """A field that differs.

    path: names from the object's root; an item of a list goes with the list, as in
    "containers[driver]". before, after: the values, MISSING where there is none.
    """

    path: tuple[str, ...]
    before: Any
    after: Any


def field_changes(change: Change, secrets: Set[str] = frozenset()) -> list[FieldChange]:
    """The fields that an update changes.

    A field that now holds one of the secrets is not shown as it was before either: there it held
    the secret before, which nobody here knows.
    """
    before, after = _bare(change.before), _bare(change.after)
    return [
        replace(
            field,
            before=HIDDEN
            if field.before is not MISSING and _holds(field.after, secrets)
            else _masked(field.before, secrets),
            after=_masked(field.after, secrets),
        )
        for field in _differences(before, after)
    ]


def presentable(obj: Mapping[str, Any] | None, secrets: Set[str]) -> Obj:
    """A copy of an object as a person may see it; {} for none."""
    found: Obj = _masked(_bare(obj), secrets)
    return found


def _bare(obj: Mapping[str, Any] | None) -> Obj:
    return redact(without_noise(obj)) if obj else {}


def _differences(old: Any, new: Any, path: tuple[str, ...] = ()) -> Iterator[FieldChange]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in [*old, *(key for key in new if key not in old)]:
            below = (*path, str(key))
            yield from _differences(old.get(key, MISSING), new.get(key, MISSING), below)
    elif _is_named(old) and _is_named(new):
        olds, news = _by_name(old), _by_name(new)
        for key in [*olds, *(key for key in news if key not in olds)]:
            below = (*path[:-1], f"{path[-1]}[{key}]")
            yield from _differences(olds.get(key, MISSING), news.get(key, MISSING), below)
    elif old != new:
        yield FieldChange(path, old, new)


def _is_named(value: Any) -> bool:
    """Whether a list's items have names that are all different."""
    if (
        not isinstance(value, list)
        or not value
        or not all(isinstance(item, Mapping) for item in value)
    ):
        return False
    return len(_by_name(value)) == len(value)


def _by_name(items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {next((str(item[key]) for key in _NAMES if key in item), ""): item for item in items}


def _holds(value: Any, secrets: Set[str]) -> bool:
    return value is not MISSING and any(secret in str(value) for secret in secrets)


def _masked(value: Any, secrets: Set[str]) -> Any:
    """The value with asterisks for secrets: what is cut or indented later could not be found any
    more."""
    if isinstance(value, Mapping):
        return {key: _masked(entry, secrets) for key, entry in value.items()}
    if isinstance(value, list):
        return [_masked(entry, secrets) for entry in value]
    if isinstance(value, str):
        for secret in sorted(secrets, key=len, reverse=True):
            value = value.replace(secret, HIDDEN) if secret else value
    return value
