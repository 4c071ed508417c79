# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A shape checks what it describes: for each value, the check and the JSON Schema say the same."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._schema.problems import Problems
from ansible_collections.hardware.enablement.plugins.module_utils._schema.shapes import (
    Anything,
    Either,
    Flag,
    Integer,
    Items,
    Key,
    MapOf,
    OneOf,
    Optional,
    Record,
    Regex,
    Shape,
    Tagged,
    Text,
)

WORD = Text("a word", "[a-z]+", longest=5, reserved=("taken",))
PERSON = Record(
    {
        "name": Key(WORD, required=True),
        "age": Key(Integer(0, 150)),
        "of": Key(WORD),
        "by": Key(WORD),
    },
    removed={"years": "age instead"},
    together={"of": ("by",)},
)
GOOD: list[tuple[Shape, Any]] = [
    (Anything(), [None]),
    (WORD, "word"),
    (Text(), "two\nlines"),
    (Regex(), "^a+$"),
    (Regex(), "{{ options.pattern }}("),
    (Flag(), False),
    (Integer(1, 3), 3),
    (OneOf((1, "a", True)), True),
    (Optional(WORD), None),
    (Either("a word or a number", ((str, WORD), (int, Integer(1, 3)))), 2),
    (Items(WORD, minimum=1), ["a"]),
    (MapOf(Flag(), WORD, minimum=1), {"a": True}),
    (PERSON, {"name": "ann", "age": 7}),
    (PERSON, {"name": "ann", "of": "a", "by": "b"}),
    (Tagged("kind", {"person": PERSON, "nothing": Record({})}), {"person": {"name": "ann"}}),
    (Tagged("kind", {"person": PERSON, "nothing": Record({})}), {"nothing": None}),
]
BAD: list[tuple[Shape, Any, str]] = [
    (WORD, 7, "expected a word, found the number 7 (put it in quotes)"),
    (WORD, "Word", "expected a word, found 'Word'"),
    (
        WORD,
        "words!",
        "expected a word, found 'words!'; f: expected at most 5 characters, found 6 in 'words!'",
    ),
    (WORD, "taken", "expected a name that is not taken, found 'taken'"),
    (Text(), "", "expected text, found ''"),
    (Regex(), "", "expected a regular expression, found ''"),
    (Flag(), "yes", "expected true or false, found 'yes'"),
    (Integer(1, 3), 4, "expected a whole number from 1 to 3, found the number 4"),
    (Integer(1, 3), True, "expected a whole number from 1 to 3, found true"),
    (OneOf(("a", "b")), "c", "expected one of a, b, found 'c'"),
    (Optional(WORD), "", "expected a word, found ''"),
    (
        Either("a word or a number", ((str, WORD), (int, Integer(1, 3)))),
        True,
        "expected a word or a number, found true",
    ),
    (Items(WORD, minimum=1), [], "expected a list of at least 1, found an empty list"),
    (MapOf(Flag(), WORD), {"A": True}, "A: expected a word, found 'A'"),
    (
        MapOf(Flag(), minimum=1),
        {},
        "expected a mapping with at least 1 keys, found an empty mapping",
    ),
    (PERSON, {}, "name: expected a value, found nothing"),
    (PERSON, {"name": "ann", "agee": 7}, "expected only known keys, found agee, did you mean age?"),
    (PERSON, {"name": "ann", "years": 7}, "years: expected age instead, found the number 7"),
    (PERSON, {"name": "ann", "of": "a"}, "by: expected a value, since there is of, found nothing"),
    (
        Tagged("kind", {"person": PERSON}),
        {"persona": {}},
        "expected a kind, found persona, did you mean person?",
    ),
    (
        Tagged("kind", {"person": PERSON}),
        {},
        "expected a mapping with one key, the kind, found an empty mapping",
    ),
]


def said(shape: Shape, value: Any) -> str:
    """What the check says, without the file's name; "" where nothing is wrong."""
    problems = Problems("f")
    shape.check(value, "", problems)
    try:
        problems.refuse("it is wrong")
    except InvalidInput as error:
        return error.why.removeprefix("f").removeprefix(", ").removeprefix(": ")
    return ""


def valid(shape: Shape, value: Any) -> bool:
    """Whether the value is one by the shape's JSON Schema."""
    return bool(jsonschema.Draft202012Validator(shape.json_schema()).is_valid(value))


@pytest.mark.parametrize(("shape", "value"), GOOD)
def test_good_values(shape: Shape, value: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(shape.json_schema())
    assert (said(shape, value), valid(shape, value)) == ("", True)


@pytest.mark.parametrize(("shape", "value", "sentence"), BAD)
def test_bad_values(shape: Shape, value: Any, sentence: str) -> None:
    assert (said(shape, value), valid(shape, value)) == (sentence, False)


def test_what_json_schema_cannot_say_is_checked() -> None:
    assert said(Regex(), "((").startswith("expected a regular expression, found '((' (missing )")
    apart = Record({"one": Key(Flag()), "other": Key(Flag())}, apart=(("one", "other"),))
    assert said(apart, {"one": True, "other": True}) == "expected one of one and other, found both"
    assert (
        said(apart, {"one": True, "other": None}) == "other: expected true or false, found nothing"
    )


def test_texts_and_defaults_are_told() -> None:
    schema = Record({"age": Key(Integer(0, 9), text="how old", default=3)}).json_schema()
    assert schema["properties"]["age"] == {
        "description": "how old",
        "type": "integer",
        "minimum": 0,
        "maximum": 9,
        "default": 3,
    }
