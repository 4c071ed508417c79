# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipe_new, which always runs on the controller: that is where recipes are; documented with the module."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils.authoring import new_core
from ansible_collections.hardware.enablement.plugins.module_utils.faces import arguments
from ansible_collections.hardware.enablement.plugins.plugin_utils.face import ControllerFace


class ActionModule(ControllerFace):
    """The only face of recipe_new."""

    MODULE = "hardware.enablement.recipe_new"
    SPEC = arguments.RECIPE_NEW
    CORE = staticmethod(new_core.run)
