# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the options make of a recipe: which nodes are meant, which states are on and what each waits for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.catalog import KINDS
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.filters import string
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


def all_required(recipe: Recipe, name: str) -> list[str]:
    """The states that a state stands on, nearest first."""
    found = list(recipe.states[name].requires)
    for required in found:
        found += [further for further in recipe.states[required].requires if further not in found]
    return found


def gating_states(recipe: Recipe, enabled: Mapping[str, bool], name: str) -> tuple[str, ...]:
    """The required states whose node label a state's pods wait for.

    A state that only finds images needs none: where it has found nothing, nothing is deployed.
    """
    return tuple(
        required
        for required in required_states(recipe, enabled, name)
        if any(KINDS[proof.kind].gates for proof in recipe.states[required].proofs(enabled[required]))
    )


def node_label_sets(recipe: Recipe, options: Mapping[str, Any]) -> tuple[dict[str, str | None], ...]:
    """The label sets, any of which makes a node one of ours: the user's hardware_labels, else those of the recipe, each
    with the user's node_selector.

    Raises InvalidInput where no node can satisfy both.
    """
    hardware = [
        {str(name): None if value is None else string(value) for name, value in labels.items()}
        for labels in options["hardware_labels"]
    ]
    if {} in hardware:
        raise InvalidInput(
            "option hardware_labels would take every node",
            why="one of its label sets is empty",
            todo="name the labels of the nodes that have the hardware",
        )
    wanted = {str(name): string(value) for name, value in options["node_selector"].items()}
    sets: tuple[dict[str, str | None], ...] = tuple(
        {**labels, **wanted}
        for labels in hardware or recipe.selector
        if all(labels.get(name) in (None, value) for name, value in wanted.items())
    )
    if not sets:
        raise InvalidInput(
            "option node_selector leaves no node",
            why=f"it contradicts the {'option hardware_labels' if hardware else f'selector of recipe {recipe.name}'}",
            todo="remove the label that has another value there",
        )
    return sets
