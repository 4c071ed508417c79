# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of proof that a recipe may name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._schema.shapes import Tagged
from .declaration import ProofKind
from .kinds import (
    allocatable,
    build,
    image,
    logs,
    metrics,
    node_labels,
    resource,
    resource_slices,
    rollout,
    workload,
)

_MODULES = (
    image,
    rollout,
    workload,
    allocatable,
    resource_slices,
    logs,
    node_labels,
    resource,
    build,
    metrics,
)

KINDS: Mapping[str, ProofKind[Any]] = {module.KIND.name: module.KIND for module in _MODULES}

PROOF = Tagged(
    "kind of proof",
    {name: kind.shape for name, kind in KINDS.items()},
    {name: f"Holds when {kind.holds_when}." for name, kind in KINDS.items()},
)
