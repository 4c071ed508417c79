# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The door for JSON that anybody may have written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._json import (
    MOST_DEPTH,
    TOO_DEEP,
    JsonError,
    elements,
    parse_json,
    part,
)

MODULES = Path(__file__).parents[4] / "plugins" / "module_utils"
# What these read we have written ourselves a moment before, or helm has.
OWN = {
    "_json.py",
    "_charts/chart_rendering.py",
    "_cluster/api_objects/object_fields.py",
    "_interface/api_types_file.py",
    "_numa/kubelet_pools.py",
}
# It runs on nodes, without the collection.
ON_NODES = "_recipes/readiness/node_agent/"


def test_there_is_one_door() -> None:
    found = {
        str(path.relative_to(MODULES))
        for path in MODULES.rglob("*.py")
        if re.search(r"\bjson\.loads?\(|\byaml\.(safe_)?load|JSONDecoder", path.read_text())
    }
    assert {path for path in found if not path.startswith(ON_NODES)} == OWN


def nested(levels: int, inside: str = "1") -> str:
    opening = ['{"a":' if level % 2 else "[" for level in range(levels)]
    closing = ["}" if level % 2 else "]" for level in range(levels)]
    return "".join([*opening, inside, *reversed(closing)])


def depth_of(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value
    return 1 + max(map(depth_of, inside), default=0) if isinstance(value, (dict, list)) else 0


@pytest.mark.parametrize("levels", [MOST_DEPTH + 1, 500, 10_000, 1_000_000])
def test_what_is_nested_too_deep_is_refused_or_cut(levels: int) -> None:
    text = f'{{"items": [{nested(levels)}, {{"b": 2}}]}}'
    with pytest.raises(JsonError, match="nested more than 100 levels deep"):
        parse_json(text)
    found = parse_json(text, cut=True)
    assert depth_of(found) == MOST_DEPTH
    assert TOO_DEEP in json.dumps(found)
    assert found["items"][1] == {"b": 2}


@pytest.mark.parametrize(
    "inside", ['"}"', '"{"', '"\\""', '"\\\\"', '"[\\"]"', '"]}]"', '""', '"\\\\\\"{"']
)
def test_brackets_in_texts_neither_hide_a_depth_nor_make_one(inside: str) -> None:
    text = nested(MOST_DEPTH, f"{inside}")
    assert parse_json(text) == json.loads(text)
    many = "[" + ",".join([inside] * 300) + "]"
    assert parse_json(many) == json.loads(many)
    hidden = f'{{"x": {inside}, "b": ' * (MOST_DEPTH + 1) + inside + "}" * (MOST_DEPTH + 1)
    json.loads(hidden)
    with pytest.raises(JsonError, match="deep"):
        parse_json(hidden)
    assert depth_of(parse_json(hidden, cut=True)) == MOST_DEPTH


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("9" * 5000, "a number that is too large"),
        ("-1e999", "a number that is too large"),
        ("[NaN]", "NaN is no number"),
        ('{"a": -Infinity}', "-Infinity is no number"),
        ("[" * 100_000, "ends early or is none"),
        ('{"a": ', "ends early or is none"),
        (b'"\xff"', "ends early or is none"),
        (" ", "it is empty"),
    ],
)
def test_what_is_none(text: str, words: str) -> None:
    with pytest.raises(JsonError, match=words):
        parse_json(text)


def test_texts_are_unicode() -> None:
    found = parse_json(
        r'["\ud800", "\udc00\ud83d", "\ud83d\ude00", "\\ud800", "\u0000", "\\\ud800"]'
    )
    assert found == ["�", "��", "😀", "\\ud800", "\0", "\\�"]
    "".join(found).encode()


def test_what_is_usual_is_as_it_was() -> None:
    random = Random(122)  # noqa: S311 - the same each time
    texts = ["", "a", '"', "\\", "{", "]", "é\n", "\u2028", "😀", "\\u00", '\\"']

    def value(depth: int) -> Any:
        if depth and random.random() < 0.6:
            count = random.randrange(5)
            if random.random() < 0.5:
                return [value(depth - 1) for _each in range(count)]
            return {
                random.choice(texts) * random.randrange(3): value(depth - 1)
                for _each in range(count)
            }
        return random.choice([None, True, 0, -12, 1.5, 2**63, "".join(random.choices(texts, k=9))])

    for _round in range(500):
        made = value(7)
        for ascii_only in (True, False):
            text = json.dumps(made, ensure_ascii=ascii_only)
            assert parse_json(text) == made
            assert parse_json(text.encode(), cut=True) == made


@pytest.mark.parametrize("pod", [{}, {"spec": None}, {"spec": {}}, {"spec": {"containers": None}}])
def test_what_is_missing_or_null_is_empty(pod: dict[str, Any]) -> None:
    assert part(pod, "spec", "securityContext") == {}
    assert elements(pod, "spec", "containers") == []


def test_what_is_there_is_given_as_it_is() -> None:
    containers = [{"name": "driver"}]
    pod = {"spec": {"containers": containers}}
    assert elements(pod, "spec", "containers") is containers
    assert elements(pod["spec"], "containers") is containers
    assert part(pod, "spec") is pod["spec"]
