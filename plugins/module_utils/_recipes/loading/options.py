# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the options that the user gave to typed values."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from ..._errors import InvalidInput
from ..._schema.problems import Problems, describe, suggest
from ..templates.manifests import copy_of
from .recipe import Option, Recipe
from .standard import STANDARD
from .values import NotOfTypeError, convert

# A shorter line of a longer secret (a brace, a word) would mask half of every result.
SHORTEST_LINE = 8


def resolve(
    recipe: Recipe, given: Mapping[str, Any] | None, *, complete: bool = True
) -> dict[str, Any]:
    """Every option of the recipe with its value: the given one converted to its type, else the
    default (or None).

    Texts are converted as Ansible's argument specs do ("yes", "5", JSON for lists and mappings),
    since surveys know nothing else. null counts as not given. Raises InvalidInput that lists
    unknown options, wrong types, values that are no choice, and missing required ones, if it has to
    be complete; values of no_log options are not shown.
    """
    problems = Problems(f"options of recipe {recipe.name}")
    values = {str(name): value for name, value in (given or {}).items() if value is not None}
    for name in values:
        if name not in recipe.options:
            hint = suggest(name, recipe.options)
            problems.add("", "only options that the recipe has", f"{name}{hint}")
    resolved: dict[str, Any] = {}
    for name, option in recipe.options.items():
        if name in values:
            resolved[name] = _value(option, values[name], problems)
        else:
            resolved[name] = _default(option, problems, needed=complete)
    if not problems:
        _check_standard(resolved, recipe, problems)
    problems.refuse(f"the options of recipe {recipe.name} cannot be used")
    return resolved


def _default(option: Option, problems: Problems, *, needed: bool) -> Any:
    """The value of an option that is not given. needed: whether a required one has to be."""
    if option.required and needed:
        problems.add(option.name, f"a value ({option.description or option.type})", "nothing")
    return copy_of(option.default)


def _check_standard(resolved: Mapping[str, Any], recipe: Recipe, problems: Problems) -> None:
    """What the options that every recipe has say beside their type."""
    for name, entry in STANDARD.items():
        if entry.check:
            entry.check(name, resolved[name], recipe.states, problems)


# They say which nodes there are, before there are pools of them.
_NOT_OF_POOLS = ("hardware_labels", "node_selector")


def of_pool(
    recipe: Recipe, pool: str, given: Mapping[str, Any] | None, own: Mapping[str, Any]
) -> dict[str, Any]:
    """Every option for the nodes of a pool: the pool's own, else the given ones, else the defaults.

    Raises InvalidInput as resolve() does, and for options that a pool cannot have.
    """
    for name in _NOT_OF_POOLS:
        if name in own:
            raise InvalidInput(
                f"pool {pool} cannot have the option {name}",
                why="it says which nodes have the hardware at all",
                todo="give it among the options of all nodes",
            )
    try:
        return resolve(recipe, {**(given or {}), **own})
    except InvalidInput as error:
        raise InvalidInput(
            error.what, where=f"pool {pool}", why=error.why, todo=error.todo
        ) from None


def refuse_differing(
    name: str,
    options: Mapping[str, Any],
    pool_options: Mapping[str, Mapping[str, Any]],
    why: str,
) -> None:
    """Raise InvalidInput where a pool has another value of an option that is one for all nodes.

    why: it is, in half a sentence."""
    for pool, each in pool_options.items():
        if each[name] != options[name]:
            raise InvalidInput(
                f"{name} cannot be {each[name]} in pool {pool}",
                why=f"it is {options[name]} elsewhere, and {why}",
                todo=f"give the option {name} for all nodes",
            )


def secret_texts(recipe: Recipe, resolved: Mapping[str, Any]) -> set[str]:
    """What nobody may see of the values given to no_log options: every text in them, its long
    lines, and its base64."""
    texts: set[str] = set()
    for option in recipe.options.values():
        if option.no_log and resolved[option.name] != option.default:
            texts.update(_texts(resolved[option.name]))
    lines = {line.strip() for text in texts for line in text.splitlines()}
    encoded = {base64.b64encode(text.encode()).decode() for text in texts}
    return texts | encoded | {line for line in lines if len(line) >= SHORTEST_LINE}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for entry in value.values():
            yield from _texts(entry)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _texts(entry)
    elif value is not None and not isinstance(value, bool) and str(value):
        yield str(value)


def _value(option: Option, value: Any, problems: Problems) -> Any:
    shown = "something else (not shown)" if option.no_log else describe(value)
    try:
        converted = convert(value, option.type, option.elements)
    except NotOfTypeError as error:
        expected = option.type if option.no_log else str(error)
        problems.add(option.name, expected, shown)
        return None
    chosen = converted if isinstance(converted, list) else [converted]
    if option.choices and any(choice not in option.choices for choice in chosen):
        problems.add(
            option.name, f"one of {', '.join(str(choice) for choice in option.choices)}", shown
        )
    return converted
