# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images that were looked up or built, as facts for rendering, and what it means where there is
none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional

from ..._recipes.fallback_image import images_before_building
from ..._recipes.loading.lookups import is_looked_up
from ..._recipes.loading.recipe import Recipe, State
from ..._recipes.render import RenderFacts
from ..._recipes.switches import is_enabled
from ..._schema.requests import ParameterGroup
from ..record import image_entries

Record = Optional[Mapping[str, Any]]


@dataclass(frozen=True)
class ImageRequest(ParameterGroup):
    """images: what a person says, by group. driver_images: what driver_container has returned in
    this run."""

    images: Optional[Mapping[str, str]] = None
    driver_images: Optional[Sequence[Mapping[str, Any]]] = None


def with_images(
    recipe: Recipe,
    facts: RenderFacts,
    given: Sequence[Mapping[str, Any]] | None,
    record: Callable[[], Record],
) -> tuple[RenderFacts, dict[str, dict[str, str]]]:
    """The facts with the images that are known, and state -> id of a finest group -> why there is
    none.

    given: what driver_container has returned in this run; else the record, which is read only where
    a state looks its images up, says what an earlier one has found.
    """
    states = [state for state in recipe.states.values() if is_looked_up(state)]
    if not states and recipe.source.format is None:
        # Nothing is left to be looked up: what is not named now is not there.
        return replace(facts, resolved=facts.resolved or {}), {}
    if not states:
        return facts, {}
    entries = given if given is not None else image_entries.read(record())
    found = image_entries.references(entries)
    missing = {
        state.name: _missing(
            recipe,
            facts,
            state,
            found.get(state.name, {}),
            image_entries.problems(entries, state.name),
        )
        for state in states
    }
    return replace(facts, resolved=found, image_names=image_entries.names(entries)), missing


def _missing(
    recipe: Recipe,
    facts: RenderFacts,
    state: State,
    found: Mapping[str, str],
    problems: Mapping[str, str],
) -> dict[str, str]:
    unknown = "no image was looked up for kernel {kernel} yet: enable the resource again"
    missing = {}
    templates = recipe.source.templates
    for finest in facts.groups:
        group = facts.coarse(finest, state.per)
        own = group.id
        is_on = is_enabled(recipe, state, facts, finest, templates)
        if state.images.fallback:
            # Where it is known that there is none, the state builds it.
            is_on = own not in found and bool(images_before_building(recipe, state, facts, group))
        if is_on and own not in (facts.images or {}) and not found.get(own):
            missing[finest.id] = problems.get(own) or unknown.format(kernel=finest.system.kernel)
    return missing
