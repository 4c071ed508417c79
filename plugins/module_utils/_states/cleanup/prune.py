# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of the objects that we own are no longer wanted, and which of those stay all the same.
Pure."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from ..._cluster.api_objects.labels import GROUP_LABEL, STATE_LABEL
from ..._cluster.api_objects.objects import ObjectKey
from ..._json import Obj, part

DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
NEVER = ("Namespace", DEFINITION[1])


@dataclass(frozen=True)
class Pruning:
    """What goes, and what stays although nothing wants it, with the reason."""

    delete: tuple[ObjectKey, ...]
    keep: Mapping[ObjectKey, str]


@dataclass(frozen=True)
class GroupsOfNodes:
    """in_use: the groups of the nodes that have the hardware; kept: of those that have lost its
    labels. turned_off: (state, group) whose state the options disable there, so that what it has left
    is not wanted on purpose."""

    in_use: Set[str]
    kept: Set[str]
    turned_off: Set[tuple[str, str]] = frozenset()


def candidates(live: Mapping[ObjectKey, Obj], desired: Set[ObjectKey]) -> list[ObjectKey]:
    """What we own and do not want, Namespaces and CRDs aside."""
    return sorted(key for key in live if key not in desired and key.kind not in NEVER)


def decide(
    unwanted: list[ObjectKey],
    live: Mapping[ObjectKey, Obj],
    groups: GroupsOfNodes,
    *,
    nodes_match: bool,
    allow_empty: bool,
) -> Pruning:
    """What goes of what is not wanted (live: as it is).

    Labels that vanish (NFD restarting, a removed DaemonSet) must not take drivers down: a group
    that a node still is in keeps its objects, and where no node matches at all, everything stays
    unless allow_empty.
    """
    delete, keep = [], {}
    for key in unwanted:
        labels = part(live[key], "metadata", "labels")
        group = labels.get(GROUP_LABEL)
        is_off = (labels.get(STATE_LABEL), group) in groups.turned_off
        if group in groups.kept:
            keep[key] = (
                f"a node of group {group} has lost the labels of the hardware, and has not left yet"
            )
        elif not nodes_match and not allow_empty:
            keep[key] = (
                "no node matches the selector; set allow_empty (hardware_enablement_allow_empty) to remove it"
            )
        elif group and group in groups.in_use and not (is_off or allow_empty):
            keep[key] = f"a node is still one of group {group}"
        else:
            delete.append(key)
    return Pruning(tuple(delete), keep)
