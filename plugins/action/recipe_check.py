# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipe_check, which always runs on the controller: that is where recipes are; documented with the
module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..module_utils._authoring import check_core
from ..module_utils._interface import arguments
from ..module_utils._interface.api_types_file import read_api_types
from ..module_utils._runs.context import RunContext
from ..module_utils._runs.task import Task
from ..plugin_utils._in_process import ControllerAction, action


def _run(params: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    return check_core.run(params, context, read_api_types())


ActionModule = action("recipe_check", arguments.RECIPE_CHECK, Task(None, _run), ControllerAction)
