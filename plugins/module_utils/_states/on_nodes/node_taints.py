# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Put taints on nodes and take them off: one patch for each node that changes, which holds for the
node as it was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..._cluster.api_client.api_errors import Conflict, NotFound
from ..._cluster.api_client.client import Client
from ..._json import Obj
from ..._nodes.taints import Taint, taint_patch
from .node_patches import try_patches

# A node's taints change when it comes, goes, or is short of something.
_TRIES = 5


def find_patches(nodes: Iterable[Obj], recipe: str, wanted: Iterable[Taint]) -> dict[str, Obj]:
    """Node -> the patch by which it carries the wanted taints and none of ours besides, where it
    does not."""
    found = {node["metadata"]["name"]: taint_patch(node, recipe, wanted) for node in nodes}
    return {name: patch for name, patch in found.items() if patch is not None}


def write_taints(
    client: Client,
    patches: Mapping[str, Obj],
    recipe: str,
    wanted: Iterable[Taint],
    guard: Callable[[], None],
) -> None:
    """Send the patches; a node that somebody else has changed meanwhile is read again.

    Raises the first ApiError after all have been sent; a node that has left needs nothing.
    """
    kind, left = client.kind("v1", "Node"), dict(patches)
    for last in (*(False,) * (_TRIES - 1), True):
        if not left:
            return
        guard()
        refused = try_patches(client, left)
        for error in refused.values():
            if not isinstance(error, NotFound) and (last or not isinstance(error, Conflict)):
                raise error
        changed = [name for name, error in refused.items() if isinstance(error, Conflict)]
        nodes = filter(None, (client.get(kind, name) for name in changed))
        left = find_patches(nodes, recipe, wanted)
