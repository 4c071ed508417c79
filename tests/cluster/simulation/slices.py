# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ResourceSlices that DRA drivers publish of a node. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .effects import MANAGED_BY
from .model import Node, Obj, Operand, Pod
from .operands import Operands

ROLE = "dra-driver"
PATH = "/apis/resource.k8s.io/v1/resourceslices"


def wanted_slices(
    node: Node, pods: Sequence[Pod], operands: Operands, known: Mapping[str, Obj]
) -> dict[str, Obj]:
    """By name: of drivers that serve, and what one that does not serve now has published before.

    The kubelet takes them away some time after the driver has gone; here they go with its pod.
    """
    result: dict[str, Obj] = {}
    for pod in pods:
        if pod.operand.role != ROLE or pod.deleting:
            continue
        name = f"{node.name}-{pod.operand.dra_driver}"
        if not pod.serves:
            result |= {name: known[name]} if name in known else {}
        elif node.behaviour_for(pod).name != "mute":
            result[name] = _slice(name, node, pod.operand, operands)
    return result


def _slice(name: str, node: Node, operand: Operand, operands: Operands) -> Obj:
    resource = operands.stacks[operand.stack].devices
    type_ = {"type": {"string": resource.rpartition("/")[2]}}
    owner = {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.uid}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name, "labels": dict(MANAGED_BY), "ownerReferences": [owner]},
        "spec": {
            "driver": operand.dra_driver,
            "nodeName": node.name,
            "pool": {"name": node.name, "generation": 1, "resourceSliceCount": 1},
            "devices": [
                {"name": f"device-{index}", "attributes": type_}
                for index in range(node.devices.get(resource, 0))
            ],
        },
    }
