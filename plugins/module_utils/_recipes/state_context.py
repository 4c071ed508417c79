# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For whom the manifests of one state are made: the context of each group of nodes, and of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .._cluster.api_objects.labels import KERNEL, fact_label
from .._errors import InvalidInput
from .._json import Obj, part
from .._nodes.groups import NodeGroup
from .._nodes.selectors import labels_alone
from . import inject
from .loading.recipe import Recipe, State
from .readiness_rules import rule_tolerations
from .requirements import chosen_labels, node_label_sets
from .state_groups import StateGroups
from .templates.render_facts import RenderFacts


class StateContext:
    """The contexts of one state, each made once. gates: node labels that its pods wait for."""

    def __init__(
        self,
        recipe: Recipe,
        state: State,
        facts: RenderFacts,
        groups: StateGroups,
        gates: Sequence[str],
    ) -> None:
        self._recipe = recipe
        self._state = state
        self._facts = facts
        self._groups = groups
        self._gates = gates
        self._label_sets = [*map(labels_alone, node_label_sets(recipe, facts.options))]
        self._chosen = chosen_labels(facts.options)
        # (group, kind) of a CRD that the state brings -> whether it lives in namespaces.
        self._scopes: dict[tuple[str, str], bool] = {}
        # By id and facets: a finer group may be called as one that it is a part of.
        self._found: dict[tuple[str, tuple[str, ...]], inject.Context] = {}

    def of_group(self, group: NodeGroup | None) -> inject.Context:
        """For whom what is made for a group is, None for all groups."""
        key = (group.id, tuple(group.per)) if group else ("", ())
        if key not in self._found:
            self._found[key] = self._new_context(group)
        return self._found[key]

    def injected(
        self,
        step: Callable[[Obj, inject.Context], Obj],
        manifest: Obj,
        group: NodeGroup | None,
        path: str,
    ) -> Obj:
        """A manifest after a step of injection. path: the file that it comes from, for errors."""
        try:
            return step(manifest, self.of_group(group))
        except InvalidInput as error:
            where = self._recipe.source.place_of(path)
            raise InvalidInput(error.what, where=where, why=error.why, todo=error.todo) from None

    def learn_scopes(self, manifests: Iterable[Obj]) -> None:
        """Scopes of kinds whose CRD the state itself brings: the cluster may not know them yet."""
        for manifest in manifests:
            if manifest["kind"] == "CustomResourceDefinition":
                spec = part(manifest, "spec")
                kind = (str(spec.get("group")), str(part(spec, "names").get("kind")))
                self._scopes[kind] = spec.get("scope") == "Namespaced"

    def is_of_cluster(self, manifest: Obj) -> bool:
        """Whether an object is known to belong to no namespace."""
        return self._namespaced(str(manifest["apiVersion"]), str(manifest["kind"])) is False

    def _namespaced(self, api_version: str, kind: str) -> bool | None:
        known = self._facts.api.namespaced(api_version, kind)
        return self._scopes.get((api_version.rpartition("/")[0], kind)) if known is None else known

    def _new_context(self, group: NodeGroup | None) -> inject.Context:
        recipe, options = self._recipe, self._facts.options_of(group)
        return inject.Context(
            owner=inject.Ownership(
                recipe=recipe.name,
                state=self._state.name,
                group=group.id if group else "",
                applyset_id=self._facts.applyset_id,
            ),
            placement=inject.Placement(
                label_sets=self._label_sets,
                chosen=self._chosen,
                gates=self._gates,
                group_terms=group.terms if group else self._groups.kept_to_terms,
                held=group.held if group else self._held_of_all(),
                anywhere=self._state.placement == "anywhere",
            ),
            namespace=self._facts.namespace,
            namespaced=self._namespaced,
            options=options,
            tolerations=[
                *inject.tolerations(
                    recipe.name, recipe.devices.resources, self._facts.taints, options
                ),
                *rule_tolerations(recipe.name, options, self._label_sets),
            ],
        )

    def _held_of_all(self) -> list[Mapping[str, Any]]:
        some = self._groups.kept_to
        if some:
            return [term for own in some for term in own.held]
        enabled = {"key": fact_label(self._recipe.name, KERNEL), "operator": "Exists"}
        return [{"matchExpressions": [enabled]}]
