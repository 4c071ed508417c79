# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What applying states would do to the cluster: what they want beside what they own there, and of
that what is kept although nothing wants it any more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .._cluster.api_client.api_errors import UnknownKind
from .._cluster.api_objects.changes import Change
from .._cluster.api_objects.labels import KERNEL, fact_label
from .._cluster.api_objects.objects import ObjectKey, key_of
from .._cluster.ownership_refusal import OwnershipOptions
from .._cluster.planning import PlanRules, UnknownFieldsError, plan
from .._json import Obj
from .._nodes.facts import NodeFacts
from .._recipes.render import RenderedState
from .._schema.requests import ParameterGroup
from .cleanup.ownership import find_owned, gone_states
from .cleanup.prune import GroupsOfNodes, Pruning, candidates, decide
from .desired import Desired
from .kind_fields import KindFields
from .record import adopted
from .staging import Stage, Staged, acts, divide, members_of


@dataclass(frozen=True)
class PlanRequest(ParameterGroup):
    """adopt: whether objects of somebody else are taken over. recreate: whether what cannot be
    changed is deleted and made anew."""

    adopt: bool = False
    recreate: bool = False


@dataclass(frozen=True)
class Planned:
    """What would be done to the cluster, and what is kept although nothing wants it."""

    changes: Sequence[Change]
    kept: Mapping[ObjectKey, str]

    @property
    def differing(self) -> list[Change]:
        """What has to be written."""
        return [change for change in self.changes if change.action != "unchanged"]


