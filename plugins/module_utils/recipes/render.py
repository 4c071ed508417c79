# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a recipe and facts to objects. Pure and deterministic: the same input gives the same output, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.hardware.enablement.plugins.module_utils.recipes.facts import (
    Group,
    Obj,
    RenderedObject,
    RenderedState,
    RenderFacts,
    Skipped,
)
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.model import Proof, Recipe

__all__ = [
    "Group",
    "RenderFacts",
    "RenderedObject",
    "RenderedState",
    "Skipped",
    "check_recipe",
    "render_images",
    "render_pod",
    "render_state",
]


def render_state(recipe: Recipe, state_name: str, facts: RenderFacts) -> RenderedState:
    """The objects of one state; a disabled state has none. Raises InvalidInput with file and line."""
    raise NotImplementedError


def render_pod(recipe: Recipe, state_name: str, proof: Proof, facts: RenderFacts, group: Group, node: str) -> Obj:
    """The validation pod of a workload proof for one node, pinned to it. The caller gives it its name."""
    raise NotImplementedError


def render_images(recipe: Recipe, state_name: str, facts: RenderFacts) -> dict[str, str]:
    """The image reference per kernel group's id that a state with an image template resolves."""
    raise NotImplementedError


def check_recipe(recipe: Recipe, facts: RenderFacts) -> Mapping[str, RenderedState]:
    """Every state rendered, in dependency order. Raises InvalidInput also where two states hold the same object."""
    raise NotImplementedError
