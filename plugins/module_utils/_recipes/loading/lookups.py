# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which states have their images looked up or built under the given options. A state that only
names its images has no image to prove. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..._errors import InvalidInput
from ..._proofs.kinds import image
from ..templates.templating import Facts
from .recipe import Recipe, RecipeSource, State

NEVER = "never"
LOOKUPS = (NEVER, "controller", "imagestream", "node")


def settled(recipe: Recipe, options: Mapping[str, Any]) -> Recipe:
    """The recipe with each state's lookup as one of LOOKUPS, and proofs of images only where images
    are looked up."""
    return replace(
        recipe,
        states={
            name: _settled(recipe.source, state, options) for name, state in recipe.states.items()
        },
    )


def settled_for_all(
    recipe: Recipe, options: Mapping[str, Any], pool_options: Mapping[str, Mapping[str, Any]]
) -> Recipe:
    """settled(), where the options of pools lead to the same. Raises InvalidInput where they do
    not."""
    found = settled(recipe, options)
    for pool, each in pool_options.items():
        for state in settled(recipe, each).states.values():
            if state.images.lookup != found.states[state.name].images.lookup:
                raise InvalidInput(
                    f"state {state.name} cannot look its images up in another way in pool {pool}",
                    why=f"that is {state.images.lookup} there and {found.states[state.name].images.lookup} elsewhere",
                    todo="give all nodes the same options about look-ups and builds",
                )
    return found


def is_looked_up(state: State) -> bool:
    """Whether a state's images are looked up or built, instead of merely named; the state is of a
    settled recipe."""
    return state.images.lookup not in ("", NEVER)


def _settled(source: RecipeSource, state: State, options: Mapping[str, Any]) -> State:
    lookup = _lookup(source, state, options)
    images = replace(state.images, lookup=lookup)
    if lookup != NEVER:
        return replace(state, images=images)
    proofs = tuple(proof for proof in state.proofs.validate if proof.kind != image.KIND.name)
    return replace(state, images=images, proofs=replace(state.proofs, validate=proofs))


def _lookup(source: RecipeSource, state: State, options: Mapping[str, Any]) -> str:
    if not state.images.lookup:
        return "controller" if state.images.build else NEVER
    path = f"recipe.yml, states.{state.name}.lookup"
    variables = {"options": Facts("options", options)}
    found = source.templates.render_text(state.images.lookup, path, variables).strip()
    if found not in LOOKUPS:
        raise InvalidInput(
            f"state {state.name} cannot look its images up",
            where=source.place_of(path),
            why=f"{found!r} is none of {', '.join(LOOKUPS)}",
        )
    return found
