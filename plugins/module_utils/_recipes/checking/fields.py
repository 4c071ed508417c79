# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares an object with the type of its kind: unknown fields, wrong types, what is missing. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..._cluster.api_objects.object_fields import Path, dotted
from ..._nodes.facts import quantity
from ..._schema.problems import describe, suggest
from .api_types import ANY, ApiTypes, is_whole

_SCALARS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "text (in quotes)"),
    "integer": ((int,), "a whole number (without quotes)"),
    "number": ((int, float), "a number (without quotes)"),
    "boolean": ((bool,), "true or false (without quotes)"),
    "quantity": ((str, int, float), "a quantity"),
    "int-or-string": ((str, int), "a number or text"),
}


@dataclass(frozen=True)
class FieldProblem:
    """Something in an object that the API server would refuse or drop. path: of the key, or of what
    lacks one. unknown: it is a field that the kind does not have. taken: the API server takes it all
    the same."""

    path: Path
    text: str
    unknown: bool = False
    taken: bool = False


def check_fields(manifest: Mapping[str, Any], types: ApiTypes) -> Iterator[FieldProblem]:
    """What is wrong with an object's fields; nothing where its kind's type is not known."""
    type_ = types.type_of(str(manifest["apiVersion"]), str(manifest["kind"]))
    yield from _check(manifest, type_, (), types)


def unknown_fields(manifest: Mapping[str, Any], types: ApiTypes) -> list[FieldProblem]:
    """The fields of an object that its kind does not have, as far as that is known."""
    return [problem for problem in check_fields(manifest, types) if problem.unknown]


def _check(value: Any, type_: Any, path: Path, types: ApiTypes) -> Iterator[FieldProblem]:
    type_ = types.resolve(type_)
    # To the API server null is the same as nothing.
    if type_ == ANY or value is None:
        return
    if isinstance(type_, str):
        yield from _scalar(value, type_, path)
    elif "enum" in type_:
        if value not in type_["enum"]:
            hint = suggest(value, type_["enum"]) if isinstance(value, str) else ""
            yield FieldProblem(path, f"{dotted(path)} cannot be {describe(value)}{hint}")
    elif "list" in type_:
        yield from _list(value, type_["list"], path, types)
    elif not isinstance(value, dict):
        yield FieldProblem(path, f"{dotted(path)} has to be a mapping, and is {describe(value)}")
    elif "map" in type_:
        for key, item in value.items():
            yield from _check(item, type_["map"], (*path, key), types)
    else:
        yield from _object(value, type_, path, types)


def _scalar(value: Any, type_: str, path: Path) -> Iterator[FieldProblem]:
    accepted, words = _SCALARS[type_]
    # In Python true is a number, too.
    if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted):
        yield FieldProblem(path, f"{dotted(path)} has to be {words}, and is {describe(value)}")
    elif type_ == "quantity" and not _is_quantity(value):
        yield FieldProblem(
            path,
            f"{dotted(path)} has to be a quantity such as 500m or 64Mi, and is {describe(value)}",
        )


def _is_quantity(value: Any) -> bool:
    try:
        quantity(value)
    except ValueError:
        return False
    return True


def _list(value: Any, item: Any, path: Path, types: ApiTypes) -> Iterator[FieldProblem]:
    if not isinstance(value, list):
        yield FieldProblem(path, f"{dotted(path)} has to be a list, and is {describe(value)}")
        return
    for index, entry in enumerate(value):
        yield from _check(entry, item, (*path, index), types)


def _object(
    value: Mapping[str, Any], type_: Mapping[str, Any], path: Path, types: ApiTypes
) -> Iterator[FieldProblem]:
    fields = type_["fields"]
    where = dotted(path) or "an object of this kind"
    for key, item in value.items():
        if key in fields:
            yield from _check(item, fields[key], (*path, key), types)
        elif not type_.get("open") and not (key == "status" and is_whole(fields)):
            text = f"{where} has no field {key}{suggest(str(key), fields)}"
            yield FieldProblem((*path, key), text, unknown=True)
    for key in type_["required"]:
        if value.get(key) is None:
            yield FieldProblem(path, f"{where} lacks the field {key}, which has to be there")
