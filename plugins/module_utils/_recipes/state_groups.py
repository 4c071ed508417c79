# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The groups of nodes that one state is rendered for: its own, and the finest, of which they are made."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from .._nodes.groups import NodeGroup
from .loading.recipe import Recipe, State
from .switches import enabled_on
from .templates.render_facts import RenderFacts
from .templates.templating import Templates


class StateGroups:
    """The groups of one state under given facts. finest: those that proofs and pods go by, sorted by
    id. own: id -> (a group of the state, one of the finest that make it), sorted by id; none for a
    state of the cluster."""

    def __init__(
        self, recipe: Recipe, state: State, facts: RenderFacts, templates: Templates
    ) -> None:
        self.finest = sorted(facts.groups, key=lambda group: group.id)
        self._per = state.per
        self._facts = facts
        self._on = enabled_on(recipe, state, facts, templates)
        found: dict[str, tuple[NodeGroup, NodeGroup]] = {}
        for finest in facts.groups:
            own = self.own_of(finest)
            if own:
                found.setdefault(own.id, (own, finest))
        self.own = dict(sorted(found.items()))

    def own_of(self, finest: NodeGroup) -> NodeGroup | None:
        """The state's own group that one of the finest is a part of."""
        return self._facts.own_of(finest, self._per)

    def is_on(self, finest: NodeGroup | None) -> bool:
        """Whether the state is enabled on one of the finest groups; None where there is no node."""
        return self._on[finest.id if finest else ""]

    @cached_property
    def enabled(self) -> list[tuple[NodeGroup, NodeGroup]]:
        """Those of own where the state is enabled."""
        return [(own, finest) for own, finest in self.own.values() if self.is_on(finest)]

    @cached_property
    def kept_to(self) -> list[NodeGroup]:
        """What an object for all groups is kept to: those where the state is enabled, none where it
        is everywhere."""
        on = [own for own, _finest in self.enabled]
        return on if len(on) < len(self.own) else []

    @property
    def kept_to_terms(self) -> list[Mapping[str, Any]]:
        """The nodeSelectorTerms of kept_to."""
        return [term for own in self.kept_to for term in own.terms]
