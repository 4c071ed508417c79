# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The types of schema.yaml: checks of objects against them, and their OpenAPI form. Pure.

Facts: openshift/api, build/v1/types.go and image/v1/types.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.builds_api.kinds import Obj

_FILE = Path(__file__).with_name("schema.yaml")
_SCALARS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "time": (str,),
}
_META = ("apiVersion", "kind", "metadata")


@dataclass(frozen=True)
class Field:
    """One field: its shape as schema.yaml writes it, and what it is."""

    shape: str
    about: str


@cache
def types() -> dict[str, dict[str, Field]]:
    """All types by name."""
    found = yaml.safe_load(_FILE.read_text())
    return {
        name: {
            field: Field(*(part.strip() for part in f"{text} | ".split("|")[:2]))
            for field, text in fields.items()
        }
        for name, fields in found.items()
    }


@dataclass(frozen=True)
class Checked:
    """An object without what its type does not have.

    unknown: paths of fields that are not in the type; wrong: (path, problem) of values of another
    shape.
    """

    object: Obj
    unknown: tuple[str, ...]
    wrong: tuple[tuple[str, str], ...]


def check(kind: str, obj: Obj) -> Checked:
    """Compare an object (metadata aside) with its type."""
    unknown: list[str] = []
    wrong: list[tuple[str, str]] = []
    body = {key: value for key, value in obj.items() if key not in _META}
    kept = _pruned(body, kind, "", unknown, wrong)
    meta = {key: obj[key] for key in _META if key in obj}
    return Checked({**meta, **kept}, tuple(unknown), tuple(wrong))


def _pruned(
    value: Any, shape: str, path: str, unknown: list[str], wrong: list[tuple[str, str]]
) -> Any:
    if shape == "any":
        return value
    if shape[0] == "[":
        if not isinstance(value, list):
            wrong.append((path, "must be a list"))
            return value
        return [
            _pruned(item, shape[1:-1], f"{path}[{i}]", unknown, wrong)
            for i, item in enumerate(value)
        ]
    if shape[0] == "{":
        if not isinstance(value, dict):
            wrong.append((path, "must be a map"))
            return value
        return {
            key: _pruned(item, shape[1:-1], f"{path}.{key}", unknown, wrong)
            for key, item in value.items()
        }
    if shape in _SCALARS:
        # A boolean is an int for Python, but not for JSON.
        if not isinstance(value, _SCALARS[shape]) or (
            shape == "integer" and isinstance(value, bool)
        ):
            wrong.append((path, f"must be of type {shape}"))
        return value
    if not isinstance(value, dict):
        wrong.append((path, "must be an object"))
        return value
    fields = types()[shape]
    kept = {}
    for key, item in value.items():
        below = f"{path}.{key}" if path else key
        # A null, or an empty list (Go's omitempty), is a field that is not set.
        if key in fields and item not in (None, []):
            kept[key] = _pruned(item, fields[key].shape, below, unknown, wrong)
        elif key not in fields:
            unknown.append(below)
    return kept


def reachable(kind: str) -> Iterator[str]:
    """The names of a type and all types below it, each once."""
    seen: set[str] = set()
    waiting = [kind]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        yield name
        waiting += [
            bare
            for field in types()[name].values()
            if (bare := field.shape.strip("[]{}")) in types()
        ]


def openapi_type(name: str, reference: str) -> Obj:
    """A type as an OpenAPI 3 schema; reference: what stands before a type's name in $ref."""
    properties = {}
    for field, found in types()[name].items():
        properties[field] = _openapi_shape(found.shape, reference)
        if found.about:
            properties[field]["description"] = found.about
    return {"type": "object", "properties": properties}


def _openapi_shape(shape: str, reference: str) -> Obj:
    if shape[0] == "[":
        return {
            "type": "array",
            "items": _openapi_shape(shape[1:-1], reference),
            "x-kubernetes-list-type": "atomic",
        }
    if shape[0] == "{":
        return {"type": "object", "additionalProperties": _openapi_shape(shape[1:-1], reference)}
    if shape == "any":
        return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    if shape == "time":
        return {"type": "string", "format": "date-time"}
    if shape == "integer":
        return {"type": "integer", "format": "int64"}
    if shape in _SCALARS:
        return {"type": shape}
    return {"allOf": [{"$ref": f"{reference}{shape}"}]}
