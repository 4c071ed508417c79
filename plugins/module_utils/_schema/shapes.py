# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Building blocks of a schema: each checks a value, and describes the same as JSON Schema (draft
2020-12).

A check speaks in sentences; the description is for editors. What JSON Schema cannot say is checked
here alone."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .problems import Problems, describe, suggest

Schema = dict[str, Any]


class Shape(ABC):
    """What a value may be."""

    @abstractmethod
    def check(self, value: Any, path: str, problems: Problems) -> None:
        """Take down what is wrong with a value; path is where it stands."""

    @abstractmethod
    def json_schema(self) -> Schema:
        """The same as JSON Schema."""

    def from_text(self, text: str) -> Any:
        """The value that a rendered template stands for: the text itself, unless the shape is no
        text."""
        return text


@dataclass(frozen=True)
class Key:
    """A key of a record: what its value may be, whether it has to be there, what it is (Markdown),
    its default."""

    shape: Shape
    required: bool = False
    text: str = ""
    default: Any = None


def join(path: str, key: str) -> str:
    """The path of a key below a path."""
    return f"{path}.{key}" if path else key


def is_template(value: str) -> bool:
    """Whether a text of recipe.yml is to be rendered."""
    return "{{" in value or "{%" in value


@dataclass(frozen=True)
class Anything(Shape):
    """Every value is fine."""

    def check(self, value: Any, path: str, problems: Problems) -> None:
        """Nothing is wrong."""

    def json_schema(self) -> Schema:
        """No restriction."""
        return {}


@dataclass(frozen=True)
class Text(Shape):
    """A string that matches the whole pattern; what says in words which. The pattern is one that
    ECMAScript knows too.

    longest: at most so many characters. reserved: not one of these.
    """

    what: str = "text"
    pattern: str = r"[\s\S]+"
    longest: int | None = None
    reserved: tuple[str, ...] = ()

    def check(self, value: Any, path: str, problems: Problems) -> None:
        """Take down another type, a mismatch, a text that is too long or taken."""
        if not isinstance(value, str):
            quote = " (put it in quotes)" if isinstance(value, (bool, int, float)) else ""
            problems.add(path, self.what, describe(value) + quote)
            return
        if not re.fullmatch(self.pattern, value):
            problems.add(path, self.what, describe(value))
        if self.longest is not None and len(value) > self.longest:
            problems.add(
                path, f"at most {self.longest} characters", f"{len(value)} in {describe(value)}"
            )
        if value in self.reserved:
            problems.add(path, "a name that is not taken", describe(value))

    def json_schema(self) -> Schema:
        """type string with its pattern."""
        schema: Schema = {"type": "string", "pattern": f"^(?:{self.pattern})$"}
        if self.longest is not None:
            schema["maxLength"] = self.longest
        if self.reserved:
            schema["not"] = {"enum": list(self.reserved)}
        return schema


@dataclass(frozen=True)
class Regex(Shape):
    """A regular expression as Python's re has it, or the template of one."""

    def check(self, value: Any, path: str, problems: Problems) -> None:
        """Take down what is no text, and what re cannot compile."""
        if not isinstance(value, str) or not value:
            problems.add(path, "a regular expression", describe(value))
        elif not is_template(value):
            try:
                re.compile(value)
            except re.error as error:
                problems.add(path, "a regular expression", f"{describe(value)} ({error})")

    def json_schema(self) -> Schema:
        """Any text: format regex would mean ECMAScript's."""
        return {"type": "string", "minLength": 1}


