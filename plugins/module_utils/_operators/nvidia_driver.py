# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NVIDIADriver: options of the recipe nvidia-gpu for all nodes, or a pool. Pure.

Fields: api/nvidia/v1alpha1 of NVIDIA/gpu-operator, v26.7.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._json import Obj, part
from .._nodes.pools import pool_name
from .driver_fields import DRIVER_FIELDS, take_driver_image
from .field_mapping import (
    Fields,
    JoinedField,
    MappedField,
    MappedOptions,
    UnmappedField,
    map_fields,
)

_POOL = "the selector of a pool"
_SIDECAR = UnmappedField(
    "its kernel modules stay with the driver's pod until that is exchanged; then they go"
)
_LABELS = UnmappedField("pods have the recipe's labels and annotations")

FIELDS: Fields = {
    **DRIVER_FIELDS,
    "default": JoinedField("the options of all nodes"),
    "driverType": UnmappedField("virtual GPUs are not what the recipe serves", harmless=("gpu",)),
    "nodeSelector": JoinedField(_POOL),
    "nodeAffinity": JoinedField(_POOL),
    "tolerations": MappedField("tolerations"),
    "priorityClassName": MappedField("priority_class"),
    "labels": _LABELS,
    "annotations": _LABELS,
    "podSecurityContext": UnmappedField("the driver's pod has the recipe's security context"),
    "gds": _SIDECAR,
    "gdrcopy": _SIDECAR,
    "virtualTopologyConfig": UnmappedField("virtual GPUs are not what the recipe serves"),
}


def driver_pool(resource: Mapping[str, Any]) -> tuple[MappedOptions, Obj | None]:
    """What one NVIDIADriver says, and its pool as parse_pools() takes it; None for that of all nodes."""
    spec, name = part(resource, "spec"), str(resource["metadata"]["name"])
    prefix = f"NVIDIADriver {name}: "
    found = map_fields(spec, FIELDS, prefix)
    take_driver_image(found, spec, prefix)
    selector = _selector(spec, found, prefix)
    if selector is None:
        return found, None
    return found, {"name": pool_name(name), "selector": selector, "options": found.options}


def _selector(spec: Mapping[str, Any], found: MappedOptions, prefix: str) -> Obj | None:
    """Which nodes it is for: labels, and the one term of an affinity."""
    expressions = _expressions(part(spec, "nodeAffinity"))
    if spec.get("nodeAffinity") and not expressions:
        found.taken.pop(f"{prefix}nodeAffinity", None)
        found.dropped[f"{prefix}nodeAffinity"] = (
            "a pool has one selector: give pools with the nodes of its terms yourself"
        )
    labels = part(spec, "nodeSelector")
    if not labels and not expressions:
        return None
    return {
        **({"matchLabels": dict(labels)} if labels else {}),
        **({"matchExpressions": expressions} if expressions else {}),
    }


def _expressions(affinity: Mapping[str, Any]) -> list[Any]:
    """The expressions of the one term that an affinity requires; none where it has several terms."""
    required = part(affinity, "requiredDuringSchedulingIgnoredDuringExecution")
    terms = required.get("nodeSelectorTerms") or []
    return list(terms[0].get("matchExpressions") or []) if len(terms) == 1 else []
