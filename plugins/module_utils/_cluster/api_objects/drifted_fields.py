# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others have made of an object that we had applied, by its managedFields. Pure.

A field that we still own has the value that we gave it: whoever changes it owns it from then on
(sigs.k8s.io/structured-merge-diff). So defaults, other notations of a value and what admission made
of it are nobody's drift, and neither is what the next apply would change by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._json import JsonError, Obj, elements, parse_json
from .changes import as_stored, contains
from .labels import FIELD_MANAGER
from .managers import Path, deploys, is_foreign, is_of_kubernetes, paths_of, readable

# Where somebody who merely adds something means us: annotations are controllers' notes.
_ADDED_TO = (("f:metadata", "f:labels"), ("f:spec",))
# The API server gives it to each namespace, and to whoever has made that the field.
_OF_NAMESPACES = ("f:metadata", "f:labels", "f:kubernetes.io/metadata.name")


@dataclass(frozen=True)
class Drift:
    """fields: as a person writes them. by: the field manager that has them now, or wrote the object
    last; since when, as an API timestamp. Both "" where nobody can be told."""

    fields: tuple[str, ...]
    by: str = ""
    since: str = ""


def taken(live: Obj, wanted: Obj, *, lenient: bool = False) -> Drift | None:
    """The fields of wanted that somebody else has changed or taken away; None for none. What parts of
    Kubernetes do by design, such as scaling, does not count.

    lenient: wanted may have fields that the kind has not: what nobody owns does not count."""
    fields = _Ownership(live)
    lost = {path: fields.of(path) for path in _lost(as_stored(wanted), live, fields.ours, ())}
    kept = {path: owner for path, owner in lost.items() if _counts(owner, lenient=lenient)}
    if not kept:
        return None
    writer = _newest(kept.values()) or _newest(fields.foreign)
    return Drift(tuple(map(readable, kept)), _manager(writer), _time(writer))


def added(live: Obj) -> Drift | None:
    """The labels and the parts of the spec that somebody else has added, which no apply of ours takes
    away; None for none."""
    fields = _Ownership(live)
    theirs = {path: entry for entry in fields.foreign for path in fields.additions(entry)}
    if not theirs:
        return None
    writer = _newest(theirs.values())
    return Drift(tuple(sorted(map(readable, theirs))), _manager(writer), _time(writer))


class _Ownership:
    """Who has which fields of an object. ours: the fieldsV1 tree of what we have, None for nothing; where no
    run has written the object, of what those have who apply our manifests of it. foreign: the entries of
    others, without the parts of Kubernetes."""

    def __init__(self, live: Mapping[str, Any]) -> None:
        found = elements(live, "metadata", "managedFields")
        entries = list(filter(_has_shape, found))
        own = [entry for entry in entries if _manager(entry) == FIELD_MANAGER]
        own = own or list(filter(deploys, entries))
        self.ours = _merged([entry["fieldsV1"] for entry in own]) or None
        self._others = [entry for entry in entries if entry not in own]
        self.foreign = list(filter(is_foreign, self._others))

    def of(self, path: Path) -> Mapping[str, Any]:
        """The entry of somebody else that has a field, something in it, or all that it is in; empty for
        none."""
        return _newest([entry for entry in self._others if _owns(entry, path)])

    def additions(self, entry: Mapping[str, Any]) -> list[Path]:
        """What an entry has in labels and spec and we have not; nothing of an object of which we have
        nothing."""
        own = set(paths_of(self.ours or {}))
        found = paths_of(entry["fieldsV1"])
        return [path for path in found if own and path not in own and _is_addition(path)]


def _has_shape(entry: Any) -> bool:
    return isinstance(entry, Mapping) and isinstance(entry.get("fieldsV1"), Mapping)


def _counts(owner: Mapping[str, Any], *, lenient: bool) -> bool:
    """Whether it is drift that we have lost a field to an owner (empty: to nobody)."""
    return not is_of_kubernetes(_manager(owner)) if owner else not lenient


def _is_addition(path: Path) -> bool:
    return path != _OF_NAMESPACES and any(path[: len(place)] == place for place in _ADDED_TO)


def _merged(trees: Sequence[Mapping[str, Any]]) -> Obj:
    """Several fieldsV1 trees as one."""
    found: Obj = {}
    for tree in trees:
        for key, below in tree.items():
            found[key] = _merged((found.get(key) or {}, below or {}))
    return found


def _lost(wanted: Any, live: Any, ours: Mapping[str, Any] | None, path: Path) -> Iterator[Path]:
    """The paths where live is not what was wanted, and that we do not own (ours: the fieldsV1 tree
    there, None for nothing of it)."""
    if contains(live, wanted) or ours == {}:
        return
    if isinstance(wanted, Mapping) and (isinstance(live, Mapping) or ours):
        yield from _lost_keys(wanted, live if isinstance(live, Mapping) else {}, ours or {}, path)
    elif isinstance(wanted, list) and ours:
        for item in wanted:
            yield from _lost_item(item, live if isinstance(live, list) else [], ours, path)
    else:
        yield path


def _lost_keys(
    wanted: Mapping[str, Any], live: Mapping[str, Any], ours: Mapping[str, Any], path: Path
) -> Iterator[Path]:
    """The same of a mapping. What is wanted empty may be missing."""
    for key, value in wanted.items():
        if value or key in live:
            mark = f"f:{key}"
            yield from _lost(value, live.get(key), ours.get(mark), (*path, mark))


def _lost_item(
    item: Any, live: Sequence[Any], ours: Mapping[str, Any], path: Path
) -> Iterator[Path]:
    """The same of one item of a list whose items have owners of their own."""
    if any(contains(each, item) for each in live):
        return
    mark = next((mark for mark in ours if _names(mark, item)), None)
    if mark is None:
        yield (*path, _mark_of(item, ours))
    elif mark.startswith("k:"):
        has = next((each for each in live if _names(mark, each)), None)
        yield from _lost(item, has, ours[mark], (*path, mark))


def _names(mark: str, item: Any) -> bool:
    """Whether a step of a path, k:{"name":"a"} or v:"a", is that of an item; keys that the item
    leaves to defaults may be any."""
    kind, _colon, text = mark.partition(":")
    value = _parsed(text)
    if kind == "v":
        return bool(value == item)
    if kind != "k" or not isinstance(item, Mapping) or not isinstance(value, Mapping):
        return False
    shared = value.keys() & item.keys()
    return bool(shared) and all(item[key] == value[key] for key in shared)


def _mark_of(item: Any, siblings: Mapping[str, Any]) -> str:
    """The step of a path for an item that has no owner of ours, by the keys of those that have."""
    if not isinstance(item, Mapping):
        return f"v:{json.dumps(item)}"
    keys = next((_parsed(mark[2:]) for mark in siblings if mark.startswith("k:")), None)
    return "k:" + json.dumps({key: item[key] for key in keys or () if key in item})


def _parsed(text: str) -> Any:
    """The value in a step of a path; None where it has none."""
    try:
        return parse_json(text)
    except JsonError:
        return None


def _owns(entry: Mapping[str, Any], path: Path) -> bool:
    """Whether an entry has a field, something in it, or all that it is in."""
    return any(
        found[: len(path)] == path or path[: len(found)] == found
        for found in paths_of(entry["fieldsV1"])
    )


def _newest(entries: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The entry that was written last; empty for none."""
    return max(entries, key=_time, default={})


def _manager(entry: Mapping[str, Any]) -> str:
    return str(entry.get("manager") or "")


def _time(entry: Mapping[str, Any]) -> str:
    return str(entry.get("time") or "")
