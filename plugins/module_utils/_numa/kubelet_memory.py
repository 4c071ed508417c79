# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the memory that a kubelet keeps from pods, without which its memory manager does not
start. Pure.

Rules: k8s.io/kubernetes v1.36, pkg/kubelet/cm/memorymanager."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .._nodes.facts import quantity
from .numa_cluster import Mismatch, NumaCluster
from .pods_on_nodes import is_hugepage

Settings = Mapping[str, Any]


def _reserves_memory(kubelet: Settings) -> bool:
    return bool(kubelet["reserved_memory"])


def without_memory(kubelet: Settings) -> tuple[str, str] | None:
    """(detected, expected) where nothing is reserved."""
    return None if _reserves_memory(kubelet) else ("nothing", "memory for each NUMA node")


def _total_reserved(kubelet: Settings, kind: Callable[[str], bool]) -> float:
    amounts = (
        amount
        for entry in kubelet["reserved_memory"]
        for name, amount in entry["limits"].items()
        if kind(name)
    )
    return float(sum(amounts))


def memory_totals(cluster: NumaCluster) -> Iterator[Mismatch]:
    """Where the sum of what is reserved is not what the kubelet keeps."""
    for node, facts in cluster.nodes.facts.items():
        kubelet = cluster.kubelets.running.get(node)
        if kubelet and _reserves_memory(kubelet):
            capacity = quantity(facts.capacity.get("memory"))
            wanted = _node_allocatable_reserve(kubelet, capacity)
            found = _total_reserved(kubelet, lambda name: name == "memory")
            if found != wanted:
                yield Mismatch(_mebibytes(found), _mebibytes(wanted), node=node)


def _node_allocatable_reserve(kubelet: Settings, capacity: float) -> float:
    """Memory in bytes that the kubelet keeps from pods; evictionHard may be a part of the
    capacity."""
    evicted = kubelet["eviction_hard"].get("memory.available", 0)
    if isinstance(evicted, str):
        evicted = int(capacity * float(evicted.rstrip("%")) / 100)
    reserved = (kubelet[name].get("memory", 0) for name in ("kube_reserved", "system_reserved"))
    return float(sum(reserved) + evicted)


def _mebibytes(amount: float) -> str:
    return f"{amount / 2**20:g}Mi"


def reserved_hugepages(kubelet: Settings) -> tuple[str, str] | None:
    """(detected, expected) where hugepages are reserved."""
    if _total_reserved(kubelet, is_hugepage):
        return "hugepages in reservedMemory", "memory alone"
    return None
