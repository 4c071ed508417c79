# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipe_check, which always runs on the controller: that is where recipes are; documented with the module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.authoring import check_core
from ansible_collections.hardware.enablement.plugins.module_utils.faces import arguments
from ansible_collections.hardware.enablement.plugins.module_utils.faces.api_types_file import read_api_types
from ansible_collections.hardware.enablement.plugins.module_utils.states.context import RunContext
from ansible_collections.hardware.enablement.plugins.plugin_utils.face import ControllerFace


def _run(params: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    return check_core.run(params, context, read_api_types())


class ActionModule(ControllerFace):
    """The only face of recipe_check."""

    MODULE = "hardware.enablement.recipe_check"
    SPEC = arguments.RECIPE_CHECK
    CORE = staticmethod(_run)
