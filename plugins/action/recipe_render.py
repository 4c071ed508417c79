# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipe_render, which always runs on the controller: that is where recipes are, and where its files
go; documented with the module."""

from __future__ import annotations

from ..module_utils._authoring.gitops import render_run
from ..module_utils._authoring.gitops.render_run import RecipeRenderRequest
from ..module_utils._interface import arguments
from ..module_utils._interface.api_types_file import read_api_types
from ..module_utils._json import Obj
from ..module_utils._runs.context import RunContext
from ..module_utils._runs.task import Task
from ..plugin_utils._in_process import ControllerAction, action


def _run(request: RecipeRenderRequest, context: RunContext) -> Obj:
    return render_run.run(request, context, read_api_types())


TASK = Task(RecipeRenderRequest, _run)
ActionModule = action("recipe_render", arguments.RECIPE_RENDER, TASK, ControllerAction)
