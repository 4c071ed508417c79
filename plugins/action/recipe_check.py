# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipe_check, which always runs on the controller: that is where recipes are; documented with the
module."""

from __future__ import annotations

from ..module_utils._authoring import check_core
from ..module_utils._authoring.check_core import RecipeCheckRequest
from ..module_utils._interface import arguments
from ..module_utils._interface.api_types_file import read_api_types
from ..module_utils._json import Obj
from ..module_utils._runs.context import RunContext
from ..module_utils._runs.task import Task
from ..plugin_utils._in_process import ControllerAction, action


def _run(request: RecipeCheckRequest, context: RunContext) -> Obj:
    return check_core.run(request, context, read_api_types())


TASK = Task(RecipeCheckRequest, _run)
ActionModule = action("recipe_check", arguments.RECIPE_CHECK, TASK, ControllerAction)
