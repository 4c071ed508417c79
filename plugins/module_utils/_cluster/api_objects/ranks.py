# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order kinds are applied: what others live in or refer to comes first. Removal takes the
reverse order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import TypeVar

T = TypeVar("T")

NAMESPACES = 0
DEFINITIONS = 1
ACCOUNTS = 2
SETTINGS = 3
BINDINGS = 4
WORKLOADS = 5
REST = 6

_SETTINGS = frozenset(
    {
        "ClusterRole",
        "ConfigMap",
        "LimitRange",
        "NetworkPolicy",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "PriorityClass",
        "ResourceQuota",
        "Role",
        "RuntimeClass",
        "Secret",
        "SecurityContextConstraints",
        "StorageClass",
    }
)
# Whoever may not grant any right may bind only a role that exists, since its rights are looked at.
_BINDINGS = frozenset({"ClusterRoleBinding", "RoleBinding"})
_WORKLOADS = frozenset(
    {
        "CronJob",
        "DaemonSet",
        "Deployment",
        "Job",
        "Pod",
        "ReplicaSet",
        "ReplicationController",
        "StatefulSet",
    }
)


def rank_of(kind: str) -> int:
    """The rank of a kind, by its name alone; kinds that nobody lists here come last."""
    if kind == "Namespace":
        return NAMESPACES
    if kind == "CustomResourceDefinition":
        return DEFINITIONS
    if kind == "ServiceAccount":
        # Kubernetes deletes a token's Secret whose account is not there.
        return ACCOUNTS
    if kind in _SETTINGS:
        return SETTINGS
    if kind in _BINDINGS:
        return BINDINGS
    return WORKLOADS if kind in _WORKLOADS else REST


def by_rank(
    items: Iterable[T], kind: Callable[[T], str], *, reverse: bool = False
) -> list[tuple[int, list[T]]]:
    """(rank, items) in the order of ranks; items of one rank keep their order."""

    def rank(item: T) -> int:
        return rank_of(kind(item))

    return [
        (key, list(group))
        for key, group in groupby(sorted(items, key=rank, reverse=reverse), key=rank)
    ]


def in_order(items: Iterable[T], kind: Callable[[T], str], *, goes: Callable[[T], bool]) -> list[T]:
    """Items in the order in which they are worked on: those that stay by rank, then those that go (goes),
    the other way round."""
    found = list(items)
    stay = by_rank([item for item in found if not goes(item)], kind)
    leave = by_rank([item for item in found if goes(item)], kind, reverse=True)
    return [item for _rank, batch in (*stay, *leave) for item in batch]
