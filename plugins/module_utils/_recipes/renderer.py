# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders one state: its files once or once per group of nodes, its proofs, its validation pods,
and the hashes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from .._cluster.api_objects.labels import AGENT_CONFIGURATION, KERNEL, fact_label, gate_label
from .._errors import InvalidInput
from .._json import Obj, content_hash
from .._nodes.groups import DEFAULT
from .._proofs.catalog import KINDS
from .._proofs.proof import Proof
from .._schema.problems import Problems
from .._schema.shapes import is_template
from . import inject
from .differences import differing, differing_in_pods, first_difference, not_alike, refuse_names
from .loading.recipe import Recipe, State
from .readiness.agent_objects import agent_configuration, agent_objects
from .readiness.node_agent.configuration import AgentConfiguration
from .readiness.node_readiness import (
    NODE_AGENT,
    NODE_NAME,
    gate_proof,
    is_by_nodes,
    runs_pod,
    validator,
)
from .requirements import Enabled, chosen_labels, gating_states, node_label_sets
from .switches import enabled_states, is_enabled
from .templates import nested_texts
from .templates.manifests import ObjectId, identity, manifests_in, pod_template, title
from .templates.overlay import place_of
from .templates.render_facts import (
    Group,
    RenderedObject,
    RenderedState,
    RenderFacts,
    Skipped,
    builtin_scope,
)
from .templates.templating import Templates
from .variables import (
    GROUP_NAMES,
    cluster_variables,
    group_names,
    group_variables,
    image_of,
    image_states,
    image_variables,
    refuse_finer_images,
)

# Stands for the node's name in what is hashed: a proof does not depend on what its node is called.
_ANY_NODE = "node"
# Texts of proofs that use one of these differ between nodes.
_VARYING = (GROUP_NAMES - {"image"}) | {"node"}
_RUNNING = frozenset(("DaemonSet", "Deployment", "StatefulSet", "Job", "CronJob"))


