# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kmm_import, which always runs on the controller: that is where recipes are; documented with the
module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..module_utils._authoring import kmm_core
from ..module_utils._charts.recipe_reading import read_recipe
from ..module_utils._interface import arguments
from ..module_utils._interface.api_types_file import read_api_types
from ..module_utils._interface.bundle import with_macros
from ..module_utils._json import Obj
from ..module_utils._recipes.checking.check import check
from ..module_utils._runs.context import RunContext
from ..module_utils._runs.task import Task
from ..plugin_utils._in_process import ControllerAction, action


def _wrong(files: Mapping[str, str], name: str) -> Sequence[str]:
    checked = check(with_macros(dict(files)), name, {}, read_api_types(), read=read_recipe)
    return [str(finding) for finding in checked.errors]


def _run(request: kmm_core.KmmRecipeRequest, context: RunContext) -> Obj:
    return kmm_core.run(request, context, _wrong)


TASK = Task(kmm_core.KmmRecipeRequest, _run)
ActionModule = action("kmm_import", arguments.KMM_IMPORT, TASK, ControllerAction)
