# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""support_bundle, which always runs on the controller: that is where its file goes, and where recipes
are; documented with the module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..module_utils._errors import EnablementError
from ..module_utils._interface import arguments
from ..module_utils._interface.bundle import find_bundle
from ..module_utils._json import Obj, part
from ..module_utils._states.support import support_run
from ..plugin_utils._in_process import ControllerAction

# What a record names beside these is nothing to fetch from unasked.
_PLACES = ("/", "cm://")


class ActionModule(ControllerAction):
    """support_bundle with the files of all recipes that are enabled."""

    MODULE, SPEC, TASK = "support_bundle", arguments.SUPPORT_BUNDLE, support_run.TASK

    def _complete(self, args: dict[str, Any], task_vars: Mapping[str, Any]) -> None:
        super()._complete(args, task_vars)
        bundles = {}
        for resource in args.get("resources") or []:
            # One that is not here is missing in the bundle, which says so.
            if found := self._files_of(part(resource, "spec"), str(args.get("recipe_dir") or "")):
                bundles[str(resource["name"])] = found
        args["bundles"] = bundles

    def _files_of(self, spec: Mapping[str, Any], given: str) -> Obj:
        place = str(spec.get("recipeDir") or "")
        recorded = place if place.startswith(_PLACES) else ""
        name = str(spec.get("foundAs") or spec.get("recipe") or "")
        try:
            return dict(find_bundle(name, self._stores(recipe_dir=given or recorded)))
        except EnablementError:
            return {}
