# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""image_copy inside the controller, where that is possible; documented with the module."""

from __future__ import annotations

from ..module_utils._interface import arguments
from ..module_utils._preflight import copy_core
from ..plugin_utils._in_process import action

ActionModule = action("image_copy", arguments.IMAGE_COPY, copy_core.TASK)