@dataclass(frozen=True)
class Flag(Shape):
    """true or false."""

    def check(self, value: Any, path: str, problems: Problems) -> None:
        """Take down any other type."""
        if not isinstance(value, bool):
            problems.add(path, "true or false", describe(value))

    def json_schema(self) -> Schema:
        """type boolean."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class Integer(Shape):
    """A whole number between two bounds, both included; where templates are allowed, the template
    of one too."""

    low: int
    high: int
    what: str = ""
    template: bool = False

    def check(self, value: Any, path: str, problems: Problems) -> None:
        """Take down other types and numbers out of bounds."""
        if self.template and isinstance(value, str) and is_template(value):
            return
        if (
            isinstance(value, bool)
            or not isinstance(value, int)
            or not self.low <= value <= self.high
        ):
            problems.add(
                path, self.what or f"a whole number from {self.low} to {self.high}", describe(value)
            )

    def json_schema(self) -> Schema:
        """type integer with its bounds; or a text with a template in it."""
        number: Schema = {"type": "integer", "minimum": self.low, "maximum": self.high}
        return (
            {"anyOf": [number, {"type": "string", "pattern": r"\{[{%]"}]}
            if self.template
            else number
        )

    def from_text(self, text: str) -> Any:
        """The number that a text writes, or the text, which check() then takes down."""
        return int(text) if re.fullmatch(r"\s*[0-9]{1,9}\s*", text) else text


@dataclass(frozen=True)
class OneOf(Shape):
    """One of these values."""

    values: tuple[Any, ...]

    def check(self, value: Any, path: str, problems: Problems) -> None:
        """Take down any other value; 1 is not true."""
        if not any(value == known and type(value) is type(known) for known in self.values):
            problems.add(
                path, f"one of {', '.join(str(known) for known in self.values)}", describe(value)
            )

    def json_schema(self) -> Schema:
        """enum."""
        return {"enum": list(self.values)}


@dataclass(frozen=True)
class Optional(Shape):
    """null, or what the inner shape takes."""

    inner: Shape

    def check(self, value: Any, path: str, problems: Problems) -> None:
        """Check what is not null."""
        if value is not None:
            self.inner.check(value, path, problems)

    def json_schema(self) -> Schema:
        """anyOf null and the inner one."""
        return {"anyOf": [{"type": "null"}, self.inner.json_schema()]}

    def from_text(self, text: str) -> Any:
        """As the inner shape has it."""
        return self.inner.from_text(text)


@dataclass(frozen=True)
class Either(Shape):
    """One of several shapes, told apart by the value's type; what names them in words."""

    what: str
    shapes: tuple[tuple[type, Shape], ...]

    def check(self, value: Any, path: str, problems: Problems) -> None:
        """Check by the shape for the value's type."""
        # true is an int to Python, but not to a person.
        kinds = (
            kind
            for kind, _shape in self.shapes
            if isinstance(value, kind) and not isinstance(value, bool)
        )
        shape = dict(self.shapes).get(next(kinds, object))
        if shape is None:
            problems.add(path, self.what, describe(value))
        else:
            shape.check(value, path, problems)

    def json_schema(self) -> Schema:
        """anyOf."""
        return {"anyOf": [shape.json_schema() for _kind, shape in self.shapes]}


@dataclass(frozen=True)
class Items(Shape):
    """A list of at least so many values."""

    inner: Shape
    minimum: int = 0

    def check(self, value: Any, path: str, problems: Problems) -> None:
        """Check the list, then each item."""
        if not isinstance(value, list):
            problems.add(path, "a list", describe(value))
            return
        if len(value) < self.minimum:
            problems.add(path, f"a list of at least {self.minimum}", describe(value))
        for index, item in enumerate(value):
            self.inner.check(item, f"{path}[{index}]", problems)

    def json_schema(self) -> Schema:
        """type array."""
        schema: Schema = {"type": "array", "items": self.inner.json_schema()}
        return {**schema, "minItems": self.minimum} if self.minimum else schema


@dataclass(frozen=True)
class MapOf(Shape):
    """A mapping from names of one shape to values of one shape, with at least so many entries."""

    inner: Shape
    key: Shape = field(default_factory=Anything)
    minimum: int = 0

    def check(self, value: Any, path: str, problems: Problems) -> None:
        """Check the mapping, then each name and value."""
        if not isinstance(value, dict):
            problems.add(path, "a mapping", describe(value))
            return
        if len(value) < self.minimum:
            problems.add(path, f"a mapping with at least {self.minimum} keys", describe(value))
        for name, item in value.items():
            self.key.check(name, join(path, name), problems)
            self.inner.check(item, join(path, name), problems)

    def json_schema(self) -> Schema:
        """type object with propertyNames."""
        schema: Schema = {"type": "object", "additionalProperties": self.inner.json_schema()}
        names = self.key.json_schema()
        if names:
            schema["propertyNames"] = names
        return {**schema, "minProperties": self.minimum} if self.minimum else schema


