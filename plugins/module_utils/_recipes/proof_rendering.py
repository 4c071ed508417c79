# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders the proofs of one state: their texts filled in, and the pods that they run on nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._errors import InvalidInput
from .._json import Obj
from .._nodes.groups import NodeGroup
from .._proofs.catalog import KINDS
from .._proofs.proof import Proof
from .._schema.problems import Problems
from .._schema.shapes import is_template
from . import inject
from .differences import differing
from .loading.recipe import Recipe, State
from .readiness.node_readiness import is_by_nodes, runs_pod
from .state_context import StateContext
from .state_groups import StateGroups
from .state_variables import StateVariables
from .switches import truth_of
from .templates.manifests import manifests_in
from .templates.render_facts import RenderFacts
from .templates.templating import Templates
from .variables import GROUP_NAMES

# Stands for the node's name in what is hashed: a proof does not depend on what its node is called.
ANY_NODE = "node"
# Texts of proofs that use one of these differ between nodes.
_VARYING = (GROUP_NAMES - {"image", "image_name"}) | {"node"}


class ProofRenderer:
    """The proofs of one state under given facts, group by group of the finest."""

    def __init__(
        self,
        recipe: Recipe,
        state: State,
        facts: RenderFacts,
        templates: Templates,
        groups: StateGroups,
        variables: StateVariables,
        context: StateContext,
    ) -> None:
        self._recipe = recipe
        self._state = state
        self._facts = facts
        self._templates = templates
        self._groups = groups
        self._variables = variables
        self._context = context
        self._by_nodes = is_by_nodes(facts.options)
        # (enabled, index) -> proof; what is filled in is the same for all groups.
        self._found: dict[tuple[bool, int], Proof] = {}

    def of_group(self, finest: NodeGroup | None) -> list[Proof]:
        """The recipe's proofs that a run looks at, of those that are turned on for a group; None
        where there is no node. Raises InvalidInput for settings that cannot be."""
        enabled = self._groups.is_on(finest)
        key = "validate" if enabled else "disabled_validate"
        problems = Problems(self._path("recipe.yml"))
        proofs = []
        for index, proof in enumerate(self._state.proofs.counting(enabled=enabled)):
            if not self._counts(proof, finest) or (self._by_nodes and runs_pod(proof)):
                continue
            if (enabled, index) not in self._found:
                path = f"states.{self._state.name}.{key}[{index}].{proof.kind}"
                made = self._found[enabled, index] = self._filled(proof, path)
                self._check(proof, made, path, problems)
            proofs.append(self._found[enabled, index])
        problems.refuse("a proof cannot be used", todo="correct the recipe or its options")
        return proofs

    def run_by_nodes(self, finest: NodeGroup, node: str) -> Iterator[tuple[int, Obj]]:
        """The pods of the proofs that nodes of a group start by themselves, each with its number
        among such proofs. node: stands for the node's name."""
        proofs = filter(runs_pod, self._state.proofs.counting(enabled=self._groups.is_on(finest)))
        for index, proof in enumerate(proofs):
            if self._counts(proof, finest):
                filled = self._filled(proof, f"states.{self._state.name}.{proof.kind}")
                yield index, self.pod(filled, finest, node)

    def pod(self, proof: Proof, finest: NodeGroup, node: str) -> Obj:
        """The pod of a proof for a node of a group, not yet kept to that node."""
        wanted = KINDS[proof.kind].pod_of(proof, finest.id, node)
        if wanted is None:
            raise ValueError(f"a proof {proof.kind} runs no pod")
        path, source = wanted.template, self._path(wanted.template)
        variables = self._of_node(finest, node, self._templates.names_in(path))
        found = manifests_in(self._templates.render(path, variables), source, named=False)
        if len(found) != 1:
            raise InvalidInput(
                "a workload proof needs one Pod",
                where=source,
                why=f"its file holds {len(found)} objects",
            )
        return self._context.injected(
            lambda pod, context: inject.add_pod_metadata(pod, context, wanted.resource),
            found[0],
            finest,
            path,
        )

    def _counts(self, proof: Proof, finest: NodeGroup | None) -> bool:
        """Whether a proof is turned on; one that asks for facts of nodes is where there is no node."""
        if not is_template(proof.enabled):
            return not proof.enabled or bool(self._facts.options_of(finest)[proof.enabled])
        if finest is None:
            return True
        where = f"recipe.yml, states.{self._state.name}, {proof.kind}.enabled"
        variables = self._variables.of_group(finest, finest, frozenset())
        text = self._templates.render_text(proof.enabled, where, variables)
        what = f"proof {proof.kind} of state {self._state.name}"
        return truth_of(text, what, self._path("recipe.yml"))

    def _check(self, proof: Proof, made: Proof, path: str, problems: Problems) -> None:
        """Add what is wrong with the settings of a proof, now that its texts are filled in."""
        if made.varies and proof.spec.get("scope") == "cluster":
            problems.add(f"{path}.scope", "node, since its texts differ between nodes", "cluster")
        # Those that differ between nodes are tried with each group, and a name that stands for
        # any node.
        for group in [each.id for each in self._groups.finest] if made.varies else [""]:
            spec = made.spec_for(group, ANY_NODE)
            if spec != proof.spec:
                KINDS[proof.kind].shape.check(spec, path, problems)

    def _filled(self, proof: Proof, path: str) -> Proof:
        """A proof with its texts filled in; where they use facts of a node or what differs between
        pools, that is left for later."""
        where = f"recipe.yml, {path}"
        names = _names_in(self._templates, proof.spec, where)
        options = _options_in(self._templates, proof.spec, where)
        if not names & _VARYING and not differing(self._facts, options):
            return Proof(proof.kind, self._spec(proof, where, self._variables.shared))

        def render(group: str, node: str) -> Mapping[str, Any]:
            finest = next((each for each in self._groups.finest if each.id == group), None)
            variables = self._of_node(finest, node) if finest else self._variables.of_any_node(node)
            return self._spec(proof, where, variables)

        return Proof(proof.kind, proof.spec, render=render)

    def _spec(self, proof: Proof, where: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a proof with its texts filled in; a template of a number gives a number."""
        keys = KINDS[proof.kind].shape.keys
        filled = _rendered(self._templates, proof.spec, where, variables)
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
        self, finest: NodeGroup, node: str, names: frozenset[str] = frozenset()
    ) -> dict[str, Any]:
        return self._variables.of_node(self._groups.own_of(finest), finest, node, names)

    def _path(self, path: str) -> str:
        return self._templates.place_of(path)


def _names_in(templates: Templates, value: Any, path: str) -> frozenset[str]:
    """The variables that texts ask for. path: where the value stands, for messages."""
    return frozenset().union(
        *(templates.names_in_text(text, path) for text in _templates_in(value))
    )


def _options_in(templates: Templates, value: Any, path: str) -> frozenset[str] | None:
    """The options that texts ask for; None where only rendering tells."""
    found = [templates.options_in_text(text, path) for text in _templates_in(value)]
    return None if None in found else frozenset().union(*(options for options in found if options))


def _rendered(templates: Templates, value: Any, path: str, variables: Mapping[str, Any]) -> Any:
    """The value with all its texts rendered."""
    if isinstance(value, str):
        return templates.render_text(value, path, variables) if is_template(value) else value
    if isinstance(value, Mapping):
        return {
            key: _rendered(templates, item, f"{path}.{key}", variables)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            _rendered(templates, item, f"{path}[{index}]", variables)
            for index, item in enumerate(value)
        ]
    return value


def _templates_in(value: Any) -> Iterator[str]:
    """The texts in a value that are templates."""
    if isinstance(value, str):
        if is_template(value):
            yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _templates_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from _templates_in(item)
