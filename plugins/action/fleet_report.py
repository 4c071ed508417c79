# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""fleet_report inside the controller, where that is possible; documented with the module."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils.faces import arguments
from ansible_collections.hardware.enablement.plugins.module_utils.states import fleet
from ansible_collections.hardware.enablement.plugins.plugin_utils.face import Face


class ActionModule(Face):
    """The fast face of fleet_report."""

    MODULE = "hardware.enablement.fleet_report"
    SPEC = arguments.FLEET_REPORT
    OF_ALL_HOSTS = True
    CORE = staticmethod(fleet.run)
