# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""special_resource inside the controller, where that is possible; documented with the module."""

from __future__ import annotations

from ..module_utils._interface import arguments
from ..module_utils._states import special_resource
from ..plugin_utils._in_process import action

ActionModule = action("special_resource", arguments.SPECIAL_RESOURCE, special_resource.TASK)
