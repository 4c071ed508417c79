# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which recipe a task is about, and what of it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

from ..._schema.requests import ParameterGroup


@dataclass(frozen=True)
class InstanceRequest(ParameterGroup):
    """A recipe with its files (bundle, by path), as what it is enabled."""

    recipe: str
    recipe_dir: Optional[str] = None
    bundle: Optional[Mapping[str, str]] = None
    instance: Optional[str] = None

    def as_recorded(self) -> RecipeRequest:
        """With nothing else given, so that all is as the record has it."""
        return RecipeRequest(self.recipe, self.recipe_dir, self.bundle, self.instance)


@dataclass(frozen=True)
class RecipeRequest(InstanceRequest):
    """options, pools and namespace: None leaves them as the record has them. Options may be
    secrets."""

    options: Optional[Mapping[str, Any]] = field(default=None, repr=False)
    pools: Optional[Sequence[Mapping[str, Any]]] = None
    namespace: Optional[str] = None
