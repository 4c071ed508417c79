# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""node_partition inside the controller, where that is possible; documented with the module."""

from __future__ import annotations

from ..module_utils._interface import arguments
from ..module_utils._states import partition
from ..plugin_utils._in_process import action

ActionModule = action("node_partition", arguments.NODE_PARTITION, partition.TASK)
