# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of other operators' custom resources, and a value for each.

The files are facts: paths and types, made of the operators' CRDs by `make operator-fields`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

# A type's name, or the values that there are.
FieldType = str | list[Any]
FieldTypes = Mapping[str, FieldType]
Obj = dict[str, Any]

FOLDER = Path(__file__).parent
LIST, MAP = "list of ", "map of "
OBJECT = "object"
# Of what an item of a list is made: "tolerations[].key".
ITEM = "[]"

_SAMPLES: Mapping[str, Any] = {
    "boolean": True,
    "integer": 7,
    "number": 7,
    "string": "sample",
    "int-or-string": "7",
    OBJECT: {"sample": "1"},
}


class FieldCase(NamedTuple):
    """One field with one value."""

    path: str
    value: Any

    @property
    def spec(self) -> Obj:
        """A spec that sets this field alone."""
        return at_path(self.path, self.value)


def fields_of(operator: str) -> Mapping[str, FieldTypes]:
    """Kind, with its API version -> path of each field of its spec -> its type."""
    found: Mapping[str, FieldTypes] = yaml.safe_load((FOLDER / f"{operator}.yml").read_text())
    return found


def cases(types: FieldTypes) -> Iterator[FieldCase]:
    """Each field, with each value where these are told, else with one of its type."""
    for path, type_ in types.items():
        if ITEM not in path:
            for value in _values(path, type_, types):
                yield FieldCase(path, value)


def at_path(path: str, value: Any) -> Obj:
    """The mapping in which a dotted path has a value."""
    for name in reversed(path.split(".")):
        value = {name: value}
    return dict(value)


def _values(path: str, type_: FieldType, types: FieldTypes) -> list[Any]:
    if isinstance(type_, list):
        return type_
    if type_ == "boolean":
        return [True, False]
    return [_sample(path, type_, types)]


def _sample(path: str, type_: FieldType, types: FieldTypes) -> Any:
    """A value of a type; an item of a list has all its fields."""
    if isinstance(type_, list):
        return type_[0]
    if type_.startswith(MAP):
        return {"sample": _sample("", type_.removeprefix(MAP), types)}
    if type_ == f"{LIST}{OBJECT}":
        return [_item(f"{path}{ITEM}.", types)]
    if type_.startswith(LIST):
        return [_sample("", type_.removeprefix(LIST), types)]
    return _SAMPLES[type_]


def _item(prefix: str, types: FieldTypes) -> Obj:
    found: Obj = {}
    for path, type_ in types.items():
        name = path.removeprefix(prefix)
        if path.startswith(prefix) and ITEM not in name:
            value = _sample(path, type_, types)
            for key in reversed(name.split(".")[1:]):
                value = {key: value}
            first = name.split(".")[0]
            if isinstance(found.get(first), dict):
                value = {**found[first], **value}
            found[first] = value
    return found