class ApplyPlanner:
    """Plans the named states of a recipe, by dry run, against the cluster as it is at that moment.
    warn: is told what of somebody else's objects has to be left out."""

    def __init__(
        self,
        desired: Desired,
        names: Sequence[str],
        planning: PlanRequest,
        warn: Callable[[str], None],
    ) -> None:
        self.desired = desired
        self.names = names
        self._client = desired.client
        self._recipe = desired.recipe
        self._request = planning
        self.rendered: Mapping[str, RenderedState] = {
            name: desired.rendered[name] for name in names
        }
        objects = [item for name in names for item in self.rendered[name].objects]
        self.wanted: list[Obj] = [item.manifest for item in objects]
        self.fields = KindFields(
            desired.client, objects, warn, lenient=self._recipe.source.format is not None
        )
        self._members = members_of({name: item.objects for name, item in self.rendered.items()})

    def plan(self, record: Mapping[str, Any] | None) -> Planned:
        """What these states take, and what they own and do not want any more."""
        live = self._owned(record)
        changes = self._plan_objects(self.wanted, live, self._awaited())
        pruning = self._pruning(live)
        taken_over = adopted.read(record)
        deletions = [adopted.removal(key, live[key], taken_over) for key in pruning.delete]
        return Planned([*changes, *deletions], pruning.keep)

    def kept(self, record: Mapping[str, Any] | None) -> dict[ObjectKey, tuple[Obj, str]]:
        """What of these states is there and stays although nothing wants it, as it is, with why. Only
        reads; Secrets are not asked for, which not everybody may list."""
        live = self._owned(record, aside={"v1/Secret"})
        keep = self._pruning(live).keep
        return {key: (live[key], why) for key, why in keep.items()}

    def plan_stage(self, stage: Stage) -> list[Change]:
        """Plan a stage when its turn has come: what it requires may have brought kinds, namespaces
        and defaults."""
        for key in stage.keys:
            with suppress(UnknownKind):
                self._client.kind(key.api_version, key.kind, refresh=True)
        objects = [
            item.manifest
            for item in self.desired.render(stage.state).objects
            if item.group == stage.group
        ]
        return self._plan_objects(
            [obj for obj in objects if acts(obj) or key_of(obj) in stage.keys], {}
        )

    def divide(self, planned: Planned) -> Staged:
        """A plan by when its changes are made: now, or once something is proven."""
        return divide(planned.changes, self._members, self.desired.order)

    def _owned(
        self, record: Mapping[str, Any] | None, aside: Set[str] = frozenset()
    ) -> dict[ObjectKey, Obj]:
        """What these states, and those that are gone, own in the cluster. aside: see find_owned."""
        prepared = self.desired.prepared
        names = [*self.names, *gone_states(prepared, self.names, record)]
        return find_owned(self._client, prepared, names, record, self.wanted, aside=aside)

    def _pruning(self, live: Mapping[ObjectKey, Obj]) -> Pruning:
        """What of it is not wanted any more: what goes, and what stays."""
        unwanted = candidates(live, {key_of(obj) for obj in self.wanted})
        if not unwanted:
            return Pruning((), {})
        return decide(
            unwanted,
            live,
            GroupsOfNodes(
                in_use=self._groups_in_use(),
                kept=self._groups_kept(),
                turned_off=self._turned_off(),
            ),
            nodes_match=bool(self.desired.discovery.matched),
            allow_empty=self.desired.membership.allow_empty,
        )

    def _plan_objects(
        self,
        objects: Sequence[Obj],
        live: Mapping[ObjectKey, Obj],
        awaited: Set[ObjectKey] = frozenset(),
    ) -> list[Change]:
        rules = PlanRules(
            owner=self.desired.prepared.applyset_id,
            adopt=self._request.adopt,
            adoptable=self._adoptable(),
            recreate=self._request.recreate,
            renewed=self._renewed(objects),
            awaited=awaited,
            lenient=self.fields.lenient,
            left_alone=self._left_alone(objects),
            offered=OwnershipOptions(namespace=self.desired.prepared.namespace, adopt=True),
        )
        fitted = self.fields.fitted(objects)
        try:
            changes = plan(self._client, fitted, rules, live=live)
        except UnknownFieldsError as error:
            raise self.fields.refusal(error, fitted) from None
        self.fields.take_down(changes)
        return changes

    def _adoptable(self) -> set[ObjectKey]:
        """The namespace of a recipe in another format may be there: users of the Special Resource
        Operator put charts and Secrets into it beforehand. Disable gives it back."""
        if self._recipe.source.format is None:
            return set()
        return {ObjectKey("v1", "Namespace", "", self.desired.prepared.namespace)}

    def _renewed(self, objects: Sequence[Obj]) -> set[ObjectKey]:
        """The objects that run anew when they change."""
        form = self._recipe.source.format
        return {key_of(obj) for obj in objects if form is not None and form.is_renewed(obj)}

    def _left_alone(self, objects: Sequence[Obj]) -> set[ObjectKey]:
        """The objects that stay as they are where somebody else has made them."""
        form = self._recipe.source.format
        return {key_of(obj) for obj in objects if form is not None and form.is_left_alone(obj)}

    def _awaited(self) -> set[ObjectKey]:
        """The objects whose kind may come with what their state requires."""
        waiting = {name for name in self.names if self.desired.order.requires[name]}
        found = [obj for obj in self.wanted if acts(obj)]
        return {key_of(obj) for obj in found if self._members[key_of(obj)].state in waiting}

    def _groups_in_use(self) -> set[str]:
        """The groups of the nodes that have the hardware."""
        return {group.id for per in self._pers for group in self.desired.discovery.coarse(per)}

    def _groups_kept(self) -> set[str]:
        """The groups of the nodes that have lost the hardware's labels, by their facts and by what
        they carry."""
        grouping, ours = self.desired.discovery.grouping, fact_label(self._recipe.name, KERNEL)
        kept = self.desired.strays.kept
        found = {str(node["metadata"]["labels"][ours]) for node in kept}
        return found.union(
            *(grouping.ids_of(NodeFacts.from_object(node), self._pers) for node in kept)
        )

    def _turned_off(self) -> set[tuple[str, str]]:
        """(state, group) where the options disable a state."""
        return {(name, group) for name, item in self.rendered.items() for group in item.turned_off}

    @property
    def _pers(self) -> set[tuple[str, ...]]:
        return {state.per for state in self._recipe.states.values() if state.per}
