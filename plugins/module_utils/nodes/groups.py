# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel groups: nodes that share kernel, operating system and architecture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.nodes.facts import NodeFacts


@dataclass(frozen=True)
class KernelGroup:
    """One group. id: a DNS label of at most 32 characters, stable for kernel, OS and architecture.

    kernel_label: the kernel as NFD writes it into a label. nodes: names, sorted. terms: nodeSelectorTerms, any of
    which selects a node of the group.
    """

    id: str
    kernel: str
    kernel_label: str
    os_id: str
    os_version: str
    arch: str
    nodes: tuple[str, ...]
    terms: tuple[Mapping[str, Any], ...] = field(default=())


def group_id(node: NodeFacts) -> str:
    """The id of the group that a node belongs to."""
    raise NotImplementedError


def kernel_groups(nodes: Iterable[NodeFacts]) -> tuple[KernelGroup, ...]:
    """The groups of the nodes, sorted by id."""
    raise NotImplementedError
