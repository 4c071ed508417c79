# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which states are deployed, on which groups of nodes: by an option, or by a template that may ask
for their facts."""

from __future__ import annotations

from .._errors import InvalidInput
from .._schema.shapes import is_template
from .differences import refuse_differing
from .loading.recipe import Recipe, State
from .sample import SAMPLE_GROUPS
from .templates.render_facts import Group, RenderFacts
from .templates.templating import Templates
from .variables import cluster_variables, group_variables

_VALUES = {"true": True, "false": False}


def enabled_states(recipe: Recipe, facts: RenderFacts) -> dict[str, frozenset[bool]]:
    """State -> whether it is enabled on the groups of nodes: {True}, {False}, or both where groups
    differ."""
    templates = Templates(recipe.files, recipe.source)
    return {
        state.name: frozenset(
            is_enabled(recipe, state, facts, group, templates) for group in facts.groups_or_none
        )
        for state in recipe.states.values()
    }


def is_enabled(
    recipe: Recipe, state: State, facts: RenderFacts, group: Group | None, templates: Templates
) -> bool:
    """Whether a state is enabled on a group of nodes, one of the finest; None where there is no
    node.

    Raises InvalidInput where a template gives neither true nor false, or where the state is one of
    the whole cluster and pools differ in what it depends on.
    """
    if not state.enabled:
        return True
    path = f"recipe.yml, states.{state.name}.enabled"
    if not is_template(state.enabled):
        if not state.per:
            refuse_differing(recipe, state, facts, frozenset([state.enabled]), path)
        return bool(facts.options_of(group if state.per else None)[state.enabled])
    if not state.per:
        refuse_differing(recipe, state, facts, templates.options_in_text(state.enabled, path), path)
        variables = cluster_variables(recipe, state, facts)
    else:
        # Without a node, what a usual one would have says what the options are after.
        own = facts.coarse(group, state.per) if group else SAMPLE_GROUPS[0]
        variables = {**cluster_variables(recipe, state, facts, own), **group_variables(own, facts)}
    found = templates.render_text(state.enabled, path, variables).strip().lower()
    if found not in _VALUES:
        raise InvalidInput(
            f"whether state {state.name} is enabled cannot be told",
            where=f"{recipe.source}/{path}" if recipe.source else path,
            why=f"its template gives {found[:80]!r}, and neither true nor false",
            todo="correct the recipe",
        )
    return _VALUES[found]
