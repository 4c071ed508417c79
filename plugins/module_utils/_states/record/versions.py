# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What did the work, as the record keeps it: versions of the collection, the recipe and the driver.
Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from ..._recipes.loading.recipe import Recipe
from ..._recipes.templates.templating import Facts

# As in galaxy.yml (a test compares): a module on another machine has no file of the collection but
# those it imports.
COLLECTION = "0.1.0"


def versions(recipe: Recipe, options: Mapping[str, Any]) -> dict[str, str]:
    """{collection, recipe, driver}; driver is "" where the recipe names none."""
    return {
        "collection": COLLECTION,
        "recipe": recipe.source.version or f"sha256:{_digest(recipe.source.files)}",
        "driver": _driver(recipe, options),
    }


def _digest(files: Mapping[str, str]) -> str:
    whole = hashlib.sha256()
    for name, text in sorted(files.items()):
        whole.update(f"{len(name)} {name} {len(text)} {text}".encode())
    return whole.hexdigest()[:12]


def _driver(recipe: Recipe, options: Mapping[str, Any]) -> str:
    """Never with the value of a secret option: what is asked for is rendered without them."""
    shown = {name: value for name, value in options.items() if not recipe.options[name].no_log}
    variables = {"options": Facts("options", shown)}
    templates = recipe.source.templates
    return templates.render_text(
        recipe.driver_version, "recipe.yml, driver_version", variables
    ).strip()
