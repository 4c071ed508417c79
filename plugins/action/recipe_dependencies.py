# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipe_dependencies: the recipes are read where ansible-playbook runs; documented with the module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..module_utils._charts.recipe_reading import read_recipe
from ..module_utils._interface import arguments
from ..module_utils._interface.bundle import find_bundle
from ..module_utils._recipes.loading.dependencies import graph_of
from ..module_utils._recipes.loading.lookups import is_looked_up
from ..module_utils._recipes.loading.recipe import Dependency
from ..module_utils._states.cleanup import dependency_order
from ..plugin_utils._in_process import InProcessAction


class ActionModule(InProcessAction):
    """recipe_dependencies with what the recipes say of each other."""

    MODULE, SPEC = "recipe_dependencies", arguments.RECIPE_DEPENDENCIES
    TASK = dependency_order.TASK

    def _complete(self, args: dict[str, Any], task_vars: Mapping[str, Any]) -> None:
        super()._complete(args, task_vars)
        stores = self._stores()
        named = str(args["recipe"])
        more = [Dependency(**entry) for entry in args.get("depends") or []]
        rows: dict[str, dict[str, Any]] = {}

        def read(name: str) -> list[Dependency]:
            recipe = read_recipe(find_bundle(name, stores), name)
            looked_up = any(map(is_looked_up, recipe.states.values()))
            rows[name] = {"namespace": recipe.namespace, "looks_images_up": looked_up}
            return [*recipe.depends, *(more if name == named else ())]

        args["graph"] = {
            name: {**rows[name], "depends": [asdict(each) for each in found]}
            for name, found in graph_of(named, read).items()
        }
