# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipe_new, which always runs on the controller: that is where recipes are; documented with the
module."""

from __future__ import annotations

from ..module_utils._authoring import new_core
from ..module_utils._interface import arguments
from ..plugin_utils._in_process import ControllerAction, action

ActionModule = action("recipe_new", arguments.RECIPE_NEW, new_core.TASK, ControllerAction)
