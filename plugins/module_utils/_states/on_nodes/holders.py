# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who holds devices: pods that are bound to a node and have not ended, whatever their phase."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from typing import Any

from ..._cluster.api_client.client import Client
from ..._cluster.api_client.rights import CLUSTER, Right
from ..._cluster.api_objects.labels import RECIPE_LABEL
from ..._json import Obj, elements, part
from ..preparation.prepare import Prepared
from .claiming_pods import CLAIM_STATUS, ClaimingPods

# Pods that have not ended, as a field selector.
LIVING = "status.phase!=Succeeded,status.phase!=Failed"
_FIELDS = ("limits", "requests")
_SHOWN = 3
# What is read of each pod of a cluster (a shape, as in _cluster.object_shapes): a list of thousands.
_ASKING: Mapping[str, Any] = {"resources": {field: {} for field in _FIELDS}}
_KEPT: Mapping[str, Any] = {
    "metadata": {"name": str, "namespace": str, "uid": str, "labels": {RECIPE_LABEL: str}},
    "spec": {
        "nodeName": str,
        "containers": [_ASKING],
        "initContainers": [_ASKING],
        "resourceClaims": [{"name": str}],
    },
    "status": CLAIM_STATUS,
}


# Pods of whatever namespace may hold devices.
RIGHTS = (Right("", ("pods",), ("list",), CLUSTER, read_only=("list",)),)


def find_holders(
    client: Client, prepared: Prepared, nodes: Set[str] | None = None
) -> dict[str, list[str]]:
    """Node -> the pods ("namespace/name") that hold a device of the recipe there; nodes: None for
    all.

    Validation pods of the recipe itself do not count.
    """
    if nodes is not None and not nodes:
        return {}
    pods = _living_pods(client, nodes)
    claiming = ClaimingPods(client, prepared.device_access.dra_drivers).among(pods)
    found: dict[str, list[str]] = defaultdict(list)
    for pod in pods:
        metadata, node = pod["metadata"], pod["spec"].get("nodeName")
        if not node or (nodes is not None and node not in nodes):
            continue
        labelled = part(metadata, "labels").get(RECIPE_LABEL) == prepared.recipe.name
        if labelled and metadata["namespace"] in prepared.namespaces:
            continue
        if metadata.get("uid") in claiming or any(map(prepared.serves, asked_for(pod["spec"]))):
            found[node].append(f"{metadata['namespace']}/{metadata['name']}")
    return {node: sorted(names) for node, names in sorted(found.items())}


def _living_pods(client: Client, nodes: Set[str] | None) -> list[Obj]:
    """The pods that are bound to nodes and have not ended; of a single node only its own are sent."""
    bound = f"spec.nodeName={next(iter(nodes))}" if nodes and len(nodes) == 1 else "spec.nodeName!="
    return client.list(client.kind("v1", "Pod"), fields=f"{LIVING},{bound}", kept=_KEPT).items


def asked_for(spec: Mapping[str, Any]) -> set[str]:
    """The resources of a pod's containers, init containers and sidecars: the kubelet keeps for the
    pod's whole life what an init container was given. Ephemeral containers can ask for none."""
    containers = [*elements(spec, "containers"), *elements(spec, "initContainers")]
    asked = [part(container, "resources", field) for container in containers for field in _FIELDS]
    return {name for amounts in asked for name, amount in amounts.items() if str(amount) != "0"}


def in_words(pods: Iterable[str]) -> str:
    """'pods a/b, c/d, e/f and 2 more'."""
    names = sorted(pods)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"pod{'s' if len(names) > 1 else ''} {', '.join(names[:_SHOWN])}{more}"
