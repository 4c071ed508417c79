# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Label expressions: all of Kubernetes' operators, what two sums have in common, and what none of
them selects."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.expressions import (
    MAX_TERMS,
    OPERATORS,
    Expression,
    Terms,
    any_holds,
    both,
    outside,
    parse_expression,
    parse_selector,
)

VALUES = (None, "a", "b", "3", "7", "x1")


@pytest.mark.parametrize(
    ("operator", "values", "holding"),
    [
        ("In", ("a", "b"), {"a", "b"}),
        ("NotIn", ("a",), {None, "b", "3", "7", "x1"}),
        ("Exists", (), {"a", "b", "3", "7", "x1"}),
        ("DoesNotExist", (), {None}),
        ("Gt", ("3",), {"7"}),
        ("Lt", ("7",), {"3"}),
    ],
)
def test_operators(operator: str, values: tuple[str, ...], holding: set[str | None]) -> None:
    expression = Expression("k", operator, values)

    assert {
        value for value in VALUES if expression.holds({} if value is None else {"k": value})
    } == holding


def made(chance: random.Random) -> Expression:
    """Some expression on one of two labels."""
    operator = chance.choice(OPERATORS)
    values: tuple[str, ...] = ()
    if operator in ("In", "NotIn"):
        values = tuple(sorted(chance.sample(["a", "b", "3", "7"], chance.randint(1, 2))))
    elif operator in ("Gt", "Lt"):
        values = (chance.choice(["2", "3", "7"]),)
    return Expression(chance.choice("kl"), operator, values)


def sums(seed: int) -> tuple[Terms, Terms]:
    """Two sums of products."""
    chance = random.Random(seed)  # noqa: S311 - any numbers do
    first, second = (
        tuple(
            tuple(made(chance) for _term in range(chance.randint(1, 3)))
            for _sum in range(chance.randint(1, 3))
        )
        for _side in range(2)
    )
    return first, second


@pytest.mark.parametrize("seed", range(200))
def test_inside_outside_and_both_agree_with_each_label(seed: int) -> None:
    first, second = sums(seed)
    neither, common = outside(first), both(first, second)
    for k, el in itertools.product(VALUES, VALUES):
        labels = {name: value for name, value in (("k", k), ("l", el)) if value is not None}
        if any(expression.unreadable(labels) for term in (*first, *second) for expression in term):
            continue
        assert any_holds(neither, labels) is not any_holds(first, labels), (first, neither, labels)
        assert any_holds(common, labels) is (any_holds(first, labels) and any_holds(second, labels))


def test_what_is_left_outside_of_pools_with_one_label_is_one_expression() -> None:
    pools: Terms = tuple((Expression("pool", "In", (name,)),) for name in "cab")

    assert outside(pools) == ((Expression("pool", "NotIn", ("a", "b", "c")),),)


def test_more_terms_than_are_sent_are_refused() -> None:
    pools: Terms = tuple(
        tuple(Expression(f"{pool}-{key}", "Exists") for key in "abc") for pool in range(4)
    )

    with pytest.raises(InvalidInput, match=rf"would take 81 terms, and at most {MAX_TERMS}"):
        outside(pools)


def test_a_selector_is_one_term() -> None:
    expressions = [
        {"key": "gpus", "operator": "Gt", "values": [4]},
        {"key": "old", "operator": "DoesNotExist"},
    ]

    assert parse_selector({"matchLabels": {"zone": "a"}, "matchExpressions": expressions}) == (
        Expression("zone", "In", ("a",)),
        Expression("gpus", "Gt", ("4",)),
        Expression("old", "DoesNotExist"),
    )


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("zone", "an expression is a mapping"),
        ({"key": "a b", "operator": "Exists"}, "'a b' is not the name of a label"),
        (
            {"key": "a", "operator": "in", "values": ["x"]},
            "operator 'in' of a is none of In, NotIn",
        ),
        ({"key": "a", "operator": "In"}, "needs at least one value"),
        ({"key": "a", "operator": "In", "values": ["x y"]}, "'x y' is not a value of label a"),
        ({"key": "a", "operator": "In", "values": [True]}, "is not a value of label a"),
        ({"key": "a", "operator": "In", "values": "x"}, "the values of a are not a list"),
        ({"key": "a", "operator": "Exists", "values": ["x"]}, "takes no values"),
        ({"key": "a", "operator": "Gt", "values": ["x"]}, "needs one whole number"),
        ({"key": "a", "operator": "Exists", "value": "x"}, "and not value"),
    ],
)
def test_what_is_no_expression(given: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_expression(given)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "is empty, and would take every node"),
        ({"zone": "a"}, "and not zone"),
        ("zone=a", "a selector is a mapping"),
        ({"matchLabels": ["a"]}, "matchLabels is a mapping"),
    ],
)
def test_what_is_no_selector(given: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_selector(given)
