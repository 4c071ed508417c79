# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Building blocks of a schema: small functions that check one value each and take down what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.schema.problems import Problems, describe, suggest

Check = Callable[[Any, str, Problems], None]


@dataclass(frozen=True)
class Key:
    """A key of a record: how its value is checked, and whether it has to be there."""

    check: Check
    required: bool = False


def join(path: str, key: str) -> str:
    """The path of a key below a path."""
    return f"{path}.{key}" if path else key


def anything(_value: Any, _path: str, _problems: Problems) -> None:
    """Every value is fine."""


def text(what: str = "text", pattern: str = r"(?s).+") -> Check:
    """A string that matches the whole pattern; what says in words which."""
    compiled = re.compile(pattern)

    def check(value: Any, path: str, problems: Problems) -> None:
        if not isinstance(value, str):
            quote = " (put it in quotes)" if isinstance(value, (bool, int, float)) else ""
            problems.add(path, what, describe(value) + quote)
        elif not compiled.fullmatch(value):
            problems.add(path, what, describe(value))

    return check


def flag(value: Any, path: str, problems: Problems) -> None:
    """true or false."""
    if not isinstance(value, bool):
        problems.add(path, "true or false", describe(value))


def integer(low: int, high: int, what: str = "") -> Check:
    """A whole number between two bounds, both included."""

    def check(value: Any, path: str, problems: Problems) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            problems.add(path, what or f"a whole number from {low} to {high}", describe(value))

    return check


def one_of(*values: Any) -> Check:
    """One of these values."""
    listed = ", ".join(str(value) for value in values)

    def check(value: Any, path: str, problems: Problems) -> None:
        if not any(value == known and type(value) is type(known) for known in values):
            problems.add(path, f"one of {listed}", describe(value))

    return check


def optional(inner: Check) -> Check:
    """null, or what the inner check accepts."""

    def check(value: Any, path: str, problems: Problems) -> None:
        if value is not None:
            inner(value, path, problems)

    return check


def items(inner: Check, minimum: int = 0) -> Check:
    """A list of at least so many values."""

    def check(value: Any, path: str, problems: Problems) -> None:
        if not isinstance(value, list):
            problems.add(path, "a list", describe(value))
            return
        if len(value) < minimum:
            problems.add(path, f"a list of at least {minimum}", describe(value))
        for index, item in enumerate(value):
            inner(item, f"{path}[{index}]", problems)

    return check


def mapping(inner: Check, key: Check = anything, minimum: int = 0) -> Check:
    """A mapping with keys of one kind to values of one kind."""

    def check(value: Any, path: str, problems: Problems) -> None:
        if not isinstance(value, dict):
            problems.add(path, "a mapping", describe(value))
            return
        if len(value) < minimum:
            problems.add(path, f"a mapping with at least {minimum} keys", describe(value))
        for name, item in value.items():
            key(name, join(path, name), problems)
            inner(item, join(path, name), problems)

    return check


def record(keys: Mapping[str, Key]) -> Check:
    """A mapping with known keys."""

    def check(value: Any, path: str, problems: Problems) -> None:
        if not isinstance(value, dict):
            problems.add(path, "a mapping", describe(value))
            return
        for name, item in value.items():
            if name in keys:
                keys[name].check(item, join(path, name), problems)
            else:
                problems.add(path, "only known keys", f"{name}{suggest(name, keys)}")
        for name, key in keys.items():
            if key.required and name not in value:
                problems.add(join(path, name), "a value", "nothing")

    return check
