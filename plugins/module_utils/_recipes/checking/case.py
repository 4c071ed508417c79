# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One combination of options on one made-up cluster: what it is rendered with, and what has been."""

from __future__ import annotations

from collections.abc import Sequence

from ..._json import Obj
from ..loading.recipe import Recipe, State
from ..renderer import StateRenderer, remedy_proof
from ..requirements import Enabled
from ..switches import enabled_states
from ..templates.render_facts import RenderedState, RenderFacts
from .mending import without_text
from .recording import RecordingTemplates

_NODE = "sample-node"


class Case:
    """A recipe under given facts. recipe: without the texts of recipe.yml that are wrong with it.
    title: the case in words, for findings."""

    def __init__(
        self, recipe: Recipe, facts: RenderFacts, templates: RecordingTemplates, title: str
    ) -> None:
        self.recipe = recipe
        self.facts = facts
        self.templates = templates
        self.title = title
        self._enabled: Enabled | None = None
        self._renderers: dict[str, StateRenderer] = {}
        self._pods: dict[str, list[tuple[Obj, str]]] = {}

    @property
    def group_ids(self) -> set[str]:
        """What names of objects may differ by."""
        pers = {state.per for state in self.recipe.states.values()}
        return {key for per in pers for key in self.facts.groups_of(per)}

    def render(self, name: str) -> RenderedState:
        """A state with its validation pods. Its renderer is kept for its images. Raises
        InvalidInput."""
        renderer = self._new_renderer(name)
        state = renderer.state(hashed=False)
        self._pods[name] = [
            (renderer.pod(proof, group, _NODE), str(proof.spec["pod"]))
            for proof in state.proofs
            if proof.kind == "workload"
            for group in self.facts.groups
        ]
        self._renderers[name] = renderer
        return state

    def pods(self, name: str) -> list[tuple[Obj, str]]:
        """The validation pods of a state that was rendered, each with its file."""
        return self._pods[name]

    def remedy_pods(self, template: str) -> list[Obj]:
        """The pods of a remedy, which no state renders. Raises InvalidInput."""
        renderer = self.renderer(self.recipe.remedies.states[0])
        proof = remedy_proof(template)
        return [renderer.pod(proof, group, _NODE) for group in self.facts.groups]

    def renderer(self, name: str) -> StateRenderer:
        """The one that has rendered a state, another one where that did not work out. Raises
        InvalidInput."""
        return self._renderers.get(name) or self._new_renderer(name)

    def mend(self, paths: Sequence[str]) -> bool:
        """Go on without these texts of recipe.yml; returns whether that is possible, and something
        else."""
        for path in paths:
            recipe = without_text(self.recipe, path)
            if recipe is None:
                return False
            self.recipe = recipe
            self._enabled = None
            self._renderers.clear()
        return bool(paths)

    def mend_proofs_of(self, name: str, pod: str) -> bool:
        """Go on without the proofs of a state that run the pod of a file."""
        return self.mend(_proofs_with(self.recipe.states[name], pod))

    def _new_renderer(self, name: str) -> StateRenderer:
        if self._enabled is None:
            self._enabled = enabled_states(self.recipe, self.facts)
        state = self.recipe.states[name]
        return StateRenderer(self.recipe, state, self.facts, self.templates, self._enabled)


def _proofs_with(state: State, pod: str) -> list[str]:
    """The paths in recipe.yml of the proofs that run the pod of a file."""
    return [
        f"states.{state.name}.{key}[{index}]"
        for key, proofs in (
            ("validate", state.proofs.validate),
            ("disabled_validate", state.proofs.disabled_validate),
        )
        for index, proof in enumerate(proofs)
        if proof.spec.get("pod") == pod
    ]
