# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""sro_config, which reads a file of the machine that runs Ansible; documented with the module."""

from __future__ import annotations

from ..module_utils._interface import arguments
from ..module_utils._sro import sro_config
from ..plugin_utils._in_process import ControllerAction, action

ActionModule = action("sro_config", arguments.SRO_CONFIG, sro_config.TASK, ControllerAction)
