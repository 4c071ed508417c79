# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""YAML as Kubernetes reads it, and errors with a line."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates import (
    documents,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.documents import (
    MAX_NODES,
    lines_of,
    parse,
    parse_foreign,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-12", -12),
        ("0644", 420),
        ("0o644", 420),
        ("0x1f", 31),
        ("089", "089"),
        ("1_000", 1000),
        ("1.5", 1.5),
        ("1.", 1.0),
        ("12e4567", "12e4567"),
        ("1:30", "1:30"),
        ("2026-01-02", "2026-01-02"),
        ("yes", True),
        ("Off", False),
        ("y", "y"),
        ('"yes"', "yes"),
        ("~", None),
        (".nan", ".nan"),
        ("=", "="),
        ("plain words", "plain words"),
        ("|\n  two\n  lines\n", "two\nlines\n"),
    ],
)
def test_scalars(text: str, value: Any) -> None:
    found = parse(f"key: {text}\n", "file")[0]["key"]

    assert found == value
    assert type(found) is type(value)


def test_empty_documents_are_left_out() -> None:
    assert parse("---\n# nothing\n---\na: 1\n---\n---\nb: 2\n", "file") == [{"a": 1}, {"b": 2}]
    assert parse("", "file") == []


def test_aliases_are_copies() -> None:
    (found,) = parse("a: &x {k: [1]}\nb: *x\n", "file")

    found["a"]["k"].append(2)

    assert found["b"] == {"k": [1]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", "the key a is there twice (file, line 3); remove one of them."),
        ("a:\n  b: {c: 1, c: 2}\n", "the key c is there twice (file, line 2); remove one of them."),
        ("a: 1\n1: 2\n", "the key 1 is not text (file, line 2); put it in quotes."),
        ("on: push\n", "the key on is not text (file, line 1); put it in quotes."),
        ("? [a]\n: 1\n", "the key a list or mapping is not text (file, line 1); put it in quotes."),
        ("<<: {a: 1}\n", "merge keys (<<) are not supported (file, line 1); write the keys out."),
        (
            "a: !!python/object:os.system x\n",
            "this value cannot be read as python/object:os.system (file, line 1); put it in quotes if it is text.",
        ),
        ("a: !mine [1]\n", "the YAML tag !mine is not supported (file, line 1); write plain data."),
        (
            "a: !!int x\n",
            "this value cannot be read as int (file, line 1); put it in quotes if it is text.",
        ),
        (
            "a: 1.0e+999\n",
            "this value cannot be read as float (file, line 1); put it in quotes if it is text.",
        ),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(text, "file")

    assert str(caught.value) == message


@pytest.mark.parametrize(
    "text", ["a: [1,\n", "a: b: c\n", "\ta: 1\n", "a: *nowhere\n", "a: {{ x }}\n"]
)
def test_syntax_errors_name_the_line(text: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"^(this is not YAML|the key .* is not text) \(file, line \d+\)"
    ):
        parse(text, "file")


def test_an_alias_of_itself_ends() -> None:
    with pytest.raises(InvalidInput, match="too large or too deep"):
        parse("a: &x [*x]\n", "file")


def test_aliases_that_explode_end() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    with pytest.raises(InvalidInput, match="too large or too deep"):
        parse("\n".join(lines), "file")


DOUBLED = "a: 1\nb: {c: 1, d: 2, c: 3}\na: [4]\n"


def test_of_a_key_that_is_there_twice_gos_readers_take_the_last() -> None:
    assert parse_foreign(DOUBLED, "file") == (
        [{"a": [4], "b": {"c": 3, "d": 2}}],
        [("c", 2), ("a", 3)],
    )
    with pytest.raises(InvalidInput, match="line 2"):
        parse(DOUBLED, "file")
    ((value, lines),) = lines_of(DOUBLED, "file", foreign=True)
    assert (value["a"], lines[("a",)]) == ([4], 3)


@pytest.mark.parametrize(
    "text",
    [
        "[" + "[]," * 25_000 + "]",
        "- a\n" * 25_000,
        "".join(f"k{number}: v\n" for number in range(15_000)),
        "---\na: b\n" * 10_000,
        "".join(["a: &a [x, x, x, x]\n", *(f"b{number}: *a\n" for number in range(10_000))]),
    ],
    ids=["lists", "items", "keys", "documents", "aliases"],
)
def test_a_text_takes_less_than_100_mib(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shown with a tenth of all, since each piece of memory is looked at."""
    monkeypatch.setattr(documents, "MAX_NODES", MAX_NODES // 10)
    monkeypatch.setattr(documents, "_SHORT", documents._SHORT // 10)
    tracemalloc.start()
    with pytest.raises(InvalidInput, match="too large"):
        parse(text, "file")
    assert tracemalloc.get_traced_memory()[1] < 10 * 1024**2
    tracemalloc.stop()


def test_a_long_text_is_read_and_an_alias_that_makes_it_long_is_not() -> None:
    (found,) = parse("[" + "1," * (MAX_NODES - 1) + "]", "file")
    assert len(found) == MAX_NODES - 1
    bomb = "a: &a [1,1,1,1,1,1,1,1,1,1]\n"
    for name, other in zip("bcdefg", "abcdef", strict=True):
        bomb += f"{name}: &{name} [{','.join([f'*{other}'] * 10)}]\n"
    with pytest.raises(InvalidInput, match="too large or too deep"):
        parse(bomb, "file")
