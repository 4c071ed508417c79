# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""500 recipes, templates and options with a mistake made by chance: each ends soon, in objects or
in one sentence."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    check_recipe,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.recipes.conftest import (
    FILES,
)

REPO = Path(__file__).resolve().parents[5]
VALUES = [
    None,
    [],
    {},
    "",
    "x",
    0,
    -1,
    10**30,
    1.5,
    float("nan"),
    True,
    [None],
    {"a": None},
    {1: 2},
    ["x", ["y"]],
    "{{ x }}",
]
TEXTS = [
    *(
        "{{",
        "{%",
        "{{ nothing }}",
        "{{ options.nothing }}",
        "{{ options }}",
        "{{ 1 / 0 }}",
        "{{ options.__class__ }}",
    ),
    *(
        "{% for i in range(1000000000) %}x{% endfor %}",
        "{{ 'x' * 10 ** 12 }}",
        "{{ 10 ** 10 ** 10 }}",
        "{{ [[]] | sum }}",
    ),
    *(
        "{% include 'recipe.yml' %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% set x = [] %}{{ x[0] }}",
    ),
    *(
        "\t",
        "\x00",
        "\ud800",
        "---\n",
        "- ",
        ": ",
        "&a *a",
        "!!python/object:os.system x",
        "a: &a [*a]",
        "\u2028",
        "...",
    ),
    *(
        "[" * 2000,
        "{a: " * 500,
        "x" * 100_000,
        "1e999999",
        "0x",
        "? ",
        "<<: *labels",
        "2026-02-31",
        "'",
        '"',
    ),
]


def pick(things: Sequence[Any]) -> Any:
    """One of them, by the seed."""
    return random.sample(things, 1)[0]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Where a document can be changed: (mapping or list, key or index)."""
    for key, below in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(below, (dict, list)):
            yield from places(below)


def changed(document: Any) -> Any:
    """The document with one entry that is missing, doubled, elsewhere or something else."""
    holder, key = pick(list(places(document)))
    other, elsewhere = pick(list(places(document)))
    deed = pick(range(7))
    if deed == 0:
        del holder[key]
    elif deed == 1 and isinstance(holder, dict):
        holder[pick(["", "x", 1, None, "__class__", "a.b"])] = holder[key]
    elif deed == 2:
        holder[key] = other[elsewhere]
    elif deed == 3 and isinstance(holder[key], str):
        holder[key] = holder[key][1:]
    else:
        holder[key] = pick(VALUES + TEXTS)
    return document


def damaged(text: str) -> str:
    """The text with something put in, taken out or exchanged."""
    at = pick(range(len(text) + 1))
    until = at + pick([0, 1, 2, 8, len(text)])
    return pick(
        [
            text[:at] + pick(TEXTS) + text[at:],
            text[:at] + text[until:],
            text[:at] + pick(TEXTS) + text[until:],
        ]
    )


@contextmanager
def soon(seconds: int) -> Iterator[None]:
    """Fail where it does not end; far more than any of it takes."""

    def stop(_number: int, _frame: Any) -> None:
        pytest.fail(f"it did not end within {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def spoil(files: dict[str, str], options: dict[str, Any]) -> None:
    """Make one mistake in the recipe, in a template or in the options."""
    deed = pick(range(5))
    if deed == 0:
        files["recipe.yml"] = damaged(files["recipe.yml"])
    elif deed == 1:
        # YAML's own writer refuses nothing of what is put in.
        files["recipe.yml"] = yaml.dump(
            changed(yaml.safe_load(files["recipe.yml"])), allow_unicode=True
        )
    elif deed == 2:
        options[
            pick(
                [*options, "nothing", "", "image_pull_secrets", "resources", "env", "node_selector"]
            )
        ] = pick(VALUES + TEXTS)
    else:
        name = pick(sorted(name for name in files if name != "recipe.yml"))
        files[name] = damaged(files[name])


def test_500_spoiled_recipes_end_in_objects_or_sentences(facts_for: Callable[..., Any]) -> None:
    bundles = [
        FILES,
        *(read_bundle(REPO / name) for name in ("tests/recipes/nic-like", "recipes/simple-kmod")),
    ]
    recipes = [load(bundle, "x") for bundle in bundles]
    sentences = []
    for seed in range(500):
        random.seed(seed)
        which = seed % len(bundles)
        files, options = dict(bundles[which]), dict.fromkeys(recipes[which].options)
        spoil(files, options)
        with soon(20):
            sentence = ending(files, options, facts_for)
        assert sentence == "" or (sentence.endswith(".") and "\n" not in sentence), (seed, sentence)
        assert len(sentence) < 8000, (seed, sentence)
        sentences.append(sentence)
    assert 200 < len(list(filter(None, sentences))) < 490


def ending(
    files: Mapping[str, str], options: Mapping[str, Any], facts_for: Callable[..., Any]
) -> str:
    """The sentence that these end with, "" where they become objects."""
    try:
        recipe: Recipe = load(files, "x")
        check_recipe(recipe, facts_for(recipe, options))
    except EnablementError as error:
        return str(error)
    return ""
