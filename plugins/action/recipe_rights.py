# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipe_rights, which always runs on the controller: that is where recipes are; documented with the module."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.authoring.rights import rights_core
from ansible_collections.hardware.enablement.plugins.module_utils.faces import arguments
from ansible_collections.hardware.enablement.plugins.module_utils.faces.api_types_file import read_api_types
from ansible_collections.hardware.enablement.plugins.module_utils.faces.bundle import read_bundle
from ansible_collections.hardware.enablement.plugins.module_utils.states.context import RunContext
from ansible_collections.hardware.enablement.plugins.plugin_utils.face import COLLECTION_RECIPES, ControllerFace


def _run(params: Mapping[str, Any], _context: RunContext) -> dict[str, Any]:
    folder = Path(params["recipe_dir"]) if params.get("recipe_dir") else COLLECTION_RECIPES
    bundles = {name: read_bundle(folder / name) for name in params["recipes"]}
    return rights_core.run(params, bundles, read_api_types())


class ActionModule(ControllerFace):
    """The only face of recipe_rights."""

    MODULE = "hardware.enablement.recipe_rights"
    SPEC = arguments.RECIPE_RIGHTS
    CORE = staticmethod(_run)
