# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel groups: nodes that share kernel, operating system and architecture."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.nodes.facts import ARCH, KERNEL, NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils.nodes.system import OS_ID, OS_VERSION, label_form

Term = Mapping[str, Any]


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
    terms: tuple[Term, ...] = ()


def group_id(node: NodeFacts) -> str:
    """The id of the group that a node belongs to."""
    return make_id(node.kernel, node.os_id, node.os_version, node.arch)


def make_id(kernel: str, os_id: str, os_version: str, arch: str) -> str:
    """The id of a group: readable by its kernel, unique by a hash, fit for the name of any object."""
    readable = re.sub(r"[^a-z0-9]+", "-", kernel.lower()).strip("-")[:24].strip("-") or "unknown"
    return f"{readable}-{hashlib.sha256(f'{kernel}|{os_id}|{os_version}|{arch}'.encode()).hexdigest()[:6]}"


def kernel_groups(nodes: Iterable[NodeFacts]) -> tuple[KernelGroup, ...]:
    """The groups of the nodes, sorted by id.

    A node belongs to the group of the kernel that it runs, even while its label still names the one before.
    """
    members: dict[str, list[NodeFacts]] = defaultdict(list)
    for node in nodes:
        members[group_id(node)].append(node)
    return tuple(_group(key, members[key]) for key in sorted(members))


def _group(key: str, nodes: Sequence[NodeFacts]) -> KernelGroup:
    first = nodes[0]
    return KernelGroup(
        id=key,
        kernel=first.kernel,
        kernel_label=label_form(first.kernel),
        os_id=first.os_id,
        os_version=first.os_version,
        arch=first.arch,
        nodes=tuple(sorted(node.name for node in nodes)),
        terms=_terms(nodes),
    )


def _terms(nodes: Sequence[NodeFacts]) -> tuple[Term, ...]:
    """One term by labels for the nodes that NFD has labelled, one by name for each other node.

    The term names what the labels have to become, not what they are: a node that has just rebooted into the kernel is
    selected as soon as NFD has labelled it again, and the term stays the same meanwhile.
    """
    first = nodes[0]
    wanted = {KERNEL: label_form(first.kernel), OS_ID: label_form(first.os_id), ARCH: first.arch}
    if first.os_version:
        wanted[OS_VERSION] = label_form(first.os_version)
    by_name = sorted(node.name for node in nodes if not all(wanted.values()) or wanted.keys() - node.labels.keys())
    terms: list[Term] = []
    if len(by_name) < len(nodes):
        expressions = [{"key": key, "operator": "In", "values": [wanted[key]]} for key in sorted(wanted)]
        terms.append({"matchExpressions": expressions})
    for name in by_name:
        terms.append({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]})
    return tuple(terms)
