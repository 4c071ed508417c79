# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of Intel's RMD operator, and the names that it and this collection give to their
objects."""

from __future__ import annotations

from ..._cluster.api_objects.kinds import Kind
from ..._cluster.api_objects.labels import DOMAIN

GROUP = "intel.com"
VERSION = "v1alpha1"

WORKLOAD = Kind(GROUP, VERSION, "RmdWorkload", "rmdworkloads", namespaced=True)
NODE_STATE = Kind(GROUP, VERSION, "RmdNodeState", "rmdnodestates", namespaced=True)
CONFIG = Kind(GROUP, VERSION, "RmdConfig", "rmdconfigs", namespaced=True)

# Where the operator keeps node states and looks for its configuration; a workload there needs no
# prefix in its uuid.
HOME_NAMESPACE = "default"
CONFIG_NAME = "rmdconfig"

L3_CACHE_WAYS = f"{GROUP}/l3_cache_ways"
FINALIZER = f"{DOMAIN}/rmd"


def node_state_name(node: str) -> str:
    """The name of a node's RmdNodeState, which lies in HOME_NAMESPACE."""
    return f"rmd-node-state-{node}"
