# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipe_dependencies: the recipes are read where ansible-playbook runs; documented with the module."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import asdict
from typing import Any

from ..module_utils._charts.recipe_reading import read_recipe
from ..module_utils._interface import arguments
from ..module_utils._interface.bundle import find_bundle
from ..module_utils._recipes.loading.dependencies import graph_of
from ..module_utils._recipes.loading.recipe import Dependency
from ..module_utils._states.cleanup import dependency_order
from ..plugin_utils._in_process import InProcessAction


class ActionModule(InProcessAction):
    """recipe_dependencies with what the recipes say of each other."""

    MODULE, SPEC = "recipe_dependencies", arguments.RECIPE_DEPENDENCIES
    TASK = dependency_order.TASK

    def _complete(self, args: dict[str, Any], task_vars: Mapping[str, Any]) -> None:
        super()._complete(args, task_vars)
        named = str(args["recipe"])
        more = [Dependency(**entry) for entry in args.get("depends") or []]
        places = {named: ""}
        rows: dict[str, dict[str, Any]] = {}

        def read(name: str) -> list[Dependency]:
            place = places[name]
            row = rows[name] = read_row(find_bundle(name, self._stores(recipe_dir=place)), name)
            depends: list[Dependency] = row.pop("depends")
            if name == named:
                # What is said of one here counts.
                said = {each.name for each in more}
                depends = [*(each for each in depends if each.name not in said), *more]
            for each in depends:
                places.setdefault(each.name, each.recipe_dir or place)
            return depends

        graph = graph_of(named, read)
        foreign = {name for name, row in rows.items() if row.pop("is_foreign")}
        args["graph"] = {
            name: {
                **rows[name],
                "recipe_dir": places[name] or str(args.get("recipe_dir") or ""),
                "depends": [_edge(each, foreign) for each in found],
            }
            for name, found in graph.items()
        }


def _edge(dependency: Dependency, foreign: Set[str]) -> dict[str, Any]:
    """A dependency; a recipe of another format that has taken a chart's place gets no values of it."""
    if dependency.name in foreign or not dependency.options:
        return asdict(dependency)
    # Only now, as in recipe_reading: most recipes are no charts.
    from ..module_utils._charts.chart_recipe import OF_CHARTS  # noqa: PLC0415

    options = {name: value for name, value in dependency.options.items() if name not in OF_CHARTS}
    return {**asdict(dependency), "options": options}


def read_row(bundle: Mapping[str, str], name: str) -> dict[str, Any]:
    """What a recipe says of itself, and the custom resource that its author has put beside it."""
    recipe = read_recipe(bundle, name)
    own = None
    if recipe.source.format is not None:
        # As above.
        from ..module_utils._sro.sro_dependency import own_request  # noqa: PLC0415

        own = own_request(bundle, name)
    return {
        "namespace": own.namespace if own else recipe.namespace,
        "options": own.options if own else {},
        "is_foreign": recipe.source.format is not None,
        "depends": [
            *recipe.depends,
            *(Dependency(**each) for each in (own.depends if own else ())),
        ],
    }
