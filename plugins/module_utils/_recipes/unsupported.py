# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recipe says that nodes cannot have."""

from __future__ import annotations

from collections.abc import Iterator

from .._nodes.groups import NodeGroup
from .loading.recipe import Recipe, State
from .templates.overlay import RECIPE_FILE
from .templates.render_facts import RenderedState, RenderFacts
from .variables import cluster_variables, variables_of


def unsupported(
    recipe: Recipe, state: State, facts: RenderFacts, rendered: RenderedState
) -> Iterator[tuple[NodeGroup, str]]:
    """Each of the finest groups on which a state is enabled, with why its nodes cannot have it, ""
    where they can. Raises TemplateError."""
    if not state.unsupported:
        return
    templates = recipe.source.templates
    shared = cluster_variables(recipe, state, facts)
    path = f"{RECIPE_FILE}, states.{state.name}.unsupported"
    for finest in facts.groups:
        if finest.id in rendered.enabled_on:
            own = facts.own_of(finest, state.per)
            variables = variables_of(shared, own, facts) if own else shared
            yield finest, templates.render_text(state.unsupported, path, variables).strip()
