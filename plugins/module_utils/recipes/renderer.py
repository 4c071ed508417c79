# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders one state: its files once or once per kernel group, its proofs, its validation pods, and the hashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.labels import gate_label
from ansible_collections.hardware.enablement.plugins.module_utils.errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.catalog import KINDS
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.proof import Proof
from ansible_collections.hardware.enablement.plugins.module_utils.recipes import inject
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.facts import (
    Group,
    Obj,
    RenderedObject,
    RenderedState,
    RenderFacts,
    Skipped,
)
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.manifests import (
    ObjectId,
    identity,
    manifests_in,
    title,
)
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.model import Recipe, State
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.requirements import (
    enabled_states,
    gating_states,
    node_label_sets,
)
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.templating import Templates
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.variables import (
    GROUP_NAMES,
    cluster_variables,
    group_variables,
    image_of,
    image_states,
    image_variables,
)
from ansible_collections.hardware.enablement.plugins.module_utils.schema.problems import Problems
from ansible_collections.hardware.enablement.plugins.module_utils.schema.shapes import is_template

# Stands for the node's name in what is hashed: a proof does not depend on what its node is called.
_ANY_NODE = "node"
# Texts of proofs that use one of these differ between nodes.
_VARYING = (GROUP_NAMES - {"image"}) | {"node"}
_RUNNING = frozenset(("DaemonSet", "Deployment", "StatefulSet", "Job", "CronJob"))


@dataclass(frozen=True)
class _Item:
    """An object on its way: group is None where it is for all kernel groups; source is the file."""

    manifest: Obj
    group: Group | None
    source: str

    @property
    def group_id(self) -> str:
        return self.group.id if self.group else ""


