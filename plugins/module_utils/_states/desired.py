# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run wants in one cluster: every state of a recipe, rendered for the nodes that are there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property
from typing import Any

from .._cluster.api_client.client import Client
from .._cluster.api_objects.objects import key_of
from .._json import Obj
from .._nodes.discovery import Discovery
from .._nodes.facts import NodeFacts
from .._recipes.loading.recipe import ALL_NODES, Recipe
from .._recipes.render import RenderedState, RenderFacts, render_state
from .._recipes.requirements import Enabled, gating_states, required_states
from .._recipes.switches import enabled_states
from .on_nodes.strays import MembershipRequest, Strays, find_strays
from .preparation import discover
from .preparation.foreign import RivalContext, foreign_plugins, is_plugin, rivals_of
from .preparation.image_facts import ImageRequest, with_images
from .preparation.prepare import Prepared, render_facts
from .staging import StateOrder
from .validation.phases import StatePlan
from .validation.record_memory import RecordMemory
from .validation.state_plans import make_plans


class Desired:
    """A recipe under a user's options in one cluster. Everything is found out once, when it is
    first asked for.

    discovery: the result of nfd_info by which the nodes are known. clock gives seconds since the
    epoch."""

    def __init__(
        self,
        client: Client,
        prepared: Prepared,
        membership: MembershipRequest,
        images: ImageRequest,
        clock: Callable[[], float],
        *,
        discovery: Mapping[str, Any] | None = None,
    ) -> None:
        self.client = client
        self.prepared = prepared
        self.membership = membership
        self._images = images
        self._clock = clock
        self._found = discovery

    @property
    def recipe(self) -> Recipe:
        """The recipe, its images' look-ups settled."""
        return self.prepared.recipe

    @property
    def record(self) -> Mapping[str, Any] | None:
        """The SpecialResource as it was when the task began."""
        return self.prepared.record

    @property
    def record_memory(self) -> RecordMemory:
        """What the record says of the run before."""
        return RecordMemory.of(self.recipe.name, self.record)

    @cached_property
    def nodes(self) -> Sequence[Obj]:
        """The Node objects that have the hardware."""
        return discover.list_nodes(self.client, self.prepared.selector)

    @cached_property
    def strays(self) -> Strays:
        """The nodes that carry our marks and not the labels of the hardware."""
        matching = frozenset(node for group in self.discovery.node_groups for node in group.nodes)
        return find_strays(self.client, self.prepared, self.membership, matching, self._clock)

    @property
    def members(self) -> list[NodeFacts]:
        """All nodes that are ours."""
        return [*self.node_facts, *map(NodeFacts.from_object, self.strays.kept)]

    @cached_property
    def discovery(self) -> Discovery:
        """The nodes together; as an earlier task of the run has found them, where it says so."""
        return self._discovered[0]

    @cached_property
    def node_facts(self) -> Sequence[NodeFacts]:
        """The facts of all nodes; an earlier task hands over none of single nodes."""
        return self.discovery.facts or [NodeFacts.from_object(node) for node in self.nodes]

    @cached_property
    def facts(self) -> RenderFacts:
        """What templates may use."""
        return self._facts_and_missing[0]

    @property
    def missing_images(self) -> Mapping[str, Mapping[str, str]]:
        """State -> id of a finest group -> why there is no image that was looked up."""
        return self._facts_and_missing[1]

    @cached_property
    def rendered(self) -> Mapping[str, RenderedState]:
        """Every state's objects and proofs, in the order of the graph."""
        return {name: self.render(name) for name in self.recipe.states}

    @cached_property
    def plans(self) -> list[StatePlan]:
        """What validation has to look at."""
        return self.plans_with(frozenset())

    def plans_with(self, unproven: Set[str]) -> list[StatePlan]:
        """The plans, and those of states that prove nothing but whose objects are still to be
        applied."""
        return make_plans(
            self.recipe,
            self.enabled,
            self.rendered,
            self.missing_images,
            self.discovery.coarse,
            unproven,
        )

    @cached_property
    def enabled(self) -> Enabled:
        """Which states are enabled, on some groups of nodes or on all."""
        return enabled_states(self.recipe, self.facts)

    @cached_property
    def order(self) -> StateOrder:
        """The graph of the states as these options have it."""
        return StateOrder(
            {name: required_states(self.recipe, self.enabled, name) for name in self.recipe.states},
            {
                name
                for name, state in self.recipe.states.items()
                if False in self.enabled[name] and state.proofs.counting(enabled=False)
            },
            {name for name, state in self.recipe.states.items() if state.order.begin == ALL_NODES},
        )

    @property
    def runtime_gates(self) -> set[frozenset[str]]:
        """The gates that pods wait for that choose a node by its container runtime, by state."""
        return {
            frozenset(gating_states(self.recipe, self.enabled, name))
            for name, item in self.rendered.items()
            if item.objects and "runtime" in self.recipe.states[name].per
        }

    def rival_context(self, *, adopt: bool) -> RivalContext:
        """Whom the recipe shares the cluster with. adopt: see there."""
        return RivalContext(
            lambda: {
                key_of(item.manifest) for state in self.rendered.values() for item in state.objects
            },
            lambda: self.node_facts,
            adopt,
        )

    @cached_property
    def foreign_plugins(self) -> Sequence[Obj]:
        """The DaemonSets of other device plugins, whatever they serve."""
        return foreign_plugins(self.client)

    @cached_property
    def rival_plugins(self) -> list[str]:
        """Those of them that serve what our own does, on its nodes; asked for only where we bring
        one."""
        ours = [
            (item.manifest, state.enabled_on)
            for state in self.rendered.values()
            for item in state.objects
            if is_plugin(item.manifest)
        ]
        if not ours:
            return []
        groups = frozenset().union(*(enabled_on for _manifest, enabled_on in ours))

        def served() -> list[NodeFacts]:
            grouping = self.discovery.grouping
            return [node for node in self.node_facts if grouping.id_of(node) in groups]

        return rivals_of(
            [manifest for manifest, _on in ours],
            self.foreign_plugins,
            self.recipe.devices.resources,
            served,
        )

    def render(self, state: str) -> RenderedState:
        """A state's objects, as the kinds that the cluster serves by now have them."""
        return render_state(self.recipe, state, self.facts, self.enabled)

    @cached_property
    def _discovered(self) -> tuple[Discovery, Obj]:
        return discover.discovery_of(self.client, self.prepared, self._found, lambda: self.nodes)

    @cached_property
    def _facts_and_missing(self) -> tuple[RenderFacts, dict[str, dict[str, str]]]:
        discovery, cluster = self._discovered
        facts = render_facts(self.prepared, self.client, discovery, cluster, self._images.images)
        return with_images(self.recipe, facts, self._images.driver_images, lambda: self.record)
