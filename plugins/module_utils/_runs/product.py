# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rest of the collection has to know of a product: a package that works beside the states
of one recipe. Each says it in a module of its own; _products.py lists them.

Its arguments and public variables are not here. Those belong to modules, whether of a product or
not, and every task checks them: it would read all products to do so."""

from __future__ import annotations

from dataclasses import dataclass

from .._cluster.api_client.rights import Right
from .._cluster.api_objects.kinds import Kind


@dataclass(frozen=True)
class WatchedKind:
    """Objects in namespaces that people write for a product, each with a generation; its run writes
    the one that it has seen to status.observedGeneration.

    event: the type of event that a change of one is, of this product only. meaning: when that is
    told, for the documentation.
    """

    kind: Kind
    event: str
    meaning: str


@dataclass(frozen=True)
class Product:
    """recipe: the one that it works beside. rights: what it needs where that is enabled, beside the
    recipe's own."""

    recipe: str
    rights: tuple[Right, ...]
    watched: tuple[WatchedKind, ...] = ()
