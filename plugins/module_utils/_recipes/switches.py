# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which states are deployed, on which groups of nodes: by an option, or by a template that may ask
for their facts."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from .._errors import InvalidInput
from .._nodes.groups import NodeGroup
from .._schema.shapes import is_template
from .differences import refuse_differing
from .loading.recipe import Recipe, State
from .sample import SAMPLE_GROUPS
from .templates.render_facts import RenderFacts
from .templates.templating import Templates
from .variables import cluster_variables, variables_of

_VALUES = {"true": True, "false": False}


def truth_of(text: str, what: str, where: str) -> bool:
    """What the template of a switch gives. Raises InvalidInput where that is neither true nor
    false."""
    found = text.strip().lower()
    if found not in _VALUES:
        raise InvalidInput(
            f"whether {what} is enabled cannot be told",
            where=where,
            why=f"its template gives {found[:80]!r}, and neither true nor false",
            todo="correct the recipe",
        )
    return _VALUES[found]


def enabled_states(recipe: Recipe, facts: RenderFacts) -> dict[str, frozenset[bool]]:
    """State -> whether it is enabled on the groups of nodes: {True}, {False}, or both where groups
    differ."""
    templates = recipe.source.templates
    return {
        state.name: frozenset(enabled_on(recipe, state, facts, templates).values())
        for state in recipe.states.values()
    }


def enabled_on(
    recipe: Recipe, state: State, facts: RenderFacts, templates: Templates
) -> dict[str, bool]:
    """For each of the finest groups, by its id, whether a state is enabled there; by "" where there
    is no node. Raises InvalidInput as is_enabled() does."""
    switch = _Enablement(recipe, state, facts, templates)
    found: dict[str, bool] = {}
    on_own: dict[str, bool] = {}
    for finest in facts.groups_or_none:
        own = facts.own_of(finest, state.per)
        key = own.id if own else ""
        if key not in on_own:
            on_own[key] = switch.is_on(own)
        found[finest.id if finest else ""] = on_own[key]
    return found


def is_enabled(
    recipe: Recipe, state: State, facts: RenderFacts, group: NodeGroup | None, templates: Templates
) -> bool:
    """Whether a state is enabled on a group of nodes, one of the finest; None where there is no
    node.

    Raises InvalidInput where a template gives neither true nor false, or where the state is one of
    the whole cluster and pools differ in what it depends on.
    """
    own = facts.own_of(group, state.per)
    return _Enablement(recipe, state, facts, templates).is_on(own)


class _Enablement:
    """What turns a state on."""

    def __init__(
        self, recipe: Recipe, state: State, facts: RenderFacts, templates: Templates
    ) -> None:
        self._recipe = recipe
        self._state = state
        self._facts = facts
        self._templates = templates
        self._path = f"recipe.yml, states.{state.name}.enabled"

    def is_on(self, own: NodeGroup | None) -> bool:
        """own: the state's own group, None for a state of the cluster and where there is no node."""
        if not self._state.enabled:
            return True
        if not self._state.per:
            refuse_differing(
                self._recipe.source, self._state, self._facts, self._options(), self._path
            )
        if not is_template(self._state.enabled):
            return bool(self._facts.options_of(own)[self._state.enabled])
        text = self._templates.render_text(self._state.enabled, self._path, self._variables(own))
        where = self._recipe.source.place_of(self._path)
        return truth_of(text, f"state {self._state.name}", where)

    def _options(self) -> frozenset[str] | None:
        """The options that it depends on; None where only rendering tells."""
        if is_template(self._state.enabled):
            return self._templates.options_in_text(self._state.enabled, self._path)
        return frozenset([self._state.enabled])

    @cached_property
    def _shared(self) -> dict[str, Any]:
        return cluster_variables(self._recipe, self._state, self._facts)

    def _variables(self, own: NodeGroup | None) -> dict[str, Any]:
        """What its template sees; without a node, what a usual one would have says what the options
        are after."""
        if not self._state.per:
            return self._shared
        return variables_of(self._shared, own or SAMPLE_GROUPS[0], self._facts)
