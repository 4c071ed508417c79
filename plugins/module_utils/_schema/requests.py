# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests: the parameters of a module as its core takes them, typed and never rewritten. Pure.

A request is a frozen dataclass, each field of which takes the parameter of its name. What several
modules share is a ParameterGroup: a field of that type takes its own fields from the same
parameters. A field of another dataclass, or a tuple of one, takes the suboptions of its parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_args, get_type_hints

Request = TypeVar("Request")


class ParameterGroup:
    """Marks a dataclass whose fields are parameters of the module itself, not suboptions of one."""


def make_request(kind: type[Request], params: Mapping[str, Any]) -> Request:
    """The request that checked parameters make. One that is missing leaves its field at its default;
    one that is no field's is left out."""
    return _filled(kind, parts_of(kind), params)


def parts_of(kind: type) -> Mapping[str, type | None]:
    """The fields of a request, each with the dataclass that its type names, where it names one."""
    hints = get_type_hints(kind)
    return {
        field.name: next(filter(_is_request, _named_in(hints[field.name])), None)
        for field in fields(kind)
    }


def _filled(
    kind: type[Request], parts: Mapping[str, type | None], params: Mapping[str, Any]
) -> Request:
    """A request whose parts are known already."""
    values = {}
    for name, part in parts.items():
        if part is not None and issubclass(part, ParameterGroup):
            values[name] = make_request(part, params)
        elif name in params:
            values[name] = params[name] if part is None else _suboptions(part, params[name])
    return kind(**values)


def _suboptions(kind: type, value: Any) -> Any:
    """The suboptions of one parameter as a dataclass, or as a tuple of them where it is a list."""
    if value is None:
        return None
    parts = parts_of(kind)
    if isinstance(value, Mapping):
        return _filled(kind, parts, value)
    return tuple(_filled(kind, parts, each) for each in value)


def _is_request(hint: Any) -> bool:
    return isinstance(hint, type) and is_dataclass(hint)


def _named_in(hint: Any) -> Iterator[Any]:
    """The types that a type is made of, itself first: of Optional[tuple[X, ...]] also X."""
    yield hint
    for argument in get_args(hint):
        yield from _named_in(argument)
