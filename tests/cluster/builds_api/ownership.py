# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who set which field: metadata.managedFields, and server-side apply on top of it. Pure.

Rules: Kubernetes documentation, "Server-Side Apply". Simpler than there in one point: every list is
one value, which holds for all lists of these types but volumes, conditions and owner references.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from tests.cluster.builds_api.kinds import Obj

Path = tuple[str, ...]
APPLY, UPDATE = "Apply", "Update"
_MISSING = object()
# They say which object it is, or are the server's own.
_UNOWNED = frozenset(
    {("apiVersion",), ("kind",)}
    | {
        ("metadata", key)
        for key in (
            "name",
            "namespace",
            "uid",
            "resourceVersion",
            "generation",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "managedFields",
        )
    }
)


class FieldConflictError(Exception):
    """An apply without force would change fields of others; owners: (manager, readable path) of
    each."""

    def __init__(self, owners: Sequence[tuple[str, str]]) -> None:
        super().__init__(str(owners))
        self.owners = owners


@dataclass(frozen=True)
class Entry:
    """What one manager has set by one operation (APPLY or UPDATE)."""

    manager: str
    operation: str
    api_version: str
    time: str
    paths: frozenset[Path]


def leaves(obj: Obj) -> frozenset[Path]:
    """The paths of all values that somebody can own."""
    return frozenset(
        path for path in _walk(obj, ()) if path[:2] not in _UNOWNED and path[:1] not in _UNOWNED
    )


def _walk(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, dict) and value:
        for key, below in value.items():
            yield from _walk(below, (*path, key))
    elif path:
        yield path


def read(obj: Obj) -> list[Entry]:
    """The entries of an object."""
    return [
        Entry(
            item["manager"],
            item["operation"],
            item["apiVersion"],
            item["time"],
            frozenset(_paths(item["fieldsV1"], ())),
        )
        for item in obj["metadata"].get("managedFields") or []
    ]


def with_entries(obj: Obj, entries: Iterable[Entry]) -> Obj:
    """The object with these entries, those without fields left out."""
    written = [
        {
            "manager": entry.manager,
            "operation": entry.operation,
            "apiVersion": entry.api_version,
            "time": entry.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": _tree(entry.paths),
        }
        for entry in entries
        if entry.paths
    ]
    meta = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    return {**obj, "metadata": {**meta, "managedFields": written} if written else meta}


def same(one: Obj, other: Obj) -> bool:
    """Whether two objects differ in the times of their entries at most, for which nothing is
    written."""
    return _untimed(one) == _untimed(other)


def _untimed(obj: Obj) -> Obj:
    return with_entries(obj, [replace(entry, time="") for entry in read(obj)])


def updated(before: Obj | None, after: Obj, manager: str, now: str) -> list[Entry]:
    """The entries after a create, update or patch: what it changed is the manager's alone."""
    old, new = leaves(before or {}), leaves(after)
    changed = {
        path for path in new if path not in old or _at(before or {}, path) != _at(after, path)
    }
    entries = (
        [replace(entry, paths=entry.paths - changed - (old - new)) for entry in read(before)]
        if before
        else []
    )
    if not changed:
        return entries
    mine = next((entry for entry in entries if _is(entry, manager, UPDATE)), None)
    paths = (mine.paths if mine else frozenset()) | changed
    others = [entry for entry in entries if entry is not mine]
    return [*others, Entry(manager, UPDATE, after["apiVersion"], now, frozenset(paths))]


def applied(
    before: Obj | None, wanted: Obj, manager: str, now: str, *, force: bool
) -> tuple[Obj, list[Entry]]:
    """Apply a manifest: (the object, its entries); raises FieldConflictError.

    What the manager applied earlier and no longer wants goes, unless somebody else owns it, too.
    """
    live = before or {}
    entries = read(live) if live else []
    mine = next((entry for entry in entries if _is(entry, manager, APPLY)), None)
    others = [entry for entry in entries if entry is not mine]
    paths = leaves(wanted)
    taken = [
        (entry, path)
        for entry in others
        for path in paths
        if any(_overlap(path, owned) for owned in entry.paths)
        and _at(live, path) != _at(wanted, path)
    ]
    if taken and not force:
        raise FieldConflictError(sorted((entry.manager, readable(path)) for entry, path in taken))
    lost = {path for _entry, path in taken}
    others = [
        replace(
            entry,
            paths=frozenset(p for p in entry.paths if not any(_overlap(p, path) for path in lost)),
        )
        for entry in others
    ]
    merged = _merged(live, wanted)
    kept = {path for entry in others for path in entry.paths}
    for path in (mine.paths if mine else frozenset()) - paths - kept:
        if _at(wanted, path) is _MISSING:
            _remove(merged, path)
    changed = (
        mine is None
        or mine.paths != paths
        or lost
        or any(_at(live, p) != _at(wanted, p) for p in paths)
    )
    entry = Entry(
        manager, APPLY, wanted["apiVersion"], now if changed or mine is None else mine.time, paths
    )
    return merged, [*others, entry]


def readable(path: Path) -> str:
    """As conflicts name a field: .spec.runPolicy."""
    return "".join(f".{part}" for part in path)


def _is(entry: Entry, manager: str, operation: str) -> bool:
    return (entry.manager, entry.operation) == (manager, operation)


def _overlap(one: Path, other: Path) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _at(obj: Obj, path: Path) -> Any:
    value: Any = obj
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return _MISSING
        value = value[key]
    return value


def _merged(live: Any, wanted: Any) -> Any:
    if isinstance(live, dict) and isinstance(wanted, dict):
        both = {key: _merged(live.get(key), value) for key, value in wanted.items()}
        return {
            **deepcopy({key: value for key, value in live.items() if key not in wanted}),
            **both,
        }
    return deepcopy(wanted)


def _remove(obj: Obj, path: Path) -> None:
    """Take a field out, and the maps that become empty by that."""
    below = obj.get(path[0])
    if len(path) == 1:
        obj.pop(path[0], None)
    elif isinstance(below, dict):
        _remove(below, path[1:])
        if not below:
            del obj[path[0]]


def _tree(paths: Iterable[Path]) -> Obj:
    tree: Obj = {}
    for path in sorted(paths):
        below = tree
        for key in path:
            below = below.setdefault(f"f:{key}", {})
    return tree


def _paths(tree: Obj, path: Path) -> Iterator[Path]:
    for key, below in tree.items():
        here = (*path, key.removeprefix("f:"))
        if below:
            yield from _paths(below, here)
        else:
            yield here
