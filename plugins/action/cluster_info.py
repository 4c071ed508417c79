# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""cluster_info inside the controller, where that is possible; documented with the module."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils.faces import arguments
from ansible_collections.hardware.enablement.plugins.module_utils.states import which_cluster
from ansible_collections.hardware.enablement.plugins.plugin_utils.face import Face


class ActionModule(Face):
    """The fast face of cluster_info."""

    MODULE = "hardware.enablement.cluster_info"
    SPEC = arguments.CLUSTER_INFO
    CORE = staticmethod(which_cluster.run)
