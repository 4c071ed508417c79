# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a recipe: those that every recipe has, and from what the user gave to typed values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.recipes.model import Recipe


def resolve(recipe: Recipe, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Every option of the recipe with its value: the given one converted to its type, else the default (or None).

    Raises InvalidInput that lists unknown options, wrong types, values that are no choice, and missing required ones.
    """
    raise NotImplementedError
