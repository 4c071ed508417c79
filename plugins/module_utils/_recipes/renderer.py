# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders one state: its files once or once per group of nodes, its proofs, its validation pods,
and the hashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from .._cluster.api_objects.labels import AGENT_CONFIGURATION, fact_label, gate_label
from .._errors import InvalidInput
from .._json import Obj, content_hash
from .._nodes.groups import DEFAULT, NodeGroup
from .._nodes.selectors import labels_alone
from .._proofs.catalog import KINDS
from .._proofs.proof import Proof
from . import inject
from .differences import (
    LAST_KERNEL_WINS,
    differing,
    differing_in_pods,
    first_difference,
    not_alike,
    refuse_names,
)
from .loading.foreign_format import ForeignFormat
from .loading.recipe import Recipe, State
from .proof_rendering import ANY_NODE, ProofRenderer
from .readiness.agent_objects import agent_configuration, agent_objects
from .readiness.node_agent.configuration import AgentConfiguration
from .readiness.node_readiness import NODE_AGENT, NODE_NAME, gate_proof, is_by_nodes, validator
from .readiness_rules import RULE_API, RULE_STATE, has_rule, readiness_rules
from .requirements import Enabled, gating_states, node_label_sets
from .state_context import StateContext
from .state_groups import StateGroups
from .state_variables import StateVariables
from .switches import enabled_states
from .templates.manifests import ObjectId, identity, manifests_in, pod_template, title
from .templates.overlay import RECIPE_FILE
from .templates.render_facts import (
    RenderedObject,
    RenderedState,
    RenderFacts,
    Skipped,
    builtin_scope,
)
from .templates.templating import Templates
from .variables import GROUP_NAMES, refuse_finer_images

_RUNNING = frozenset(("DaemonSet", "Deployment", "StatefulSet", "Job", "CronJob"))
# A label takes no longer value.
_LABEL_VALUE = 63


@dataclass(frozen=True)
class _RenderedItem:
    """An object on its way: group is the state's own that it is for, None where it is for all;
    source is the file. left_out: see RenderedObject."""

    manifest: Obj
    group: NodeGroup | None
    source: str
    left_out: tuple[str, ...] = ()

    @property
    def group_id(self) -> str:
        return self.group.id if self.group else ""


def _settings(proofs: Sequence[Proof]) -> list[Any]:
    """Kind and settings of proofs, as they are hashed."""
    return [[proof.kind, dict(proof.spec)] for proof in proofs]


def remedy_proof(template: str) -> Proof:
    """As a proof would have it: a pod of the recipe that is pinned to a node and ends."""
    return Proof("workload", {"pod": template})


