# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Templates: what they may do, what they must not, and where an error says that it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.templating import (
    Facts,
    Templates,
)

OPTIONS = Facts(
    "options",
    {"word": "fast", "items": [1, 2], "flag": True, "nested": {"keys": "kept"}, "null": None},
)


def render(text: str, files: Mapping[str, str] | None = None, **variables: Any) -> str:
    """The text as a file of a recipe."""
    templates = Templates({"dir/file.j2": text, **(files or {})}, "toy")
    return templates.render("dir/file.j2", {"options": OPTIONS, **variables})


def refusal(text: str, files: Mapping[str, str] | None = None, **variables: Any) -> str:
    """What is said of a bad template."""
    with pytest.raises(InvalidInput) as caught:
        render(text, files, **variables)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("{{ options.word }}", "fast"),
        ("{{ options.items }}", None),
        ("{{ options.items | join(',') }}", "1,2"),
        ("{{ options.nested.keys }}", "kept"),
        ("{{ options['word'] | upper }}", "FAST"),
        ("{{ options.flag }}", "true"),
        ("{{ options.flag | string }}", "true"),
        ("{{ options.flag | quote }}", '"true"'),
        ("{{ 5 | quote }}", '"5"'),
        ("{{ options.nested | to_json }}", '{"keys": "kept"}'),
        ("{{ 'a\"b' | to_json }}", '"a\\"b"'),
        ("{{ options.nested.nothing | default('x') }}", "x"),
        ("{{ options.null | default('x', true) }}", "x"),
        ("{{ 'x' if not options.flag }}", ""),
        ("{% for i in range(3) %}{{ i }}{% endfor %}", "012"),
        ("{{ 'abc' | regex_replace('b+', '-') }}", "a-c"),
        ("{{ 'abc' | b64encode }}", "YWJj"),
        ("{{ 'abc' | sha1 }}", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("{{ 'abc' | sha256 | length }}", "64"),
        ("{{ ' x ' | trim }}", "x"),
        ("{{ {'b': 1, 'a': 2} | dictsort | first | join }}", "a2"),
        ("{{ [{'n': 1}, {'n': 2}] | map(attribute='n') | sum }}", "3"),
        ("{{ '<&>' }}", "<&>"),
        ("a\n  {% if true %}\nb\n  {% endif %}\nc", "a\nb\nc"),
        ("{% raw %}{{ $labels.gpu }}{% endraw %}", "{{ $labels.gpu }}"),
    ],
)
def test_what_templates_give(text: str, result: str | None) -> None:
    if result is None:
        assert "the value is a list" in refusal(text)
    else:
        assert render(text) == result


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ options.wrod }}", "line 1): options has no wrod, did you mean word?;"),
        ("{{ options.wrod | default('x') }}", "line 1): options has no wrod, did you mean word?;"),
        (
            "{{ options['wrod'] | default('x') }}",
            "line 1): options has no wrod, did you mean word?;",
        ),
        ("{{ options.wrod | to_json }}", "line 1): options has no wrod, did you mean word?;"),
        ("{{ opions | to_json }}", "line 1): there is no variable opions, did you mean options?;"),
        ("{{ options.nested.foo | quote }}", "line 1): the mapping has no foo (known: keys);"),
        ("\n\n{{ opions.word }}", "line 3): there is no variable opions, did you mean options?;"),
        ("{{ options.nested.foo.bar }}", "line 1): the mapping has no foo (known: keys);"),
        ("{{ 'x' | sha265 }}", "line 1): there is no filter sha265, did you mean sha256?;"),
        (
            "{% if options.word %}\n{{ 'x' | shout }}\n{% endif %}",
            "there is no filter shout, did you mean sort?;",
        ),
        ("a\n{% if %}\n", "line 2): Expected an expression, got 'end of statement block';"),
        ("a\n\n{% for x in y %}\n", "line 3): Unexpected end of template."),
        (
            "{{ options.null }}",
            "line 1): the value is null; give it one, or write | default(..., true);",
        ),
        (
            "{{ options.nested }}",
            "line 1): the value is a mapping; write | to_json, or pick a part of it;",
        ),
        ("{{ options.get }}", "line 1): the value is no data but "),
        ("{{ 1 / 0 }}", "line 1): division by zero;"),
        ("{{ 'x' + 1 }}", "line 1): can only concatenate str"),
        ("{{ 5 | dictsort }}", "line 1): 'int' object has no attribute 'items';"),
        ("{{ 'a' | regex_replace('((') }}", "line 1): '((' is no regular expression"),
        (
            "{% include 'other.j2' %}",
            "line 1): there is no file other.j2 in the recipe (known: dir/file.j2);",
        ),
        (
            "{% include 'dir/fil.j2' %}",
            "there is no file dir/fil.j2 in the recipe, did you mean dir/file.j2?;",
        ),
        ("{% include '../../etc/passwd' %}", "there is no file ../../etc/passwd in the recipe"),
        ("{% include 'dir/file.j2' %}", "maximum recursion depth exceeded"),
        ("{{ lipsum() }}", "there is no variable lipsum"),
        ("{{ cycler('a') }}", "there is no variable cycler"),
        ("{{ ''.__class__ }}", "access to attribute '__class__' of 'str' object is unsafe"),
        (
            "{{ options.items.append(3) }}",
            "access to attribute 'append' of 'list' object is unsafe",
        ),
        ("{{ range(10000000) | list | to_json }}", "Range too big"),
        ("{{ lookup('env', 'HOME') }}", "there is no variable lookup"),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    found = refusal(text)

    assert found.startswith("a template cannot be rendered (toy/dir/file.j2, line ")
    assert found.endswith("; correct the recipe or its options.")
    assert said in found