@dataclass(frozen=True)
class _RenderedItem:
    """An object on its way: group is the state's own that it is for, None where it is for all;
    source is the file."""

    manifest: Obj
    group: Group | None
    source: str

    @property
    def group_id(self) -> str:
        return self.group.id if self.group else ""


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
        self._finest = sorted(facts.groups, key=lambda group: group.id)
        self._own = facts.groups_of(state.per) if state.per else {}
        self._templates = templates or Templates(recipe.files, recipe.source)
        self._format = recipe.format
        self._enabled = enabled or enabled_states(recipe, facts)
        self._label_sets = node_label_sets(recipe, facts.options)
        self._gates = [
            gate_label(recipe.name, name)
            for name in gating_states(recipe, self._enabled, state.name)
        ]
        self._shared = cluster_variables(recipe, state, facts)
        self._image_names = {source.name for source in image_states(recipe, state)} | {"image"}
        self._scopes: dict[tuple[str, str], bool] = {}
        self._by_nodes = is_by_nodes(facts.options)
        self._on = {
            group.id if group else "": is_enabled(recipe, state, facts, group, self._templates)
            for group in facts.groups_or_none
        }

    def state(self) -> RenderedState:
        """The state's objects, what was left out, its proofs and hashes."""
        name, enabled = self._state.name, True in self._enabled[self._state.name]
        skipped: list[Skipped] = []
        items = list(self._items(skipped)) if enabled else []
        self._learn_scopes(items)
        complete = [
            replace(item, manifest=self._inject(self._with_metadata, item)) for item in items
        ]
        complete += self._validators() if self._by_nodes else ()
        placed = [
            RenderedObject(self._inject(inject.place, item), item.group_id, self._path(item.source))
            for item in complete
        ]
        proofs, proofs_on = self._all_proofs(placed)
        self._check(placed, proofs)
        return RenderedState(
            name,
            enabled,
            proofs,
            tuple(placed),
            tuple(skipped),
            self._hashes(complete, proofs, proofs_on),
            frozenset(group.id for group in self._finest if self._is_on(group)),
            proofs_on,
            {group.id: own.id if (own := self._own_of(group)) else "" for group in self._finest},
        )

    def pod(self, proof: Proof, group: Group, node: str) -> Obj:
        """The validation pod of a workload proof on a node of one of the finest groups."""
        return inject.place_validator(
            self._bare_pod(proof, group, node), self._context(group), node
        )

    def images(self) -> dict[str, str]:
        """The state's own image per id of its groups, of those where it is enabled."""
        if not (self._state.image or self._state.build):
            return {}
        return {
            own.id: self._image_of(self._state, finest)
            for own, finest in self._own.values()
            if self._is_on(finest)
        }

    def _own_of(self, finest: Group) -> Group | None:
        return self._facts.coarse(finest, self._state.per) if self._state.per else None

    def _is_on(self, finest: Group | None) -> bool:
        return self._on[finest.id if finest else ""]

    def _items(self, skipped: list[Skipped]) -> Iterator[_RenderedItem]:
        if self._by_nodes and self._state.name == NODE_AGENT:
            for manifest in self._agent_objects():
                yield _RenderedItem(manifest, None, NODE_AGENT)
        for asset in self._state.assets:
            if asset.needs_api and not self._serves(asset.needs_api):
                reason = f"the cluster does not serve {asset.needs_api}"
                skipped += [
                    Skipped(self._path(path), reason, asset.needs_api) for path in asset.files
                ]
                continue
            for path in asset.files:
                yield from self._items_of(path) if self._format is None else self._foreign(path)

    def _foreign(self, path: str) -> Iterator[_RenderedItem]:
        """What a file in another format gives. Objects that no group's name is in are for all groups."""
        if self._format is None:
            return
        if not self._format.is_per_group(path, self._facts.options):
            names = differing(self._facts, self._format.options)
            refuse_names(self._recipe, self._state, self._facts, names, path)
            for manifest, _named in self._format.manifests(path, self._shared, self._facts):
                yield _RenderedItem(manifest, None, path)
            return
        shared: dict[ObjectId, tuple[Group, Obj]] = {}
        for own, finest in self._own.values():
            if not self._is_on(finest):
                continue
            variables = self._variables(own, finest, frozenset())
            for manifest, named in self._format.manifests(path, variables, self._facts):
                if named:
                    yield _RenderedItem(manifest, own, path)
                    continue
                other, known = shared.setdefault(identity(manifest), (own, manifest))
                if known != manifest:
                    line = self._format.line_of(path, manifest, first_difference(known, manifest))
                    where = self._path(path)
                    where = f"{where}, line {line}" if line else where
                    raise not_alike(manifest, other, own, where)
        for _own, manifest in shared.values():
            yield _RenderedItem(manifest, None, path)

    def _items_of(self, path: str) -> Iterator[_RenderedItem]:
        names = self._templates.names_in(path)
        differ = (
            differing(self._facts, self._templates.options_in(path))
            if self._facts.differing
            else []
        )
        if not self._state.per:
            refuse_names(self._recipe, self._state, self._facts, differ, path)
        if not (self._state.per and (differ or names & (GROUP_NAMES | self._image_names))):
            for manifest in manifests_in(
                self._templates.render(path, self._shared), self._path(path)
            ):
                yield _RenderedItem(manifest, None, path)
            return
        if names & self._image_names:
            refuse_finer_images(self._recipe, self._state)
        for own, finest in self._own.values():
            if not self._is_on(finest) or (
                names & self._image_names and not self._has_image(finest)
            ):
                continue
            text = self._templates.render(path, self._variables(own, finest, names))
            for manifest in manifests_in(text, f"{self._path(path)}, group {own.id}"):
                self._check_name(manifest, own, path, differ)
                yield _RenderedItem(manifest, own, path)

    def _check_name(self, manifest: Obj, own: Group, path: str, options: Sequence[str]) -> None:
        """options: those that its file reads and that pools set differently."""
        if own.id == DEFAULT or own.id in manifest["metadata"]["name"]:
            return
        refuse_names(self._recipe, self._state, self._facts, options, path)
        raise InvalidInput(
            f"{title(manifest)} would be the same object for every group of nodes",
            where=self._path(path),
            why="its file uses facts or options that differ between groups, so it is made once for each",
            todo="put {{ group.suffix }} into its name, or move it to a file that uses none of them",
        )

    def _variables(
        self, own: Group | None, finest: Group | None, names: frozenset[str]
    ) -> dict[str, Any]:
        """What templates see of a group. Images only where they are asked for: one that cannot be
        resolved hurts nobody else."""
        variables = cluster_variables(self._recipe, self._state, self._facts, own or finest)
        if own:
            variables |= group_variables(own, self._facts)
        if finest and names & self._image_names:
            variables |= image_variables(
                self._recipe, self._state, lambda state: self._image_of(state, finest)
            )
        return variables

    def _has_image(self, finest: Group) -> bool:
        """Whether every image that the state's templates see is there for these nodes."""
        states = image_states(self._recipe, self._state)
        return all(self._image_of(state, finest) for state in states)

    def _image_of(self, state: State, finest: Group) -> str:
        """The image of a state that these templates see; a disabled one is not asked for any."""
        if not is_enabled(self._recipe, state, self._facts, finest, self._templates):
            return ""
        return image_of(self._recipe, state, self._facts, finest, self._templates)

    def _serves(self, api: str) -> bool:
        apis = self._facts.apis
        return api in apis if isinstance(apis, frozenset) else apis(api)

    def _learn_scopes(self, items: Sequence[_RenderedItem]) -> None:
        """Scopes of kinds whose CRD the state itself brings: the cluster may not know them yet."""
        for item in items:
            if item.manifest["kind"] == "CustomResourceDefinition":
                spec = item.manifest.get("spec") or {}
                kind = (str(spec.get("group")), str((spec.get("names") or {}).get("kind")))
                self._scopes[kind] = spec.get("scope") == "Namespaced"

    def _namespaced(self, api_version: str, kind: str) -> bool | None:
        known = self._facts.namespaced(api_version, kind)
        return self._scopes.get((api_version.rpartition("/")[0], kind)) if known is None else known

    def _context(self, group: Group | None) -> inject.Context:
        return inject.Context(
            recipe=self._recipe.name,
            state=self._state.name,
            group=group.id if group else "",
            applyset_id=self._facts.applyset_id,
            namespace=self._facts.namespace,
            namespaced=self._namespaced,
            options=self._facts.options_of(group),
            resources=self._recipe.resources,
            label_sets=self._label_sets,
            group_terms=group.terms
            if group
            else [term for own in self._some_groups() for term in own.terms],
            gates=self._gates,
            held=group.held if group else self._held_of_all(),
            chosen=chosen_labels(self._facts.options),
            anywhere=self._state.placement == "anywhere",
            taints=self._facts.taints,
        )

    def _some_groups(self) -> list[Group]:
        """For what is made once: the groups where the state is on, none where it is on everywhere."""
        on = [own for own, finest in self._own.values() if self._is_on(finest)]
        return on if len(on) < len(self._own) else []

    def _held_of_all(self) -> list[Mapping[str, Any]]:
        enabled = {"key": fact_label(self._recipe.name, KERNEL), "operator": "Exists"}
        some = self._some_groups()
        return (
            [term for own in some for term in own.held]
            if some
            else [{"matchExpressions": [enabled]}]
        )

    def _inject(self, step: Callable[[Obj, inject.Context], Obj], item: _RenderedItem) -> Obj:
        try:
            return step(item.manifest, self._context(item.group))
        except InvalidInput as error:
            raise InvalidInput(
                error.what, where=self._path(item.source), why=error.why, todo=error.todo
            ) from None

    def _with_metadata(self, manifest: Obj, context: inject.Context) -> Obj:
        if not context.group and pod_template(manifest) is not None:
            names = differing_in_pods(self._state, self._facts)
            refuse_names(
                self._recipe, self._state, self._facts, names, f"states.{self._state.name}"
            )
        return inject.add_metadata(manifest, context)

    @cached_property
    def _agent_configuration(self) -> AgentConfiguration:
        others = {
            name: StateRenderer(
                self._recipe, state, self._facts, self._templates, self._enabled
            ).state()
            for name, state in self._recipe.states.items()
            if name != NODE_AGENT
        }
        gating = {
            gate
            for name, state in others.items()
            if state.objects
            for gate in gating_states(self._recipe, self._enabled, name)
        }
        return agent_configuration(self._recipe, self._facts, others, gating)

    def _agent_objects(self) -> list[Obj]:
        image = str(self._facts.options["node_agent_image"])
        platform = str(self._facts.cluster.get("platform", ""))
        return agent_objects(self._agent_configuration, image, platform)

    def _validators(self) -> list[_RenderedItem]:
        """What proves the state on the nodes: one for all, or one for each group where they differ."""
        found: dict[str, list[tuple[Group, int, Obj]]] = {}
        for finest in self._finest:
            proofs = filter(runs_pod, self._state.proofs(self._is_on(finest)))
            for index, proof in enumerate(proofs):
                if self._counts(proof, finest):
                    filled = self._proof(proof, f"states.{self._state.name}.{proof.kind}")
                    pod = self._bare_pod(filled, finest, NODE_NAME)
                    same = {**pod, "metadata": {**pod["metadata"], "labels": {}}}
                    key = json.dumps([index, same], sort_keys=True)
                    found.setdefault(key, []).append((finest, index, pod))
        return [item for alike in found.values() for item in self._validators_of(alike)]

    def _validators_of(self, alike: Sequence[tuple[Group, int, Obj]]) -> Iterator[_RenderedItem]:
        everywhere = len(alike) == len(self._finest)
        for finest, index, pod in alike[:1] if everywhere else alike:
            group = None if everywhere else finest
            names = [
                "validate",
                self._state.name.replace("_", "-"),
                *([str(index)] if index else []),
            ]
            name = "-".join([*names, *([finest.id] if group else [])])
            image = str(self._facts.options_of(finest)["node_agent_image"])
            context = self._context(group)
            yield _RenderedItem(validator(pod, name, image, context), group, "recipe.yml")

    def _own_proofs(self, placed: Sequence[RenderedObject], finest: Group | None) -> list[Proof]:
        """What the recipe does not say: what another format has for the objects of a group, and where
        nodes tell, that they do."""
        own = self._own_of(finest) if finest else None
        ours = {"", own.id} if own else {item.group for item in placed}
        manifests = [item.manifest for item in placed if item.group in ours]
        found = self._format.proofs(manifests) if self._format else []
        if self._by_nodes and self._state.name == NODE_AGENT:
            label = fact_label(self._recipe.name, AGENT_CONFIGURATION)
            equal = {label: self._agent_configuration.hash}
            found.append(Proof("node_labels", {"equal": equal}))
        elif self._by_nodes and any(item.manifest["kind"] == "DaemonSet" for item in placed):
            found.append(gate_proof(self._recipe.name, self._state.name))
        return found

    def _all_proofs(
        self, placed: Sequence[RenderedObject]
    ) -> tuple[tuple[Proof, ...], dict[str, tuple[int, ...]]]:
        """All proofs that count anywhere, and per finest group which of them do."""
        found: list[Proof] = []
        where: dict[str, tuple[int, ...]] = {}
        for finest in self._facts.groups_or_none:
            proofs = [*self._proofs(finest), *self._own_proofs(placed, finest)]
            found += [proof for proof in proofs if proof not in found]
            if finest:
                where[finest.id] = tuple(found.index(proof) for proof in proofs)
        return tuple(found), where

    def _proofs(self, finest: Group | None) -> list[Proof]:
        enabled = self._is_on(finest)
        key = "validate" if enabled else "disabled_validate"
        problems = Problems(self._path("recipe.yml"))
        proofs = []
        for index, proof in enumerate(self._state.proofs(enabled)):
            if not self._counts(proof, finest) or (self._by_nodes and runs_pod(proof)):
                continue
            path = f"states.{self._state.name}.{key}[{index}].{proof.kind}"
            made = self._proof(proof, path)
            if made.varies and proof.spec.get("scope") == "cluster":
                problems.add(
                    f"{path}.scope", "node, since its texts differ between nodes", "cluster"
                )
            # Those that differ between nodes are tried with each group, and a name that stands for
            # any node.
            groups = [group.id for group in self._finest] if made.varies else [""]
            for group in groups:
                spec = made.spec_for(group, _ANY_NODE)
                if spec != proof.spec:
                    KINDS[proof.kind].shape.check(spec, path, problems)
            proofs.append(made)
        problems.refuse("a proof cannot be used", todo="correct the recipe or its options")
        return proofs

    def _counts(self, proof: Proof, finest: Group | None) -> bool:
        """Whether a proof is turned on."""
        return not proof.enabled or bool(self._facts.options_of(finest)[proof.enabled])

    def _proof(self, proof: Proof, path: str) -> Proof:
        """A proof with its texts filled in; where they use facts of a node or what differs between
        pools, that is left for later."""
        where = f"recipe.yml, {path}"
        names = nested_texts.names_in(self._templates, proof.spec, where)
        options = nested_texts.options_in(self._templates, proof.spec, where)
        if not names & _VARYING and not differing(self._facts, options):
            return Proof(proof.kind, self._spec(proof, where, self._shared))

        def render(group: str, node: str) -> Mapping[str, Any]:
            finest = next((each for each in self._finest if each.id == group), None)
            variables = self._of_node(finest, node) if finest else {**self._shared, "node": node}
            return self._spec(proof, where, variables)

        return Proof(proof.kind, proof.spec, render=render)

    def _spec(self, proof: Proof, where: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a proof with its texts filled in; a template of a number gives a number."""
        keys = KINDS[proof.kind].shape.keys
        filled = nested_texts.rendered(self._templates, proof.spec, where, variables)
        rendered = {
            name
            for name, value in proof.spec.items()
            if isinstance(value, str) and is_template(value)
        }
        return {
            name: keys[name].shape.from_text(value) if name in rendered else value
            for name, value in filled.items()
        }

    def _of_node(
        self, finest: Group, node: str, names: frozenset[str] = frozenset()
    ) -> dict[str, Any]:
        """What is about one node sees all that is known of it, and its pool's options."""
        own = self._own_of(finest) or finest
        return self._variables(finest, finest, names) | group_names(own) | {"node": node}

    def _bare_pod(self, proof: Proof, finest: Group, node: str) -> Obj:
        pod = KINDS[proof.kind].pod_of(proof, finest.id, node)
        if pod is None:
            raise ValueError(f"a proof {proof.kind} runs no pod")
        path = pod.template
        variables = self._of_node(finest, node, self._templates.names_in(path))
        source = self._path(path)
        found = manifests_in(self._templates.render(path, variables), source, named=False)
        if len(found) != 1:
            raise InvalidInput(
                "a workload proof needs one Pod",
                where=source,
                why=f"its file holds {len(found)} objects",
            )
        context = self._context(finest)
        return self._inject(
            lambda manifest, _: inject.add_pod_metadata(manifest, context, pod.resource),
            _RenderedItem(found[0], finest, path),
        )

    def _check(self, objects: Sequence[RenderedObject], proofs: Sequence[Proof]) -> None:
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
        shared = [self._proven(item.manifest) for item in items if item.group is None]
        hashes = {"": content_hash([shared, [[proof.kind, dict(proof.spec)] for proof in proofs]])}
        for finest in self._finest:
            on, own = self._is_on(finest), self._own_of(finest)
            made = [
                self._proven(item.manifest)
                for item in items
                if on and own and item.group_id == own.id
            ]
            counted = [proofs[index] for index in proofs_on[finest.id]]
            specs = [[proof.kind, dict(proof.spec)] for proof in counted]
            validators = [
                self._bare_pod(proof, finest, _ANY_NODE)
                for proof in counted
                if KINDS[proof.kind].pod
            ]
            varying = [
                dict(proof.spec_for(finest.id, _ANY_NODE)) for proof in counted if proof.varies
            ]
            hashes[finest.id] = content_hash(
                [shared if on else [], made, specs, validators, *varying]
            )
        return hashes

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
        return place_of(self._recipe.files, self._recipe.source, path)
