# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text to data: YAML as Kubernetes reads it, with the errors that a person needs.

Stricter than YAML: no key twice, keys are text, no tags, no merge keys. Dates and times stay text,
as in JSON. Aliases give copies, so that nobody changes two places at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any

from ..._errors import InvalidInput, PackageNotFound

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]

# Path of keys and indices -> line from 1; () is the whole document.
Lines = Mapping["tuple[str | int, ...]", int]

# A key that is there twice, and the line of the last one, which counts.
DoubledKey = tuple[str, int]

MAX_DEPTH = 60
# Of one text, what aliases add included. PyYAML takes up to 430 bytes for each while it reads a
# document; the CRDs of a large operator together have some 130,000.
MAX_NODES = 200_000
# A text that is shorter has no more than that: the shortest node is a character and a comma.
_SHORT = 2 * MAX_NODES

_TAG = "tag:yaml.org,2002:"
# Plain scalars that are no text: YAML 1.1 without its dates and its numbers to the base of sixty.
_SCALARS = (
    (
        "bool",
        r"^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$",
        "yYnNtTfFoO",
    ),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("int", r"^[-+]?(?:0b[01_]+|0o?[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$", "-+0123456789"),
    (
        "float",
        r"^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?$",
        "-+0123456789.",
    ),
)


def parse(text: str, source: str) -> list[Any]:
    """The documents of a text, as dicts, lists, str, int, float, bool and None; empty ones are left
    out.

    source names the text in errors. Raises InvalidInput.
    """
    return _Reader(source).values(_nodes(text, source))


def parse_foreign(text: str, source: str) -> tuple[list[Any], list[DoubledKey]]:
    """The same for what others read as Go's programs do: of a key that is there twice the last one
    counts; and these keys."""
    doubled: list[DoubledKey] = []
    return _Reader(source, doubled).values(_nodes(text, source)), doubled


def parse_one(text: str, source: str) -> Any:
    """The one document of a text of others, as parse_foreign() gives it; None for an empty text.
    Raises InvalidInput, also where there are several."""
    found, _doubled = parse_foreign(text, source)
    if len(found) > 1:
        raise InvalidInput("this is not one document of YAML", where=source)
    return found[0] if found else None


def lines_of(text: str, source: str, *, foreign: bool = False) -> list[tuple[Any, Lines]]:
    """The documents of a text as parse(), or parse_foreign(), gives them, each with the line (from 1)
    of everything in it, by its path.

    A value of a mapping is where its key is. Raises InvalidInput.
    """
    reader = _Reader(source, [] if foreign else None)
    found: list[tuple[Any, Lines]] = []
    for node in _nodes(text, source):
        value = reader.value(node)
        if value is not None:
            found.append((value, {(): node.start_mark.line + 1, **dict(_lines(node, ()))}))
    return found


def _lines(node: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], int]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*path, key.value), key.start_mark.line + 1
            yield from _lines(value, (*path, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield (*path, index), item.start_mark.line + 1
            yield from _lines(item, (*path, index))


def _nodes(text: str, source: str) -> Iterator[Any]:
    try:
        loader = _loader_class()(text)
    except UnicodeEncodeError as error:
        where = f"{source}, line {text.count(chr(10), 0, error.start) + 1}"
        raise InvalidInput(
            "this is not YAML", where=where, why="a character is no Unicode"
        ) from None
    try:
        if len(text) > _SHORT:
            _refuse_too_many(text, source)
        while loader.check_node():
            yield loader.get_node()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{source}, line {mark.line + 1}" if mark is not None else source
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        context = getattr(error, "context", None)
        why = f"{problem} {context}" if context else problem
        raise InvalidInput("this is not YAML", where=where, why=why) from None
    finally:
        loader.dispose()


def _refuse_too_many(text: str, source: str) -> None:
    """Raise InvalidInput where a text has too many nodes, before any is kept."""
    events = yaml.parse(text, Loader=_loader_class())
    nodes = (event for event in events if isinstance(event, yaml.NodeEvent))
    if next(islice(nodes, MAX_NODES, None), None) is not None:
        raise InvalidInput(
            "this is too large",
            where=source,
            why=f"it has more than {MAX_NODES} values",
            todo="split it",
        )


@cache
def _loader_class() -> Any:
    if yaml is None:
        raise PackageNotFound("a recipe cannot be read", "PyYAML>=5.4.1")
    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader: Any = type("RecipeLoader", (base,), {"yaml_implicit_resolvers": {}})
    for name, pattern, first in _SCALARS:
        loader.add_implicit_resolver(_TAG + name, re.compile(pattern), list(first))
    return loader


class _Reader:
    """Builds the values of one text. doubled: takes the keys that are there twice, None where they
    are refused."""

    def __init__(self, source: str, doubled: list[DoubledKey] | None = None) -> None:
        self._source = source
        self._left = MAX_NODES
        self._doubled = doubled

    def values(self, nodes: Iterator[Any]) -> list[Any]:
        """The documents, without the empty ones."""
        return [value for value in map(self.value, nodes) if value is not None]

    def value(self, node: Any, depth: int = 0) -> Any:
        self._left -= 1
        if depth > MAX_DEPTH or self._left < 0:
            raise self._error(
                node,
                "this is too large or too deep",
                "an alias that contains itself is a common cause",
            )
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return [self.value(item, depth + 1) for item in node.value]
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self._mapping(node, depth)
        raise self._error(node, f"the YAML tag {node.tag} is not supported", "write plain data")

    def _mapping(self, node: Any, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.value(key_node, depth + 1)
            if key == "<<":
                raise self._error(
                    key_node, "merge keys (<<) are not supported", "write the keys out"
                )
            if not isinstance(key, str):
                text = getattr(key_node, "value", "")
                shown = text if isinstance(text, str) else "a list or mapping"
                raise self._error(key_node, f"the key {shown} is not text", "put it in quotes")
            if key in found:
                self._take_doubled(key, key_node)
            found[key] = self.value(value_node, depth + 1)
        return found

    def _take_doubled(self, key: str, node: Any) -> None:
        if self._doubled is None:
            raise self._error(node, f"the key {key} is there twice", "remove one of them")
        self._doubled.append((key, node.start_mark.line + 1))

    def _scalar(self, node: Any) -> Any:
        kind, text = node.tag.removeprefix(_TAG), str(node.value)
        try:
            if kind == "str":
                return text
            if kind == "null":
                return None
            if kind == "bool":
                return {
                    "yes": True,
                    "true": True,
                    "on": True,
                    "no": False,
                    "false": False,
                    "off": False,
                }[text.lower()]
            if kind == "int":
                return _integer(text)
            if kind == "float" and math.isfinite(float(text.replace("_", ""))):
                return float(text.replace("_", ""))
        except (ValueError, KeyError):
            pass
        raise self._error(
            node, f"this value cannot be read as {kind}", "put it in quotes if it is text"
        )

    def _error(self, node: Any, what: str, todo: str) -> InvalidInput:
        return InvalidInput(
            what, where=f"{self._source}, line {node.start_mark.line + 1}", todo=todo
        )


def _integer(text: str) -> int:
    """YAML 1.1: 0644 is octal, as in the mode of a volume."""
    digits = text.replace("_", "").lower()
    if re.match(r"^[-+]?0[0-7]+$", digits):
        return int(digits, 8)
    return int(digits, 0)
