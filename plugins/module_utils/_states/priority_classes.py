# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The PriorityClasses by which pods with the hardware displace those that only fill its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Optional

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


@dataclass(frozen=True)
class PriorityClass:
    """A PriorityClass as a person asks for it."""

    name: str
    value: int
    description: Optional[str] = None
    preemption_policy: Literal["PreemptLowerPriority", "Never"] = "PreemptLowerPriority"


def default_classes(recipe: str) -> list[PriorityClass]:
    """What a recipe's classes are where nobody says otherwise."""
    return [
        PriorityClass(
            f"{recipe}-high-priority",
            _HIGH,
            f"For pods that use what {recipe} enables: they displace those of {recipe}-low-priority.",
        ),
        PriorityClass(
            f"{recipe}-low-priority",
            _LOW,
            f"For pods that fill these nodes until one of {recipe}-high-priority needs the room.",
        ),
    ]


def owned_classes(client: Client, applyset_id: str) -> dict[ObjectKey, Obj]:
    """The classes of a special resource."""
    labels = f"{PART_OF_LABEL}={applyset_id}"
    items = client.list(client.kind(API_VERSION, KIND), labels=labels).items
    return {key_of(item): item for item in items}


def class_objects(classes: Sequence[PriorityClass], recipe: str, applyset_id: str) -> list[Obj]:
    """The objects; none is ever the cluster's default. Raises InvalidInput."""
    names = [each.name for each in classes]
    for each in classes:
        why = ""
        if names.count(each.name) > 1:
            why = "it is given twice"
        elif abs(each.value) > HIGHEST:
            why = f"its value is beyond {HIGHEST}, which is the cluster's own"
        if why:
            raise InvalidInput(
                f"PriorityClass {each.name} cannot be made", why=why, todo="correct it"
            )
    return [_object(each, recipe, applyset_id) for each in classes]


def _object(wanted: PriorityClass, recipe: str, applyset_id: str) -> Obj:
    labels = {
        RECIPE_LABEL: recipe,
        PART_OF_LABEL: applyset_id,
        MANAGED_BY_LABEL: FIELD_MANAGER,
    }
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": wanted.name, "labels": labels},
        "value": wanted.value,
        "globalDefault": False,
        "preemptionPolicy": wanted.preemption_policy,
        "description": wanted.description or "",
    }