def test_the_line_is_that_of_the_file_that_fails() -> None:
    files = {"dir/part.j2": "fine\n{{ options.bad }}\n"}

    assert "(toy/dir/part.j2, line 2)" in refusal("one\n{% include 'dir/part.j2' %}\n", files)


def test_includes_and_macros() -> None:
    files = {
        "lib.j2": "{% macro env(name, value) %}\n- name: {{ name }}\n  value: {{ value | to_json }}\n{% endmacro %}"
    }
    text = "{% import 'lib.j2' as lib %}\nenv:\n  {{ lib.env('A', 'x: y') | indent(2) }}\n"

    assert yaml.safe_load(render(text, files)) == {"env": [{"name": "A", "value": "x: y"}]}


def test_a_block_that_was_set_may_be_put_out() -> None:
    assert render("{% set x %}a: 1\nb: 2{% endset %}{{ x }}") == "a: 1\nb: 2"


EVIL = [
    "a\nb: c",
    "a\r- b",
    "x\u2028y",
    "x\x85y",
    '"',
    "'",
    'x", "y',
    "it's",
    "a: b",
    "a:",
    "a #b",
    " a",
    "a ",
    "- a",
    "---",
    "...",
    "back\\slash",
    "\x00",
    "\ufeffx",
]


@pytest.mark.parametrize("value", EVIL)
def test_values_cannot_change_the_yaml_around_them(value: str) -> None:
    for text in (
        "key: {{ v }}",
        'key: "{{ v }}"',
        "key: '{{ v }}'",
        "key: {{ v | lower }}",
        "key: {{ v ~ '' }}",
    ):
        assert "write | to_json" in refusal(text, v=value)


@pytest.mark.parametrize(
    "value", [*EVIL, "", "plain", "*", "&a", "!t", "{a", "[", "%", "@", "yes", "1", "~", "é"]
)
def test_values_come_through_unharmed_as_json(value: str) -> None:
    assert yaml.safe_load(render("key: {{ v | to_json }}", v=value)) == {"key": value}
    assert json.loads(render("{{ v | to_json }}", v=value)) == value
    assert json.loads(render("{{ v | quote }}", v=value)) == value


@pytest.mark.parametrize(
    "value", ["a\nb: c", "x\n\n\ny", "--- \n...", '"', "a\r\nb", "\nfirst", "tail\n"]
)
def test_values_stay_inside_a_block_of_text(value: str) -> None:
    text = "data:\n  file: |2\n    {{ v | indent(4) }}\nafter: 1\n"

    found = yaml.safe_load(render(text, v=value))

    assert found.keys() == {"data", "after"}
    assert found["data"].keys() == {"file"}


def test_to_yaml() -> None:
    text = "a:\n  {{ v | to_yaml(2) }}\nb: {{ 'x' | to_yaml }}\n"

    assert yaml.safe_load(render(text, v={"k": ["x: y", "no"], "n": {"m": None}})) == {
        "a": {"k": ["x: y", "no"], "n": {"m": None}},
        "b": "x",
    }


@pytest.mark.parametrize(
    "text", ["y", "N", "1e3", "0o17", "1_000", "12:30", "2026-11-28", ".5", "~", "no"]
)
def test_a_text_in_yaml_is_one_to_every_reader(text: str) -> None:
    found = render("{{ v | to_yaml }}\n", v={text: [text, "a word"]})
    quoted = {f'"{text}"', f"'{text}'"}
    key, item, other = found.splitlines()
    assert key.removesuffix(":").removeprefix("? ") in quoted
    assert item.removeprefix("- ") in quoted
    assert other == "- a word"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{{ kernel.raw }} {{ options.x }}", {"kernel", "options"}),
        ("{% if os.id == 'x' %}{% endif %}", {"os"}),
        ("{% for os in options.list %}{{ os }}{% endfor %}", {"options"}),
        ("{% set image = 'x' %}{{ image }}", set()),
        ("{% macro m(arch) %}{{ arch }}{% endmacro %}", set()),
        ("{% include 'dir/part.j2' %}", {"group"}),
        ("{% from 'dir/part.j2' import x %}", {"group"}),
        ("{% include options.file %}", {"options", "group"}),
    ],
)
def test_names_in(text: str, names: set[str]) -> None:
    templates = Templates({"dir/file.j2": text, "dir/part.j2": "{{ group.id }}"}, "toy")

    assert templates.names_in("dir/file.j2") == names


def test_two_recipes_with_the_same_paths_do_not_meet() -> None:
    one, two = (Templates({"a": "{% include 'b' %}", "b": text}, "toy") for text in ("one", "two"))

    assert (one.render("a", {}), two.render("a", {}), one.render("a", {})) == ("one", "two", "one")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: {{ options.word\nc: 2\nd: 3\n", 2),
        ("a: 1\nb: {{ options.word\nc\nd: {{ options.flag }}\n", 2),
        ("a: {{ options.word }}\nb: {{ options.word", 2),
        ("a: {{ options.word }}\nb: {{ options.word word }}", 2),
        ("a: 1\n{% if options.flag %}\nb: 2\n", 3),
    ],
)
def test_an_expression_without_an_end_is_found_where_it_begins(text: str, line: int) -> None:
    assert f"line {line}" in refusal(text)
