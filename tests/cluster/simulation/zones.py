# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a simulated node is told to have: NUMA nodes, and a kubelet that is configured for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

Amounts = Mapping[str, Decimal]


@dataclass(frozen=True)
class Numa:
    """The NUMA nodes of a node, and what its kubelet is configured to do with them."""

    zones: tuple[Amounts, ...]
    kubelet: Mapping[str, Any] = field(default_factory=dict)

    @property
    def policy(self) -> str:
        return str(self.kubelet.get("topologyManagerPolicy", "none"))

    @property
    def scope(self) -> str:
        return str(self.kubelet.get("topologyManagerScope", "container"))


def parse_amount(text: str) -> Decimal:
    """A quantity of Kubernetes, such as 8Gi; ValueError if it is none."""
    # Its client takes a third of the time in which a simulation starts, and few have NUMA nodes.
    from kubernetes.utils.quantity import parse_quantity

    return Decimal(parse_quantity(text))


def parse_numa(text: str) -> Numa | None:
    """Read the numa annotation; ValueError if wrong. None where there is none."""
    if not text:
        return None
    values = json.loads(text)
    zones = tuple(
        {name: parse_amount(amount) for name, amount in zone.items()} for zone in values["zones"]
    )
    return Numa(zones, dict(values.get("kubelet") or {}))
