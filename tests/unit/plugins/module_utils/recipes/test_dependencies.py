# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which recipes are enabled that depend on each other."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.dependencies import (
    graph_of,
    in_order,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Dependency,
)


def graph(**names: str) -> dict[str, list[Dependency]]:
    """Recipe -> what it depends on, in words."""
    return {name: [Dependency(each) for each in text.split()] for name, text in names.items()}


@pytest.mark.parametrize(
    ("of_a", "expected"),
    [
        ({"a": ""}, []),
        ({"a": "b", "b": "c", "c": ""}, ["c", "b"]),
        ({"a": "b c", "b": "d", "c": "d", "d": ""}, ["d", "b", "c"]),
        ({"a": "c b", "b": "", "c": "b"}, ["b", "c"]),
    ],
)
def test_each_once_and_after_its_own(of_a: dict[str, str], expected: list[str]) -> None:
    assert [each.name for each in in_order("a", graph(**of_a))] == expected


@pytest.mark.parametrize(
    ("of_a", "cycle"),
    [
        ({"a": "b", "b": "a"}, "a -> b -> a"),
        ({"a": "b", "b": "c", "c": "d", "d": "c"}, "c -> d -> c"),
    ],
)
def test_a_circle_is_refused_with_its_chain(of_a: dict[str, str], cycle: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        in_order("a", graph(**of_a))
    assert f"recipes depend on each other: {cycle};" in str(caught.value)


def test_two_may_not_want_different_options() -> None:
    found = graph(a="b c", d="")
    found |= {
        "b": [Dependency("d", {"mode": "slow"})],
        "c": [Dependency("d", {"mode": "fast"})],
    }
    with pytest.raises(InvalidInput, match="b and c depend on d with different options"):
        in_order("a", found)

    found["c"] = [Dependency("d", {"mode": "slow"})]
    assert in_order("a", found)[0].options == {"mode": "slow"}


def test_each_recipe_is_read_once() -> None:
    asked: list[str] = []
    known = graph(a="b c", b="c", c="a")

    def read(name: str) -> list[Dependency]:
        asked.append(name)
        return known[name]

    assert graph_of("a", read) == known
    assert sorted(asked) == ["a", "b", "c"]


def test_as_recipe_yml_says_it(files: dict[str, str]) -> None:
    text = "depends: [nfd, {name: base, options: {mode: slow}}]\n"
    files["recipe.yml"] = files["recipe.yml"].replace("options:\n", f"{text}options:\n", 1)

    found = load(files, "toy").depends

    assert found == (Dependency("nfd"), Dependency("base", {"mode": "slow"}))


@pytest.mark.parametrize(
    ("depends", "said"),
    [
        ("[toy-gpu]", "depends[0]: expected another recipe, and each of them once, found toy-gpu"),
        ("[nfd, {name: nfd}]", "depends[1]: expected another recipe, and each of them once"),
        ("nfd", "depends: expected a list, found 'nfd'"),
        ("[../nfd]", "depends[0]: expected the name of a recipe, found '../nfd'"),
        ("[{options: {}}]", "depends[0].name: expected a value"),
    ],
)
def test_what_cannot_be(files: dict[str, str], depends: Any, said: str) -> None:
    files["recipe.yml"] = files["recipe.yml"].replace(
        "options:\n", f"depends: {depends}\noptions:\n", 1
    )
    with pytest.raises(InvalidInput) as caught:
        load(files, "toy")
    assert said in str(caught.value)