class StateRenderer:
    """One state of a recipe under given facts.

    Objects are made for the state's own groups. What is looked at node by node (proofs, validation
    pods, hashes) goes by the finest groups, of which the own ones are made.
    """

    def __init__(
        self,
        recipe: Recipe,
        state: State,
        facts: RenderFacts,
        templates: Templates | None = None,
        enabled: Enabled | None = None,
    ) -> None:
        """templates: those of the recipe, where the caller wants to see what is done with them.
        enabled: see enabled_states, where the caller has asked that already."""
        self._recipe = recipe
        self._state = state
        self._facts = facts
        self._templates = templates or recipe.source.templates
        self._enabled = enabled or enabled_states(recipe, facts)
        self._by_nodes = is_by_nodes(facts.options)
        gates = [
            gate_label(recipe.name, name)
            for name in gating_states(recipe, self._enabled, state.name)
        ]
        self._variables = StateVariables(recipe, state, facts, self._templates)
        self._groups = StateGroups(recipe, state, facts, self._templates)
        self._context = StateContext(recipe, state, facts, self._groups, gates)
        self._proofs = ProofRenderer(
            recipe, state, facts, self._templates, self._groups, self._variables, self._context
        )

    def state(self, *, hashed: bool = True) -> RenderedState:
        """The state's objects, what was left out, its proofs and hashes. hashed: whether somebody
        will look at the hashes; without, there are none."""
        enabled = True in self._enabled[self._state.name]
        files, skipped = self._files_and_skipped() if enabled else ([], [])
        items = list(self._items(files)) if enabled else []
        self._context.learn_scopes(item.manifest for item in items)
        items = self._in_their_scopes(items)
        complete = [
            replace(item, manifest=self._injected(self._with_metadata, item)) for item in items
        ]
        complete += self._validators() if self._by_nodes else ()
        placed = [
            RenderedObject(
                self._injected(inject.place, item),
                item.group_id,
                self._path(item.source),
                item.left_out,
                inject.own_affinity(item.manifest),
            )
            for item in complete
        ]
        proofs, proofs_on = self._all_proofs(placed)
        self._check(placed, proofs)
        return RenderedState(
            self._state.name,
            enabled,
            proofs,
            tuple(placed),
            tuple(skipped),
            hashes=self._hashes(complete, proofs, proofs_on) if hashed else {},
            enabled_on=frozenset(
                group.id for group in self._groups.finest if self._groups.is_on(group)
            ),
            proofs_on=proofs_on,
            groups={
                group.id: own.id if (own := self._groups.own_of(group)) else ""
                for group in self._groups.finest
            },
        )

    def pod(self, proof: Proof, group: NodeGroup, node: str) -> Obj:
        """The validation pod of a workload proof on a node of one of the finest groups."""
        pod = self._proofs.pod(proof, group, node)
        return inject.place_validator(pod, self._context.of_group(group), node)

    def images(self) -> dict[str, str]:
        """The state's own image per id of its groups, of those where it is enabled."""
        if not self._state.images.are_known:
            return {}
        return {
            own.id: self._variables.image_of(self._state, finest)
            for own, finest in self._groups.enabled
        }

    def _files_and_skipped(self) -> tuple[list[str], list[Skipped]]:
        """The files of the state, without those whose API the cluster does not serve."""
        files: list[str] = []
        skipped: list[Skipped] = []
        for asset in self._state.assets:
            if asset.needs_api and not self._facts.api.serves(asset.needs_api):
                reason = f"the cluster does not serve {asset.needs_api}"
                skipped += [
                    Skipped(self._path(path), reason, asset.needs_api) for path in asset.files
                ]
            else:
                files += asset.files
        if self._holds_rules and not self._facts.api.serves(RULE_API):
            skipped.append(Skipped(RULE_STATE, f"the cluster does not serve {RULE_API}", RULE_API))
        return files, skipped

    @property
    def _holds_rules(self) -> bool:
        return has_rule(self._facts.options) and self._state.name == RULE_STATE

    def _items(self, files: Sequence[str]) -> Iterator[_RenderedItem]:
        if self._by_nodes and self._state.name == NODE_AGENT:
            for manifest in self._agent_objects():
                yield _RenderedItem(manifest, None, NODE_AGENT)
        if self._holds_rules and self._facts.api.serves(RULE_API):
            hardware = [*map(labels_alone, node_label_sets(self._recipe, self._facts.options))]
            for manifest in readiness_rules(self._recipe.name, self._facts.options, hardware):
                yield _RenderedItem(manifest, None, RULE_STATE)
        for path in files:
            if self._recipe.source.format is None:
                yield from self._items_of(path)
            elif self._recipe.source.format.is_per_group(path, self._facts.options):
                yield from self._foreign_per_group(path, self._recipe.source.format)
            else:
                yield from self._foreign_for_all(path, self._recipe.source.format)

    def _foreign_for_all(self, path: str, foreign: ForeignFormat) -> Iterator[_RenderedItem]:
        """What a file in another format gives once."""
        names = differing(self._facts, foreign.options)
        refuse_names(self._recipe.source, self._state, self._facts, names, path)
        for manifest, _named in foreign.manifests(path, self._variables.shared, self._facts):
            yield _RenderedItem(manifest, None, path)

    def _foreign_per_group(self, path: str, foreign: ForeignFormat) -> Iterator[_RenderedItem]:
        """What a file in another format gives for each group. Objects that no group's name is in are
        for all groups."""
        shared: dict[ObjectId, tuple[NodeGroup, Obj]] = {}
        for own, finest in self._groups.enabled:
            variables = self._variables.of_group(own, finest, frozenset())
            for manifest, named in foreign.manifests(path, variables, self._facts):
                if named:
                    yield _RenderedItem(manifest, own, path)
                    continue
                other, known = shared.setdefault(identity(manifest), (own, manifest))
                if known != manifest and self._facts.options[LAST_KERNEL_WINS]:
                    shared[identity(manifest)] = (own, manifest)
                elif known != manifest:
                    line = foreign.line_of(path, manifest, first_difference(known, manifest))
                    where = self._path(path)
                    where = f"{where}, line {line}" if line else where
                    raise not_alike(manifest, other, own, where)
        for _own, manifest in shared.values():
            yield _RenderedItem(manifest, None, path)

    def _items_of(self, path: str) -> Iterator[_RenderedItem]:
        """What a file gives: once, or for each group where it asks for what differs between them."""
        names = self._templates.names_in(path)
        differ = (
            differing(self._facts, self._templates.options_in(path))
            if self._facts.differing
            else []
        )
        if not self._state.per:
            refuse_names(self._recipe.source, self._state, self._facts, differ, path)
        elif differ or names & (GROUP_NAMES | self._variables.image_names):
            yield from self._items_per_group(path, names, differ)
            return
        text = self._templates.render(path, self._variables.shared)
        for manifest in manifests_in(text, self._path(path)):
            yield _RenderedItem(manifest, None, path)

    def _items_per_group(
        self, path: str, names: frozenset[str], differ: Sequence[str]
    ) -> Iterator[_RenderedItem]:
        """names: the variables that a file asks for; differ: the options that it reads and that
        pools set differently."""
        shows_images = bool(names & self._variables.image_names)
        if shows_images:
            refuse_finer_images(self._recipe, self._state)
        for own, finest in self._groups.enabled:
            if shows_images and not self._variables.has_images(finest):
                continue
            text = self._templates.render(path, self._variables.of_group(own, finest, names))
            for manifest in manifests_in(text, f"{self._path(path)}, group {own.id}"):
                self._check_name(manifest, own, path, differ)
                yield _RenderedItem(manifest, own, path)

    def _check_name(self, manifest: Obj, own: NodeGroup, path: str, options: Sequence[str]) -> None:
        """options: those that its file reads and that pools set differently."""
        if own.id == DEFAULT or own.id in manifest["metadata"]["name"]:
            return
        refuse_names(self._recipe.source, self._state, self._facts, options, path)
        raise InvalidInput(
            f"{title(manifest)} would be the same object for every group of nodes",
            where=self._path(path),
            why="its file uses facts or options that differ between groups, so it is made once for each",
            todo="put {{ group.suffix }} into its name, or move it to a file that uses none of them",
        )

    def _in_their_scopes(self, items: Sequence[_RenderedItem]) -> list[_RenderedItem]:
        """What somebody else has given a namespace although it belongs to the whole cluster, without
        it; the author of our templates is told."""
        return [self._in_its_scope(item) if self._recipe.source.format else item for item in items]

    def _in_its_scope(self, item: _RenderedItem) -> _RenderedItem:
        manifest = item.manifest
        if not manifest["metadata"].get("namespace") or not self._context.is_of_cluster(manifest):
            return item
        kept = {name: each for name, each in manifest["metadata"].items() if name != "namespace"}
        return replace(
            item, manifest={**manifest, "metadata": kept}, left_out=("metadata.namespace",)
        )

    def _injected(self, step: Callable[[Obj, inject.Context], Obj], item: _RenderedItem) -> Obj:
        return self._context.injected(step, item.manifest, item.group, item.source)

    def _with_metadata(self, manifest: Obj, context: inject.Context) -> Obj:
        if not context.owner.group and pod_template(manifest) is not None:
            names = differing_in_pods(self._state, self._facts)
            refuse_names(
                self._recipe.source, self._state, self._facts, names, f"states.{self._state.name}"
            )
        return inject.add_metadata(manifest, context)

    def without_image(self) -> list[NodeGroup]:
        """The finest groups where the state is enabled and its image is not there: not built yet, or not
        to be built."""
        if not self._state.images.are_known:
            return []
        return [
            finest
            for finest in self._groups.finest
            if self._groups.is_on(finest) and not self._variables.image_of(self._state, finest)
        ]

    @cached_property
    def _agent_configuration(self) -> AgentConfiguration:
        renderers = {
            name: StateRenderer(self._recipe, state, self._facts, self._templates, self._enabled)
            for name, state in self._recipe.states.items()
            if name != NODE_AGENT
        }
        others = {name: each.state(hashed=False) for name, each in renderers.items()}
        # Of them the agent knows nothing yet: what is missing for want of an image would not be missed.
        lacking = {group.id for each in renderers.values() for group in each.without_image()}
        known = [group for group in self._facts.groups if group.id not in lacking]
        gating = {
            gate
            for name, state in others.items()
            if state.objects
            for gate in gating_states(self._recipe, self._enabled, name)
        }
        return agent_configuration(self._recipe, replace(self._facts, groups=known), others, gating)

    def _agent_objects(self) -> list[Obj]:
        image = str(self._facts.options["node_agent_image"])
        platform = str(self._facts.cluster.get("platform", ""))
        return agent_objects(self._agent_configuration, image, platform)

    def _validators(self) -> list[_RenderedItem]:
        """What proves the state on the nodes: one for all, or one for each group where they differ."""
        found: dict[str, list[tuple[NodeGroup, int, Obj]]] = {}
        for finest in self._groups.finest:
            for index, pod in self._proofs.run_by_nodes(finest, NODE_NAME):
                same = {**pod, "metadata": {**pod["metadata"], "labels": {}}}
                key = json.dumps([index, same], sort_keys=True)
                found.setdefault(key, []).append((finest, index, pod))
        return [item for alike in found.values() for item in self._validators_of(alike)]

    def _validators_of(
        self, alike: Sequence[tuple[NodeGroup, int, Obj]]
    ) -> Iterator[_RenderedItem]:
        everywhere = len(alike) == len(self._groups.finest)
        for finest, index, pod in alike[:1] if everywhere else alike:
            group = None if everywhere else finest
            name = _validator_name(self._state.name, index, finest.id if group else "")
            image = str(self._facts.options_of(finest)["node_agent_image"])
            made = validator(pod, name, image, self._context.of_group(group))
            yield _RenderedItem(made, group, RECIPE_FILE)

    def _all_proofs(
        self, placed: Sequence[RenderedObject]
    ) -> tuple[tuple[Proof, ...], dict[str, tuple[int, ...]]]:
        """All proofs that count anywhere, and per finest group which of them do."""
        found: list[Proof] = []
        where: dict[str, tuple[int, ...]] = {}
        for finest in self._facts.groups_or_none:
            proofs = [*self._proofs.of_group(finest), *self._own_proofs(placed, finest)]
            found += [proof for proof in proofs if proof not in found]
            if finest:
                where[finest.id] = tuple(found.index(proof) for proof in proofs)
        return tuple(found), where

    def _own_proofs(
        self, placed: Sequence[RenderedObject], finest: NodeGroup | None
    ) -> list[Proof]:
        """What the recipe does not say: what another format has for the objects of a group, and where
        nodes tell, that they do."""
        found: list[Proof] = []
        if self._recipe.source.format:
            own = self._groups.own_of(finest) if finest else None
            ours = {"", own.id} if own else {item.group for item in placed}
            manifests = [item.manifest for item in placed if item.group in ours]
            found += self._recipe.source.format.proofs(manifests)
        if self._by_nodes and self._state.name == NODE_AGENT:
            label = fact_label(self._recipe.name, AGENT_CONFIGURATION)
            equal = {label: self._agent_configuration.hash}
            found.append(Proof("node_labels", {"equal": equal}))
        elif self._by_nodes and any(item.manifest["kind"] == "DaemonSet" for item in placed):
            found.append(gate_proof(self._recipe.name, self._state.name))
        return found

    def _check(self, objects: Sequence[RenderedObject], proofs: Sequence[Proof]) -> None:
        """Raise InvalidInput where an object is made twice, or where nothing proves what runs."""
        first: dict[ObjectId, str] = {}
        for item in objects:
            key = identity(item.manifest)
            if key in first:
                raise InvalidInput(
                    f"{title(item.manifest)} is made twice",
                    where=f"state {self._state.name}",
                    why=f"once by {first[key]}, once by {item.source}",
                    todo="give them different names, or remove one",
                )
            first[key] = item.source
            if item.manifest["kind"] in _RUNNING and not proofs:
                raise InvalidInput(
                    f"state {self._state.name} proves nothing, although it runs {title(item.manifest)}",
                    where=item.source,
                    todo="give the state a proof under validate, at least rollout: {}",
                )

    def _hashes(
        self,
        items: Sequence[_RenderedItem],
        proofs: Sequence[Proof],
        proofs_on: Mapping[str, Sequence[int]],
    ) -> dict[str, str]:
        """By the finest group's id, and "" for what concerns no group in particular."""
        shared = [self._proven(item.manifest) for item in items if item.group is None]
        hashes = {"": content_hash([shared, _settings(proofs)])}
        for finest in self._groups.finest:
            made = self._made_for(items, finest)
            counted = [proofs[index] for index in proofs_on[finest.id]]
            on = self._groups.is_on(finest)
            hashes[finest.id] = content_hash(
                [shared if on else [], made, *self._hashed_proofs(counted, finest)]
            )
        return hashes

    def _made_for(self, items: Sequence[_RenderedItem], finest: NodeGroup) -> list[Obj]:
        """What is made for the nodes of one of the finest groups alone, for its hash."""
        own = self._groups.own_of(finest)
        if own is None or not self._groups.is_on(finest):
            return []
        return [self._proven(item.manifest) for item in items if item.group_id == own.id]

    def _hashed_proofs(self, proofs: Sequence[Proof], finest: NodeGroup) -> list[Any]:
        """What the proofs of a group are: their settings, their pods, and for those whose texts differ
        between nodes these settings too."""
        pods = [
            self._proofs.pod(proof, finest, ANY_NODE) for proof in proofs if KINDS[proof.kind].pod
        ]
        varying = [dict(proof.spec_for(finest.id, ANY_NODE)) for proof in proofs if proof.varies]
        return [_settings(proofs), pods, *varying]

    def _proven(self, manifest: Obj) -> Obj:
        """What proofs are about. That a custom kind lives in namespaces is known only once
        something has brought it, so the namespace that it then gets must not make a difference."""
        if builtin_scope(manifest["apiVersion"], manifest["kind"]) is not None:
            return manifest
        kept = {**manifest["metadata"]}
        if kept.get("namespace") == self._facts.namespace:
            del kept["namespace"]
        return {**manifest, "metadata": kept}

    def _path(self, path: str) -> str:
        return self._templates.place_of(path)


def _validator_name(state: str, index: int, group: str) -> str:
    """The name of the DaemonSet that proves a state on a group of nodes, "" for all; fit for the value of
    a label. index: which of the state's proofs it is."""
    stem = "-".join(["validate", state.replace("_", "-"), *([str(index)] if index else [])])
    name = f"{stem}-{group}" if group else stem
    if len(name) <= _LABEL_VALUE:
        return name
    digest = hashlib.sha256(stem.encode()).hexdigest()[:6]
    return f"{stem[: _LABEL_VALUE - len(group) - len(digest) - 2]}-{digest}-{group}"
