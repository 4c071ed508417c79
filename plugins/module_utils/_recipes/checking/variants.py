# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The combinations of options that a recipe is tried with: defaults, each choice once, pairs that
one state reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import Any

from ..loading.recipe import Option, Recipe
from ..loading.standard import STANDARD_OPTIONS

MOST_VARIANTS = 600
# Stands for what only a user knows; an image made from it is nobody's mistake.
SAMPLE = "sample.invalid"

_SAMPLE_ELEMENTS = {"str": SAMPLE, "int": 1, "bool": True}


@dataclass(frozen=True, eq=False)
class Variant:
    """One combination. options: as a user would give them. changed: the options that differ from
    the first variant. parts: the two variants that this one is both of, none for the others."""

    title: str
    options: Mapping[str, Any]
    changed: frozenset[str] = frozenset()
    parts: tuple[Variant, ...] = ()


@dataclass(frozen=True)
class Variants:
    """All of them, the one nearest to the defaults first. left_out: how many more there would be.

    unsampled: options that were tried with their default only, since nobody but the author knows
    another value.
    """

    tried: Sequence[Variant]
    left_out: int
    unsampled: Sequence[str]


def variants(
    recipe: Recipe, given: Mapping[str, Any], readers: Mapping[str, frozenset[str]]
) -> Variants:
    """The combinations to try. given: what holds in all of them. readers: option -> the states that
    read it."""
    needed = [option for option in recipe.options.values() if option.required]
    base = {**{option.name: _sample(option) for option in needed}, **given}
    others = {
        name: _other_values(option, recipe)
        for name, option in recipe.options.items()
        if name not in given and name != "namespace"
    }
    single = {
        name: [_variant(base, {name: value}) for value in values] for name, values in others.items()
    }
    found = [Variant("", base), *chain(*single.values()), *_all_switches(recipe, base, given)]
    found += _pairs(recipe, single, readers)
    unsampled = [
        name
        for name, option in recipe.options.items()
        if not others.get(name) and _needs_example(option)
    ]
    return Variants(found[:MOST_VARIANTS], max(0, len(found) - MOST_VARIANTS), unsampled)


def _all_switches(
    recipe: Recipe, base: Mapping[str, Any], given: Mapping[str, Any]
) -> Iterator[Variant]:
    switches = [
        name
        for name, option in recipe.options.items()
        if option.type == "bool" and name not in given
    ]
    values: tuple[bool, ...] = (True, False) if switches else ()
    for value in values:
        text = f"every bool option {str(value).lower()}"
        yield Variant(text, {**base, **dict.fromkeys(switches, value)}, frozenset(switches))


def _pairs(
    recipe: Recipe,
    single: Mapping[str, Sequence[Variant]],
    readers: Mapping[str, frozenset[str]],
) -> Iterator[Variant]:
    """Switches and choices that a state reads together."""
    finite = [
        name
        for name, option in recipe.options.items()
        if name not in STANDARD_OPTIONS
        and (option.type == "bool" or option.choices)
        and single.get(name)
    ]
    for one, other in combinations(finite, 2):
        if readers.get(one, frozenset()) & readers.get(other, frozenset()):
            for parts in product(single[one], single[other]):
                yield _pair(*parts)


def _pair(one: Variant, other: Variant) -> Variant:
    """Both at once: the second one's option is the only one of it that the first has otherwise."""
    changes = {name: other.options[name] for name in other.changed}
    return Variant(
        f"{one.title}, {other.title}",
        {**one.options, **changes},
        one.changed | other.changed,
        (one, other),
    )


def _variant(base: Mapping[str, Any], changes: Mapping[str, Any]) -> Variant:
    title = ", ".join(f"{name}={_shown(value)}" for name, value in changes.items())
    return Variant(title, {**base, **changes}, frozenset(changes))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return (
        str(value)
        if isinstance(value, (int, str)) and value != ""
        else "''"
        if value == ""
        else "a sample"
    )


def _other_values(option: Option, recipe: Recipe) -> list[Any]:
    """Values besides the default that a template may treat differently."""
    standard = _STANDARD_SAMPLES.get(option.name)
    if standard is not None:
        return [standard(recipe)]
    if option.type == "bool":
        return [not option.default] if option.default is not None else [True, False]
    if option.choices and option.type != "list":
        return [choice for choice in option.choices if choice != option.default]
    return [value for value in _candidates(option) if value not in (None, option.default)]


def _candidates(option: Option) -> list[Any]:
    """What an option of no fixed choice may be: as in its example, made up, or nothing."""
    if option.example is not None:
        return [option.example, _empty(option)]
    if option.type == "list":
        return [[], _sample(option)]
    if option.type == "dict":
        return [{}] if option.default else []
    return [] if option.default or option.required else [_sample(option)]


def _empty(option: Option) -> Any:
    """Nothing, where a user may say so: other options would not work without a value."""
    if option.type in ("list", "dict"):
        return [] if option.type == "list" else {}
    return option.default


def _sample(option: Option) -> Any:
    if option.example is not None:
        return option.example
    if option.choices:
        return [option.choices[0]] if option.type == "list" else option.choices[0]
    if option.type == "list":
        element = _SAMPLE_ELEMENTS.get(option.elements or "str")
        return None if element is None else [element]
    return {"str": SAMPLE, "int": 1, "bool": True, "dict": {}}[option.type]


def _needs_example(option: Option) -> bool:
    return not option.default and (
        option.type == "dict" or (option.type == "list" and option.elements == "dict")
    )


def _per_state(value: Mapping[str, Any]) -> Any:
    return lambda recipe: {state: dict(value) for state in recipe.states}


_STANDARD_SAMPLES: Mapping[str, Any] = {
    "image_pull_secrets": lambda _recipe: ["sample"],
    "tolerations": lambda _recipe: [
        {"key": "sample", "operator": "Exists", "effect": "NoSchedule"}
    ],
    "node_selector": lambda _recipe: {"example.com/sample": "true"},
    "hardware_labels": lambda _recipe: [{"example.com/sample": "true"}],
    "priority_class": lambda _recipe: "",
    "proxy": lambda _recipe: {"http": "http://proxy.example.com:3128", "no": "10.0.0.0/8,.svc"},
    "resources": _per_state({"requests": {"cpu": "10m"}, "limits": {"memory": "64Mi"}}),
    "env": _per_state({"SAMPLE": "sample"}),
}
