# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which states are on, and which ones a state has to wait for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.recipes.model import Recipe


def enabled_states(recipe: Recipe, options: Mapping[str, Any]) -> dict[str, bool]:
    """Whether each state is enabled under these resolved options."""
    return {state.name: not state.enabled or bool(options[state.enabled]) for state in recipe.states.values()}


def required_states(recipe: Recipe, enabled: Mapping[str, bool], name: str) -> tuple[str, ...]:
    """The states whose proofs a state waits for, in the recipe's order.

    A required state that has nothing to prove (an image that was resolved, a disabled exporter) stands in nobody's
    way: who requires it waits for what that one requires.
    """
    found: set[str] = set()
    for required in recipe.states[name].requires:
        if recipe.states[required].proofs(enabled[required]):
            found.add(required)
        else:
            found.update(required_states(recipe, enabled, required))
    return tuple(state for state in recipe.states if state in found)