class StateRenderer:
    """One state of a recipe under given facts."""

    def __init__(self, recipe: Recipe, state: State, facts: RenderFacts, templates: Templates | None = None) -> None:
        """templates: those of the recipe, where the caller wants to see what is done with them."""
        self._recipe = recipe
        self._state = state
        self._facts = facts
        self._groups = sorted(facts.groups, key=lambda group: group.id)
        self._templates = templates or Templates(recipe.files, recipe.source)
        self._enabled = enabled_states(recipe, facts.options)
        self._label_sets = node_label_sets(recipe, facts.options)
        self._gates = [gate_label(recipe.name, name) for name in gating_states(recipe, self._enabled, state.name)]
        self._shared = cluster_variables(recipe, state, facts)
        self._image_names = {source.name for source in image_states(recipe, state)} | {"image"}
        self._scopes: dict[tuple[str, str], bool] = {}

    def state(self) -> RenderedState:
        """The state's objects, what was left out, its proofs and hashes."""
        name, enabled = self._state.name, self._enabled[self._state.name]
        skipped: list[Skipped] = []
        items = list(self._items(skipped)) if enabled else []
        self._learn_scopes(items)
        dressed = [replace(item, manifest=self._inject(inject.dress, item)) for item in items]
        placed = [
            RenderedObject(self._inject(inject.place, item), item.group_id, self._path(item.source)) for item in dressed
        ]
        proofs = self._proofs(enabled)
        self._check(placed, proofs)
        return RenderedState(name, enabled, proofs, tuple(placed), tuple(skipped), self._hashes(dressed, proofs))

    def pod(self, proof: Proof, group: Group, node: str) -> Obj:
        """The validation pod of a workload proof on a node of the group."""
        return inject.place_validator(self._bare_pod(proof, group, node), self._context(group), node)

    def images(self) -> dict[str, str]:
        """The state's own image per kernel group's id; none where it is disabled."""
        if not (self._state.image or self._state.build) or not self._enabled[self._state.name]:
            return {}
        return {group.id: self._image_of(self._state, group) for group in self._groups}

    def _items(self, skipped: list[Skipped]) -> Iterator[_Item]:
        for asset in self._state.assets:
            if asset.needs_api and not self._serves(asset.needs_api):
                reason = f"the cluster does not serve {asset.needs_api}"
                skipped += [Skipped(self._path(path), reason, asset.needs_api) for path in asset.files]
                continue
            for path in asset.files:
                yield from self._items_of(path)

    def _items_of(self, path: str) -> Iterator[_Item]:
        names = self._templates.names_in(path)
        if self._state.per != "kernel" or not names & (GROUP_NAMES | self._image_names):
            for manifest in manifests_in(self._templates.render(path, self._shared), self._path(path)):
                yield _Item(manifest, None, path)
            return
        for group in self._groups:
            if names & self._image_names and not self._has_image(group):
                continue
            text = self._templates.render(path, {**self._shared, **self._group_variables(group, names)})
            for manifest in manifests_in(text, f"{self._path(path)}, kernel group {group.id}"):
                if group.id not in manifest["metadata"]["name"]:
                    raise InvalidInput(
                        f"{title(manifest)} would be the same object for every kernel",
                        where=self._path(path),
                        why="its file uses kernel facts, so it is made once per kernel group",
                        todo="put {{ group.id }} into its name, or move it to a file that uses no kernel facts",
                    )
                yield _Item(manifest, group, path)

    def _group_variables(self, group: Group, names: frozenset[str]) -> dict[str, Any]:
        """Images only where they are asked for: one that cannot be resolved hurts nobody else."""
        variables = group_variables(group)
        if names & self._image_names:
            variables |= image_variables(self._recipe, self._state, lambda state: self._image_of(state, group))
        return variables

    def _has_image(self, group: Group) -> bool:
        """Whether every image that the state's templates see is there for this kernel group."""
        states = image_states(self._recipe, self._state)
        return all(self._image_of(state, group) for state in states)

    def _image_of(self, state: State, group: Group) -> str:
        """The image of a state that these templates see; a disabled one is not asked for any."""
        if not self._enabled[state.name]:
            return ""
        return image_of(self._recipe, state, self._facts, group, self._templates)

    def _serves(self, api: str) -> bool:
        apis = self._facts.apis
        return api in apis if isinstance(apis, frozenset) else apis(api)

    def _learn_scopes(self, items: Sequence[_Item]) -> None:
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
            part_of=self._facts.part_of,
            namespace=self._facts.namespace,
            namespaced=self._namespaced,
            options=self._facts.options,
            resources=self._recipe.resources,
            label_sets=self._label_sets,
            group_terms=group.terms if group else (),
            gates=self._gates,
            anywhere=self._state.placement == "anywhere",
        )

    def _inject(self, step: Callable[[Obj, inject.Context], Obj], item: _Item) -> Obj:
        try:
            return step(item.manifest, self._context(item.group))
        except InvalidInput as error:
            raise InvalidInput(error.what, where=self._path(item.source), why=error.why, todo=error.todo) from None

    def _proofs(self, enabled: bool) -> tuple[Proof, ...]:
        key = "validate" if enabled else "disabled_validate"
        problems = Problems(self._path("recipe.yml"))
        proofs = []
        for index, proof in enumerate(self._state.proofs(enabled)):
            if proof.enabled and not self._facts.options[proof.enabled]:
                continue
            path = f"states.{self._state.name}.{key}[{index}].{proof.kind}"
            made = self._proof(proof, path)
            if made.varies and proof.spec.get("scope") == "cluster":
                problems.add(f"{path}.scope", "node, since its texts differ between nodes", "cluster")
            # Those that differ between nodes are tried with each group, and a name that stands for any node.
            groups = [group.id for group in self._groups] if made.varies else [""]
            for group in groups:
                spec = made.spec_for(group, _ANY_NODE)
                if spec != proof.spec:
                    KINDS[proof.kind].shape.check(spec, path, problems)
            proofs.append(made)
        problems.refuse("a proof cannot be used", todo="correct the recipe or its options")
        return tuple(proofs)

    def _proof(self, proof: Proof, path: str) -> Proof:
        """A proof with its texts filled in; where they use facts of a group or the node, that is left for later."""
        where = f"recipe.yml, {path}"
        if not self._names_in(proof.spec, where) & _VARYING:
            return Proof(proof.kind, self._filled_in(proof.spec, where, self._shared))

        def render(group: str, node: str) -> Mapping[str, Any]:
            facts = next((group_variables(each) for each in self._groups if each.id == group), {})
            return dict(self._filled_in(proof.spec, where, {**self._shared, **facts, "node": node}))

        return Proof(proof.kind, proof.spec, render=render)

    def _names_in(self, value: Any, path: str) -> frozenset[str]:
        """The variables that texts ask for."""
        if isinstance(value, str):
            return self._templates.names_in_text(value, path) if is_template(value) else frozenset()
        inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
        return frozenset().union(*(self._names_in(item, path) for item in inner))

    def _filled_in(self, value: Any, path: str, variables: Mapping[str, Any]) -> Any:
        if isinstance(value, str):
            return self._templates.render_text(value, path, variables) if is_template(value) else value
        if isinstance(value, Mapping):
            return {key: self._filled_in(item, f"{path}.{key}", variables) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled_in(item, f"{path}[{index}]", variables) for index, item in enumerate(value)]
        return value

    def _bare_pod(self, proof: Proof, group: Group, node: str) -> Obj:
        pod = KINDS[proof.kind].pod_of(proof)
        if pod is None:
            raise ValueError(f"a proof {proof.kind} runs no pod")
        path = pod.template
        variables = {**self._shared, **self._group_variables(group, self._templates.names_in(path)), "node": node}
        source = self._path(path)
        found = manifests_in(self._templates.render(path, variables), source, named=False)
        if len(found) != 1:
            raise InvalidInput(
                "a workload proof needs one Pod", where=source, why=f"its file holds {len(found)} objects"
            )
        context = self._context(group)
        return self._inject(
            lambda manifest, _: inject.dress_validator(manifest, context, pod.resource),
            _Item(found[0], group, path),
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

    def _hashes(self, items: Sequence[_Item], proofs: Sequence[Proof]) -> dict[str, str]:
        specs = [[proof.kind, dict(proof.spec)] for proof in proofs]
        shared = [item.manifest for item in items if item.group is None]
        hashes = {"": _hash([shared, specs])}
        for group in self._groups:
            own = [item.manifest for item in items if item.group_id == group.id]
            validators = [self._bare_pod(proof, group, _ANY_NODE) for proof in proofs if KINDS[proof.kind].pod]
            varying = [dict(proof.spec_for(group.id, _ANY_NODE)) for proof in proofs if proof.varies]
            hashes[group.id] = _hash([shared, own, specs, validators, *varying])
        return hashes

    def _path(self, path: str) -> str:
        source = self._recipe.source.rstrip("/")
        return f"{source}/{path}" if source else path


def _hash(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
