# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a recipe and facts to objects. Pure and deterministic: the same input gives the same output,
byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .._errors import InvalidInput
from .._json import Obj
from .._nodes.groups import NodeGroup
from .._proofs.proof import Proof
from .._schema.problems import suggest
from .building import render_build
from .loading.lookups import is_looked_up
from .loading.recipe import Recipe, State
from .renderer import StateRenderer, remedy_proof
from .requirements import Enabled
from .sample import SAMPLE_GROUPS
from .switches import enabled_states
from .templates.manifests import identity, title
from .templates.render_facts import (
    RenderedObject,
    RenderedState,
    RenderFacts,
    Skipped,
    itself,
)
from .unsupported import unsupported
from .variables import cluster_variables

_NAMED = 3

__all__ = [
    "RenderFacts",
    "RenderedObject",
    "RenderedState",
    "Skipped",
    "check_recipe",
    "render_images",
    "render_notes",
    "render_pod",
    "render_remedy",
    "render_state",
]


def render_state(
    recipe: Recipe, state_name: str, facts: RenderFacts, enabled: Enabled | None = None
) -> RenderedState:
    """The objects of one state; a disabled state has none. Raises InvalidInput with file and line.

    enabled: see enabled_states, where the caller has asked that already.
    """
    return _renderer(recipe, state_name, facts, enabled).state()


def render_pod(
    recipe: Recipe, state_name: str, proof: Proof, facts: RenderFacts, group: NodeGroup, node: str
) -> Obj:
    """The validation pod of a workload proof (one of RenderedState.proofs) for one node of one of
    the finest groups, pinned to it.

    The caller gives it its name.
    """
    return _renderer(recipe, state_name, facts).pod(proof, group, node)


def render_remedy(
    recipe: Recipe, template: str, facts: RenderFacts, group: NodeGroup, node: str
) -> Obj:
    """The pod of one of the recipe's remedies, as a validation pod of the first state that they are
    for."""
    state = recipe.remedies.states[0]
    return render_pod(recipe, state, remedy_proof(template), facts, group, node)


def render_images(recipe: Recipe, state_name: str, facts: RenderFacts) -> dict[str, str]:
    """The image reference per id of the groups of a state with an image template, else empty."""
    return _renderer(recipe, state_name, facts).images()


def render_notes(recipe: Recipe, facts: RenderFacts) -> str:
    """What the author tells whoever has enabled the recipe, where its format has that; "" for
    nothing."""
    if recipe.source.format is None:
        return ""
    last = list(recipe.states.values())[-1]
    return recipe.source.format.notes(cluster_variables(recipe, last, facts), facts)


def check_recipe(recipe: Recipe, facts: RenderFacts) -> Mapping[str, RenderedState]:
    """Every state rendered, in dependency order. Raises InvalidInput also where two states hold the
    same object, and where the options leave out what a build cannot do without.

    Where there is no node, what is rendered per group is tried with made-up groups, which leave no
    trace.
    """
    if not facts.groups:
        _check_together(recipe, replace(facts, groups=SAMPLE_GROUPS, coarse=itself))
    return _check_together(recipe, facts)


def _check_together(recipe: Recipe, facts: RenderFacts) -> dict[str, RenderedState]:
    enabled = enabled_states(recipe, facts)
    states = {name: render_state(recipe, name, facts, enabled) for name in recipe.states}
    first: dict[tuple[str, str, str, str], tuple[str, str]] = {}
    for name, state in states.items():
        for item in state.objects:
            other, source = first.setdefault(identity(item.manifest), (name, item.source))
            if other != name:
                raise InvalidInput(
                    f"{title(item.manifest)} belongs to two states",
                    where=recipe.source.folder,
                    why=f"{source} makes it for state {other}, and {item.source} for state {name}",
                    todo="keep it in one of them",
                )
    for name, rendered in states.items():
        _refuse_unsupported(recipe, recipe.states[name], facts, rendered)
    for looked_up in filter(is_looked_up, recipe.states.values()):
        for group in facts.groups:
            render_build(recipe, looked_up, facts, group)
    return states


def _refuse_unsupported(
    recipe: Recipe, state: State, facts: RenderFacts, rendered: RenderedState
) -> None:
    """Raise InvalidInput where a state says that nodes on which it is enabled cannot have it."""
    for finest, why in unsupported(recipe, state, facts, rendered):
        if why:
            others = " and others" if len(finest.nodes) > _NAMED else ""
            raise InvalidInput(
                f"state {state.name} of {recipe.name} cannot be had",
                where=", ".join(finest.nodes[:_NAMED]) + others,
                why=why,
            )


def _renderer(
    recipe: Recipe, state_name: str, facts: RenderFacts, enabled: Enabled | None = None
) -> StateRenderer:
    if state_name not in recipe.states:
        raise InvalidInput(
            f"recipe {recipe.name} has no state {state_name}{suggest(state_name, recipe.states)}"
        )
    return StateRenderer(recipe, recipe.states[state_name], facts, enabled=enabled)
