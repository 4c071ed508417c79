# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Typed values of options: from what surveys, extra variables and YAML give to what templates get."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..._json import parse_json
from ..._schema.problems import describe

_TRUE = frozenset(("y", "yes", "on", "1", "true", "t"))
_FALSE = frozenset(("n", "no", "off", "0", "false", "f"))


class NotOfTypeError(Exception):
    """A value is not of a type; the text says what was expected."""


def plain(value: Any) -> Any:
    """The same data in plain dicts, lists and scalars: Ansible hands over subclasses of them.

    Raises NotOfTypeError for text that is none, such as bytes of another encoding that Ansible
    keeps as they are.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return {_text(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value)


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise NotOfTypeError("text in UTF-8") from None
    return str.__str__(value)


def to_str(value: Any) -> str:
    """Text; a whole number is taken as one, other numbers are not: 550.10 would silently become
    550.1."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise NotOfTypeError("text (in quotes)")


def to_int(value: Any) -> int:
    """A whole number, also one written as text."""
    if isinstance(value, bool):
        raise NotOfTypeError("a whole number")
    try:
        number = int(value.strip() if isinstance(value, str) else value)
    except (TypeError, ValueError, OverflowError):
        raise NotOfTypeError("a whole number") from None
    if isinstance(value, float) and value != number:
        raise NotOfTypeError("a whole number")
    return number


def to_bool(value: Any) -> bool:
    """True or false, also as Ansible writes them in text (yes, no, on, off, 1, 0)."""
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if isinstance(value, (str, int)) and word in _TRUE | _FALSE:
        return word in _TRUE
    raise NotOfTypeError("true or false")


def to_list(value: Any) -> list[Any]:
    """A list, also as JSON or as text with commas."""
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            found = _json(value, "a list")
            if isinstance(found, list):
                return found
        else:
            return [part.strip() for part in value.split(",") if part.strip()]
    raise NotOfTypeError("a list")


def to_dict(value: Any) -> dict[str, Any]:
    """A mapping, also as JSON."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        found = _json(value, "a mapping") if value.strip() else {}
        if isinstance(found, dict):
            return found
    raise NotOfTypeError("a mapping")


def _json(text: str, what: str) -> Any:
    try:
        return plain(parse_json(text))
    except ValueError:
        raise NotOfTypeError(f"{what}, or one written as JSON") from None


CONVERTERS: Mapping[str, Callable[[Any], Any]] = {
    "str": to_str,
    "int": to_int,
    "bool": to_bool,
    "list": to_list,
    "dict": to_dict,
}


def convert(value: Any, kind: str, elements: str = "") -> Any:
    """The value as this type, its items too where elements names one. Raises NotOfTypeError."""
    converted = CONVERTERS[kind](plain(value))
    if kind != "list" or not elements:
        return converted
    done = []
    for index, item in enumerate(converted):
        try:
            done.append(CONVERTERS[elements](item))
        except NotOfTypeError as error:
            raise NotOfTypeError(
                f"{error} as item {index + 1}, which is {describe(item)}"
            ) from None
    return done
