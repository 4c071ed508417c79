# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster has of the hardware: the compact answer of nfd_info."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils.nodes.groups import KernelGroup
from ansible_collections.hardware.enablement.plugins.module_utils.nodes.selectors import LabelSet


@dataclass(frozen=True)
class Discovery:
    """Facts about the matched nodes together. facts holds them one by one; it is not part of the answer."""

    matched: int
    nodes_total: int | None
    groups: tuple[KernelGroup, ...]
    devices: Mapping[str, Mapping[str, Any]]
    resources: Mapping[str, Mapping[str, float]]
    mixed: Mapping[str, bool]
    transitions: tuple[Mapping[str, str], ...]
    nfd: Mapping[str, Any]
    facts: tuple[NodeFacts, ...] = field(default=(), compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The shape that nfd_info returns."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Discovery:
        """The other way round, without the facts of single nodes. Raises InvalidInput if it is not such a dict."""
        raise NotImplementedError


def discover(
    nodes: Iterable[Mapping[str, Any]],
    any_of: Sequence[LabelSet],
    resources: Sequence[str] = (),
    *,
    nodes_total: int | None = None,
    newest: str | None = None,
) -> Discovery:
    """Discovery of those Node objects (each name once) that match any of the label sets.

    resources: names of extended resources, which may hold *. nodes_total: number of nodes of the cluster where the
    caller knows it. newest: time of the newest NodeFeature, where the caller knows it.
    """
    raise NotImplementedError
