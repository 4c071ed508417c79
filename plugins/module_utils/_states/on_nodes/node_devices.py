# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who still gives a node's devices to pods: a device plugin by what the kubelet advertises, a DRA driver
by its ResourceSlices."""

from __future__ import annotations

from collections.abc import Callable, Collection

from ..._cluster.api_client.client import Client
from ..._cluster.api_client.rights import CLUSTER, Right
from ..._nodes.facts import NodeFacts, quantity

RESOURCE_SLICE = ("resource.k8s.io/v1", "ResourceSlice")

# For recipes whose devices may come to be served in another way.
RIGHTS = (Right("resource.k8s.io", ("resourceslices",), ("list",), CLUSTER, read_only=("list",)),)


def still_served(
    client: Client, node: NodeFacts, serves: Callable[[str], bool], drivers: Collection[str]
) -> str:
    """What says that somebody serves a node's devices, in words; "" for nothing. serves: whether an
    extended resource is of these devices; drivers: the DRA drivers of theirs. Raises ApiError."""
    for resource, count in sorted(node.allocatable.items()):
        if serves(resource) and quantity(count):
            return f"the node still offers {resource}"
    if not (drivers and client.serves(*RESOURCE_SLICE)):
        return ""
    for each in client.list(
        client.kind(*RESOURCE_SLICE), fields=f"spec.nodeName={node.name}"
    ).items:
        driver = each["spec"]["driver"]
        if driver in drivers:
            return f"ResourceSlice {each['metadata']['name']} of {driver} is still there"
    return ""
