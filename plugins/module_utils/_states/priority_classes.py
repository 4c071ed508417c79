# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The PriorityClasses by which pods with the hardware displace those that only fill its nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._cluster.api_client.client import Client
from .._cluster.api_client.rights import CLUSTER, READ, WRITE, Right
from .._cluster.api_objects.labels import (
    FIELD_MANAGER,
    MANAGED_BY_LABEL,
    PART_OF_LABEL,
    RECIPE_LABEL,
)
from .._cluster.api_objects.objects import ObjectKey, key_of
from .._errors import InvalidInput
from .._json import Obj

API_VERSION, KIND = "scheduling.k8s.io/v1", "PriorityClass"
RIGHTS = (
    Right("scheduling.k8s.io", ("priorityclasses",), (*READ, *WRITE), CLUSTER, read_only=READ),
)
# Above it are the cluster's own classes (k8s.io/kubernetes/pkg/apis/scheduling).
HIGHEST = 1_000_000_000
_HIGH, _LOW = 1_000_000, 100_000


def default_classes(recipe: str) -> list[Obj]:
    """What a recipe's classes are where nobody says otherwise."""
    return [
        {
            "name": f"{recipe}-high-priority",
            "value": _HIGH,
            "description": f"For pods that use what {recipe} enables: they displace those of {recipe}-low-priority.",
        },
        {
            "name": f"{recipe}-low-priority",
            "value": _LOW,
            "description": f"For pods that fill these nodes until one of {recipe}-high-priority needs the room.",
        },
    ]


def owned_classes(client: Client, applyset_id: str) -> dict[ObjectKey, Obj]:
    """The classes of a special resource."""
    labels = f"{PART_OF_LABEL}={applyset_id}"
    items = client.list(client.kind(API_VERSION, KIND), labels=labels).items
    return {key_of(item): item for item in items}


def class_objects(entries: Sequence[Mapping[str, Any]], recipe: str, applyset_id: str) -> list[Obj]:
    """The objects; none is ever the cluster's default. Raises InvalidInput."""
    names = [str(entry["name"]) for entry in entries]
    for entry in entries:
        why = ""
        if names.count(str(entry["name"])) > 1:
            why = "it is given twice"
        elif abs(int(entry["value"])) > HIGHEST:
            why = f"its value is beyond {HIGHEST}, which is the cluster's own"
        if why:
            raise InvalidInput(
                f"PriorityClass {entry['name']} cannot be made", why=why, todo="correct it"
            )
    return [_object(entry, recipe, applyset_id) for entry in entries]


def _object(entry: Mapping[str, Any], recipe: str, applyset_id: str) -> Obj:
    labels = {
        RECIPE_LABEL: recipe,
        PART_OF_LABEL: applyset_id,
        MANAGED_BY_LABEL: FIELD_MANAGER,
    }
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": entry["name"], "labels": labels},
        "value": int(entry["value"]),
        "globalDefault": False,
        "preemptionPolicy": entry.get("preemption_policy") or "PreemptLowerPriority",
        "description": str(entry.get("description") or ""),
    }
