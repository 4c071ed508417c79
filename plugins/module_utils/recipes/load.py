# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the files of a recipe's folder to a Recipe."""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.hardware.enablement.plugins.module_utils.recipes.model import Recipe

RECIPE_FILE = "recipe.yml"


def load(bundle: Mapping[str, str], source: str) -> Recipe:
    """The recipe that the bundle (path relative to the recipe's folder -> text) describes; source is for messages.

    Raises InvalidInput that lists everything that is wrong with it.
    """
    raise NotImplementedError