@dataclass(frozen=True)
class Record(Shape):
    """A mapping with known keys.

    - removed: keys of earlier versions -> what to write instead
    - together: key -> the keys that it needs beside it
    - apart: pairs of keys of which only one may be given
    """

    keys: Mapping[str, Key]
    removed: Mapping[str, str] = field(default_factory=dict)
    together: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    apart: tuple[tuple[str, str], ...] = ()

    def check(self, value: Any, path: str, problems: Problems) -> None:
        """Check that it is a mapping, each of its keys, and what has to be there."""
        if not isinstance(value, dict):
            problems.add(path, "a mapping", describe(value))
            return
        for name, item in value.items():
            self._check_key(name, item, path, problems)
        for name, what in self._needed(value).items():
            problems.add(join(path, name), what, "nothing")
        for one, other in self.apart:
            if value.get(one) is not None and value.get(other) is not None:
                problems.add(path, f"one of {one} and {other}", "both")

    def _check_key(self, name: str, item: Any, path: str, problems: Problems) -> None:
        if name in self.keys:
            self.keys[name].shape.check(item, join(path, name), problems)
        elif name in self.removed:
            problems.add(join(path, name), self.removed[name], describe(item))
        else:
            problems.add(path, "only known keys", f"{name}{suggest(name, self.keys)}", key=name)

    def _needed(self, value: Mapping[str, Any]) -> dict[str, str]:
        """The keys that have no value and need one, each with what is expected. A required one that
        is there with null is for its own shape to refuse."""
        needed = {name: "a value" for name, key in self.keys.items() if key.required}
        for name, others in self.together.items():
            if value.get(name) is not None:
                needed |= dict.fromkeys(others, f"a value, since there is {name}")
        return {
            name: what
            for name, what in needed.items()
            if value.get(name) is None and (name not in value or not self.keys[name].required)
        }

    def json_schema(self) -> Schema:
        """type object without further properties; each key with its text and default."""
        properties = {name: _described(key) for name, key in self.keys.items()}
        schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        required = [name for name, key in self.keys.items() if key.required]
        if required:
            schema["required"] = required
        if self.together:
            schema["dependentRequired"] = {
                name: list(others) for name, others in self.together.items()
            }
        return schema


@dataclass(frozen=True)
class Tagged(Shape):
    """A mapping with one key, which says what its value is; null stands for an empty mapping. what
    names the keys."""

    what: str
    shapes: Mapping[str, Shape]
    texts: Mapping[str, str] = field(default_factory=dict)

    def check(self, value: Any, path: str, problems: Problems) -> None:
        """Check that there is one known key, and its value by the shape of that key."""
        if not isinstance(value, dict) or len(value) != 1:
            problems.add(path, f"a mapping with one key, the {self.what}", describe(value))
            return
        ((tag, inner),) = value.items()
        if tag in self.shapes:
            self.shapes[tag].check({} if inner is None else inner, join(path, tag), problems)
        else:
            problems.add(path, f"a {self.what}", f"{tag}{suggest(tag, self.shapes)}")

    def json_schema(self) -> Schema:
        """type object with one of these properties; a null for one that needs no setting."""
        properties: Schema = {}
        for tag, shape in self.shapes.items():
            inner = shape.json_schema()
            described = inner if inner.get("required") else {"anyOf": [{"type": "null"}, inner]}
            properties[tag] = (
                {"description": self.texts[tag], **described} if tag in self.texts else described
            )
        return {
            "type": "object",
            "properties": properties,
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
        }


def _described(key: Key) -> Schema:
    schema = key.shape.json_schema()
    if key.text:
        schema = {"description": key.text, **schema}
    return schema if key.default is None else {**schema, "default": key.default}
