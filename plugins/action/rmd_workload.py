# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""rmd_workload inside the controller, where that is possible; documented with the module."""

from __future__ import annotations

from ..module_utils._interface import workload_arguments
from ..module_utils._rmd import workload_run
from ..plugin_utils._in_process import action

ActionModule = action("rmd_workload", workload_arguments.RMD_WORKLOAD, workload_run.TASK)
