# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How pods get at the devices of a recipe, under a user's options. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .loading.recipe import DeviceAccess, Recipe
from .templates.templating import Facts


def device_access(recipe: Recipe, each_options: Sequence[Mapping[str, Any]]) -> DeviceAccess:
    """The recipe's, rendered for all options that some nodes have. Never with the value of a secret
    option."""
    templates = recipe.source.templates

    def render(texts: Sequence[str], key: str) -> tuple[str, ...]:
        found = [
            templates.render_text(
                text, f"recipe.yml, device_access.{key}", {"options": _shown(recipe, options)}
            ).strip()
            for options in each_options
            for text in texts
        ]
        return tuple(sorted({text for text in found if text}))

    access = recipe.devices.access
    return DeviceAccess(
        render(access.runtime_classes, "runtime_classes"),
        render(access.host_paths, "host_paths"),
        render(access.dra_drivers, "dra_drivers"),
    )


def _shown(recipe: Recipe, options: Mapping[str, Any]) -> Facts:
    shown = {name: value for name, value in options.items() if not recipe.options[name].no_log}
    return Facts("options", shown)
