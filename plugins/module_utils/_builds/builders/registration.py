# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a builder says of itself: the choice among builders and the table in docs come from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..._cluster.api_client.client import Client
from .cluster import ClusterBuilder
from .means import Means


@dataclass(frozen=True)
class Registration:
    """A builder: its name, how it builds and what it needs (Markdown), how it is made, and whether
    it is what auto takes in this cluster, where none before it is."""

    name: str
    how: str
    needs: str
    make: Callable[[Means], ClusterBuilder]
    fits: Callable[[Client], bool]
