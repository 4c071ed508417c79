# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recipe depends on, directly or not, in the order in which it is enabled. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..._errors import InvalidInput
from .recipe import Dependency

# Recipe -> what it depends on, as it names it.
Graph = Mapping[str, Sequence[Dependency]]


def graph_of(name: str, read: Callable[[str], Sequence[Dependency]]) -> dict[str, list[Dependency]]:
    """The graph of a recipe. read: gives what a recipe depends on; it is asked once for each."""
    found: dict[str, list[Dependency]] = {}
    left = [name]
    while left:
        each = left.pop()
        if each not in found:
            found[each] = list(read(each))
            left += [dependency.name for dependency in found[each]]
    return found


def in_order(name: str, graph: Graph) -> list[Dependency]:
    """All that a recipe depends on, each once, and each after what it depends on itself.

    Raises InvalidInput where recipes depend on each other in a circle, or two want one of them with
    different options.
    """
    done: dict[str, Dependency] = {}
    asked_by: dict[str, str] = {}

    def visit(by: str, trail: tuple[str, ...]) -> None:
        for dependency in graph[by]:
            chain = (*trail, dependency.name)
            if dependency.name in trail:
                cycle = chain[chain.index(dependency.name) :]
                raise InvalidInput(
                    f"recipe {name} cannot be enabled",
                    why=f"recipes depend on each other: {' -> '.join(cycle)}",
                    todo=f"take one of them out of depends in the recipe.yml of {', '.join(cycle[:-1])}",
                )
            visit(dependency.name, chain)
            before = done.setdefault(dependency.name, dependency)
            if before.options != dependency.options:
                raise InvalidInput(
                    f"recipe {name} cannot be enabled",
                    why=f"{asked_by[dependency.name]} and {by} depend on {dependency.name} with different options",
                    todo=f"give both the same, or enable {dependency.name} beforehand and give none",
                )
            asked_by.setdefault(dependency.name, by)

    visit(name, (name,))
    return list(done.values())
