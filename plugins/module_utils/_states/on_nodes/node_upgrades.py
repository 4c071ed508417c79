# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write how a node stands in the exchange of its driver, with what goes with it: one patch, which
holds for the node as it was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Optional

from ..._cluster.api_client.api_errors import Conflict
from ..._cluster.api_client.client import Client
from ..._json import Obj
from ..._nodes.upgrade_marks import NodeUpgrade, upgrade_patch

# A node changes when it comes, goes, or is short of something.
_TRIES = 5

Make = Callable[[Obj], Optional[NodeUpgrade]]


def write_upgrade(client: Client, name: str, recipe: str, make: Make) -> bool:
    """Read the node and write what make says of it, again where somebody else was faster; False
    where there is no such node. Raises Conflict where others are faster each time."""
    kind = client.kind("v1", "Node")
    for last in (*(False,) * (_TRIES - 1), True):
        live = client.get(kind, name)
        if live is None:
            return False
        try:
            client.patch(kind, name, None, upgrade_patch(live, recipe, make(live)))
        except Conflict:
            if last:
                raise
        else:
            return True
    return False
