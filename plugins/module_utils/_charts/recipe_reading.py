# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a bundle to a recipe, whatever format its files are in: what all cores read recipes by."""

from __future__ import annotations

from collections.abc import Mapping

from .._recipes.loading.load import load
from .._recipes.loading.recipe import Recipe
from .._recipes.templates.overlay import RECIPE_FILE
from .chart_archive import CHART_FILE
from .recipe_files import is_foreign


def read_recipe(bundle: Mapping[str, str], source: str) -> Recipe:
    """The recipe of a bundle (path -> text): of a recipe.yml, else of a Helm chart, else of numbered
    manifests.

    source: where it comes from, for messages. Raises InvalidInput with file and line.
    """
    if RECIPE_FILE in bundle or not is_foreign(bundle):
        return load(bundle, source)
    # Only now: what reads charts is a tenth of what a run would load.
    from .chart_recipe import read_chart, read_numbered  # noqa: PLC0415

    read = read_chart if CHART_FILE in bundle else read_numbered
    return read(bundle, source)
