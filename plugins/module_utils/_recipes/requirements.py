# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the options make of a recipe: which nodes are meant, and what each state waits for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._errors import InvalidInput
from .._nodes.selectors import ROLE, labels_alone
from .._nodes.system import FEATURES
from .._proofs.catalog import KINDS
from .._proofs.proof import Proof
from .loading.recipe import Recipe
from .templates.filters import string

# Whether a state is enabled: on some groups of nodes, on others not, or the same on all.
Enabled = Mapping[str, frozenset[bool]]


def required_states(recipe: Recipe, enabled: Enabled, name: str) -> tuple[str, ...]:
    """The states whose proofs a state waits for, in the recipe's order.

    A required state that has nothing to prove (an image that was resolved, a disabled exporter)
    stands in nobody's way: who requires it waits for what that one requires, unless another that it
    requires stands on that already. One that has something to prove on some nodes only is ready on
    the others as soon as what it requires is.
    """
    named: set[str] = set()
    instead: set[str] = set()
    for required in recipe.states[name].order.requires:
        if _proofs(recipe, enabled, required):
            named.add(required)
        else:
            instead.update(required_states(recipe, enabled, required))
    instead -= {below for each in named for below in all_required(recipe, each)}
    return tuple(state for state in recipe.states if state in named | instead)


def all_required(recipe: Recipe, name: str) -> list[str]:
    """The states that a state stands on, nearest first."""
    found = list(recipe.states[name].order.requires)
    for required in found:
        found += [
            further for further in recipe.states[required].order.requires if further not in found
        ]
    return found


def gating_states(recipe: Recipe, enabled: Enabled, name: str) -> tuple[str, ...]:
    """The required states whose node label a state's pods wait for.

    A state that only finds images needs none: where it has found nothing, nothing is deployed.
    """
    return tuple(
        required
        for required in required_states(recipe, enabled, name)
        if recipe.states[required].order.gates
        and any(KINDS[proof.kind].gates for proof in _proofs(recipe, enabled, required))
    )


def _proofs(recipe: Recipe, enabled: Enabled, name: str) -> list[Proof]:
    """The proofs of a state that count on any node."""
    return [
        proof
        for value in sorted(enabled[name])
        for proof in recipe.states[name].proofs.counting(enabled=value)
    ]


def chosen_labels(options: Mapping[str, Any]) -> dict[str, str]:
    """The labels of the user's node_selector, all of which a node has to have."""
    return {str(name): string(value) for name, value in options["node_selector"].items()}


def labels_of_persons(options: Mapping[str, Any]) -> dict[str, str]:
    """The labels that people set: a node without them was taken out on purpose, not by a failure of
    Node Feature Discovery. These are chosen_labels, and those of the user's hardware_labels that
    NFD does not write, if each of these sets has one."""
    sets = [
        {
            str(name): string(value)
            for name, value in labels.items()
            if value is not None and not str(name).startswith(FEATURES)
        }
        for labels in options["hardware_labels"]
    ]
    named = {name: value for labels in sets for name, value in labels.items()} if all(sets) else {}
    return {**named, **chosen_labels(options)}


def _is_of_role(toleration: Mapping[str, Any]) -> bool:
    """Whether a toleration lets pods run on nodes of a role."""
    return str(toleration.get("key") or ROLE).startswith(ROLE)


def _hardware_labels(options: Mapping[str, Any]) -> list[dict[str, str | None]]:
    """The label sets of the user's hardware_labels. Raises InvalidInput for an empty one."""
    found = [
        {str(name): None if value is None else string(value) for name, value in labels.items()}
        for labels in options["hardware_labels"]
    ]
    if {} in found:
        raise InvalidInput(
            "option hardware_labels would take every node",
            why="one of its label sets is empty",
            todo="name the labels of the nodes that have the hardware",
        )
    return found


def node_label_sets(
    recipe: Recipe, options: Mapping[str, Any]
) -> tuple[dict[str, str | None], ...]:
    """The label sets, any of which makes a node one of ours: the user's hardware_labels, else those
    of the recipe, each with the user's node_selector.

    Raises InvalidInput where no node can satisfy both.
    """
    hardware = _hardware_labels(options)
    wanted = chosen_labels(options)
    # Who names nodes, or lets pods run there, means all of them.
    named = bool(wanted) or any(map(_is_of_role, options["tolerations"]))
    sets: tuple[dict[str, str | None], ...] = tuple(
        {**(labels_alone(labels) if named else labels), **wanted}
        for labels in hardware or recipe.nodes.selector
        if all(labels.get(name) in (None, value) for name, value in wanted.items())
    )
    if not sets:
        raise InvalidInput(
            "option node_selector leaves no node",
            why=f"it contradicts the {'option hardware_labels' if hardware else f'selector of recipe {recipe.name}'}",
            todo="remove the label that has another value there",
        )
    return sets
