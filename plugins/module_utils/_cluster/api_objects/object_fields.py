# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of fields in objects, as people and as the API server write them; and fields that a kind does
not have: read from what server-side apply says of them, and taken out. Pure.

Who creates an object by POST or PUT is not told of such fields: the API server drops them.
Server-side apply refuses the object."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..._json import Obj, parse_json

Path = tuple["str | int", ...]

_CAUSE = re.compile(r"(?P<path>.+): field not declared in schema")
# [0], or the keys of an item of a list that is a map: [name="x"], [port=80,protocol="TCP"].
_ITEM = re.compile(r'\[(?P<inside>(?:[^"\]]|"(?:\\.|[^"\\])*")*)\]')
_KEY = re.compile(r'(?P<name>[^=,"]+)=(?P<value>"(?:\\.|[^"\\])*"|[^,]+)')


def dotted(path: Path) -> str:
    """A path as people write it: spec.containers[0].image."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def unknown_in(causes: Iterable[str]) -> list[str]:
    """The paths, as the API server writes them, of those causes that are about such a field."""
    found = map(_CAUSE.fullmatch, causes)
    return [match["path"] for match in found if match]


def path_to(value: Any, text: str) -> Path | None:
    """The keys and indices to what a path of the API server names; None where nothing is there.

    Keys may hold dots, which the path does not tell from its own: those that are there decide.
    """
    if not text:
        return ()
    if isinstance(value, Mapping):
        rest = text.removeprefix(".")
        for key in sorted(value, key=len, reverse=True):
            below = rest[len(key) :]
            if rest.startswith(key) and below[:1] in ("", ".", "["):
                found = path_to(value[key], below)
                if found is not None:
                    return (key, *found)
    item = _ITEM.match(text) if isinstance(value, list) else None
    if item:
        for index, entry in enumerate(value):
            found = path_to(entry, text[item.end() :])
            if found is not None and _is_item(entry, index, item["inside"]):
                return (index, *found)
    return None


def without(obj: Mapping[str, Any], paths: Sequence[Path]) -> Obj:
    """A copy of an object without what is at these paths of keys."""
    kept: Obj = json.loads(json.dumps(obj))
    for path in paths:
        owner: Any = kept
        for step in path[:-1]:
            owner = owner[step]
        del owner[path[-1]]
    return kept


def _is_item(entry: Any, index: int, inside: str) -> bool:
    """Whether an entry of a list is the one between brackets: by its index, or by keys, of which
    those that the entry lacks have their default."""
    if inside.isdigit():
        return index == int(inside)
    keys = {match["name"]: _value(match["value"]) for match in _KEY.finditer(inside)}
    return isinstance(entry, Mapping) and all(
        entry.get(name, value) == value for name, value in keys.items()
    )


def _value(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        return text
