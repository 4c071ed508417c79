# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the templates of one state see: of the cluster, of a group of nodes, of one node."""

from __future__ import annotations

from typing import Any

from .._nodes.groups import NodeGroup
from .loading.recipe import Recipe, State
from .switches import is_enabled
from .templates.render_facts import RenderFacts
from .templates.templating import Templates
from .variables import (
    cluster_variables,
    group_names,
    image_name_of,
    image_of,
    image_states,
    image_variables,
    variables_of,
)


class StateVariables:
    """The variables of one state's templates under given facts. shared: what all of them see.
    image_names: the variables that hold images."""

    def __init__(
        self, recipe: Recipe, state: State, facts: RenderFacts, templates: Templates
    ) -> None:
        self._recipe = recipe
        self._state = state
        self._facts = facts
        self._templates = templates
        self._image_states = image_states(recipe, state)
        self.shared = cluster_variables(recipe, state, facts)
        # By id and facets of the group: each file of the state sees the same.
        self._of_group: dict[tuple[str, tuple[str, ...]], dict[str, Any]] = {}
        sources = (source.name for source in self._image_states)
        self.image_names = frozenset({"image", "image_name", *sources})

    def of_group(self, own: NodeGroup, finest: NodeGroup, names: frozenset[str]) -> dict[str, Any]:
        """What is about a group of nodes sees. names: those that a template asks for; images are
        looked up only for one that asks, since one that cannot be resolved hurts nobody else."""
        key = (own.id, tuple(own.per))
        if key not in self._of_group:
            self._of_group[key] = variables_of(self.shared, own, self._facts)
        variables = {**self._of_group[key]}
        if names & self.image_names:
            variables |= image_variables(
                self._recipe, self._state, lambda state: self._named_image(state, finest)
            )
        return variables

    def of_node(
        self,
        own: NodeGroup | None,
        finest: NodeGroup,
        node: str,
        names: frozenset[str] = frozenset(),
    ) -> dict[str, Any]:
        """What is about one node sees: all that is known of it, and its pool's options."""
        variables = self.of_group(finest, finest, names)
        return variables | group_names(own or finest) | {"node": node}

    def of_any_node(self, node: str) -> dict[str, Any]:
        """The same where there is no group of nodes."""
        return {**self.shared, "node": node}

    def has_images(self, finest: NodeGroup) -> bool:
        """Whether every image that the templates see is there for these nodes."""
        return all(self.image_of(state, finest) for state in self._image_states)

    def _named_image(self, state: State, finest: NodeGroup) -> tuple[str, str]:
        image = self.image_of(state, finest)
        return image, image_name_of(state, image, self._facts, finest)

    def image_of(self, state: State, finest: NodeGroup) -> str:
        """The image of a state that these templates see; a disabled one is not asked for any."""
        if not is_enabled(self._recipe, state, self._facts, finest, self._templates):
            return ""
        return image_of(self._recipe, state, self._facts, finest, self._templates)
