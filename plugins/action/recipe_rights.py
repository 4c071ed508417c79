# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipe_rights, which always runs on the controller: that is where recipes are; documented with
the module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..module_utils._authoring.rights import rights_core
from ..module_utils._authoring.rights.rights_core import RecipeRightsRequest
from ..module_utils._interface import arguments
from ..module_utils._interface.api_types_file import read_api_types
from ..module_utils._interface.bundle import find_bundle
from ..module_utils._json import Obj
from ..module_utils._runs.context import RunContext
from ..module_utils._runs.task import Task
from ..plugin_utils._in_process import ControllerAction


def _run(request: RecipeRightsRequest, _context: RunContext) -> Obj:
    return rights_core.run(request, read_api_types())


class ActionModule(ControllerAction):
    """recipe_rights with the files of all recipes that are named."""

    MODULE, SPEC = "recipe_rights", arguments.RECIPE_RIGHTS
    TASK = Task(RecipeRightsRequest, _run)

    def _complete(self, args: dict[str, Any], task_vars: Mapping[str, Any]) -> None:
        super()._complete(args, task_vars)
        named = args.get("recipes") or []
        stores = self._stores()
        args["bundles"] = {
            name: find_bundle(name, stores)
            for name in (named if isinstance(named, list) else named.split(","))
        }
