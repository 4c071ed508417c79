# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which recipe a task is about, and what of it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from ..._schema.requests import ParameterGroup


@dataclass(frozen=True)
class RecipeRequest(ParameterGroup):
    """bundle: the recipe's files by path. options, pools and namespace: None leaves them as the
    record has them."""

    recipe: str
    recipe_dir: Optional[str] = None
    bundle: Optional[Mapping[str, str]] = None
    options: Optional[Mapping[str, Any]] = None
    pools: Optional[Sequence[Mapping[str, Any]]] = None
    namespace: Optional[str] = None
    instance: Optional[str] = None
