# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders the states of a recipe on a made-up cluster, and looks at every object that comes out.
Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..._errors import InvalidInput
from ..._json import Obj
from ..._schema.problems import InputProblems
from ..building import render_build
from ..loading.lookups import settled
from ..loading.options import resolve
from ..loading.recipe import Recipe, State
from ..readiness.node_readiness import ReadinessError, with_node_agent
from ..renderer import StateRenderer, remedy_proof
from ..requirements import Enabled
from ..switches import enabled_states
from ..templates.documents import Lines
from ..templates.manifests import ObjectId, identity, title
from ..templates.overlay import RECIPE_FILE, place_of
from ..templates.render_facts import RenderedState, RenderFacts
from ..templates.templating import TemplateError
from .api_types import ApiTypes
from .fields import FieldProblem, check_fields
from .findings import WARNING, Findings
from .locating import Locator, line_of_key, objects_in, rendered_line
from .mending import without_text
from .object_names import check_images, check_names, images_of
from .object_rules import check_rules
from .recording import RecordingTemplates
from .sample_clusters import SampleCluster, coarse
from .variants import SAMPLE, Variant

_NODE = "sample-node"


class _Case:
    """One combination of options on one cluster. recipe: without the texts of recipe.yml that are
    wrong with it."""

    def __init__(
        self, recipe: Recipe, facts: RenderFacts, templates: RecordingTemplates, title: str
    ) -> None:
        self.recipe = recipe
        self.facts = facts
        self.templates = templates
        self.title = title
        self._enabled: Enabled | None = None
        self._renderers: dict[str, StateRenderer] = {}

    @property
    def group_ids(self) -> set[str]:
        """What names of objects may differ by."""
        pers = {state.per for state in self.recipe.states.values()}
        return {key for per in pers for key in self.facts.groups_of(per)}

    def go_on_with(self, recipe: Recipe) -> None:
        """From now on the recipe is this one, of which nothing has been rendered yet."""
        self.recipe = recipe
        self._enabled = None
        self._renderers.clear()

    def rendered(self, name: str) -> RenderedState:
        """A state, whose renderer is kept for its images and pods. Raises InvalidInput."""
        renderer = self._new_renderer(name)
        state = renderer.state()
        self._renderers[name] = renderer
        return state

    def renderer(self, name: str) -> StateRenderer:
        """The one that has rendered a state, another one where that did not work out. Raises
        InvalidInput."""
        return self._renderers.get(name) or self._new_renderer(name)

    def _new_renderer(self, name: str) -> StateRenderer:
        if self._enabled is None:
            self._enabled = enabled_states(self.recipe, self.facts)
        state = self.recipe.states[name]
        return StateRenderer(self.recipe, state, self.facts, self.templates, self._enabled)


@dataclass(frozen=True)
class Made:
    """An object that a recipe makes. per_group: one for each kernel group, so that its name is not
    known beforehand."""

    manifest: Obj
    per_group: bool


class Trials:
    """All trials of one recipe. variables: what templates were given, name -> what it holds (None
    for a plain value).

    images: those of the first combination on each cluster. objects: the same, all_objects: those of
    all combinations; recipe_lines: of recipe.yml.
    """

    def __init__(
        self,
        recipe: Recipe,
        types: ApiTypes,
        recipe_lines: Lines,
        findings: Findings,
        namespace: str,
    ) -> None:
        self.variables: dict[str, set[str] | None] = {}
        self.images: set[str] = set()
        self.objects: dict[str, Made] = {}
        self.all_objects: dict[str, Made] = {}
        self.recipe = recipe
        self._namespace = namespace
        self._types = types
        self._recipe_lines = recipe_lines
        self._findings = findings
        self._locator = Locator(recipe.files)
        # Where files are said to be -> their path in the recipe.
        self._places = {place_of(recipe.files, recipe.source, path): path for path in recipe.files}
        self._seen: set[str] = set()
        self._template_errors: list[tuple[TemplateError, str]] = []

    def first(self, cluster: SampleCluster, variant: Variant) -> dict[str, RenderedState]:
        """Render every state, and take down what is there."""
        case = self._case(cluster, variant)
        states = list(case.recipe.states)
        found = self._render(case, states)
        manifests = self._check_rendering(case, states, found, {})
        _add(self.objects, found)
        images = {image for manifest in manifests for _path, image in images_of(manifest)}
        self.images |= {image for image in images if not _is_made_up(image)}
        return found

    def again(
        self,
        cluster: SampleCluster,
        variant: Variant,
        states: Sequence[str],
        beside: Mapping[str, RenderedState],
    ) -> dict[str, RenderedState]:
        """Render the states that are different in this combination; beside: all of them, as the
        others are."""
        case = self._case(cluster, variant)
        added = [name for name in case.recipe.states if name not in self.recipe.states]
        found = self._render(case, [*states, *added])
        self._check_rendering(case, states, found, beside)
        return found

    def report_template_errors(self) -> None:
        """Take down the templates that could not be rendered, unless that line is known to be wrong
        already."""
        known = {(finding.file, finding.line) for finding in self._findings.sorted("error")}
        for error, seen_with in self._template_errors:
            file, line = error.file, error.line
            if file.startswith(RECIPE_FILE):
                line = line_of_key(self._recipe_lines, file.partition(", ")[2])
                file = RECIPE_FILE
            if (file, line) not in known:
                self._findings.add(file, line, error.why, seen_with=seen_with)

    def _case(self, cluster: SampleCluster, variant: Variant) -> _Case:
        options = resolve(self.recipe, variant.options, complete=False)
        facts = RenderFacts(
            namespace=self._namespace,
            options=options,
            groups=[group for group in cluster.groups if self._fits(group.kernel)],
            applyset_id="applyset-sample",
            namespaced=self._namespaced,
            cluster={"platform": cluster.platform, **cluster.facts},
            coarse=coarse,
            driver_toolkits=cluster.driver_toolkits,
            apis=lambda api: cluster.serves(api, self._types),
        )
        parts = [
            variant.title,
            f"the cluster {cluster.name}" if cluster.platform != "kubernetes" else "",
        ]
        templates = RecordingTemplates(self.recipe.files, self.recipe.source)
        recipe = with_node_agent(settled(self.recipe, options), options, {})
        return _Case(recipe, facts, templates, " on ".join(filter(None, parts)))

    def _fits(self, kernel: str) -> bool:
        """Charts write kernels into tags of images, which hold no +: nothing that their authors
        could mend."""
        return self.recipe.format is None or "+" not in kernel

    def _namespaced(self, api_version: str, kind: str) -> bool | None:
        """Asked anew each time: a recipe may bring CRDs."""
        return self._types.namespaced(api_version, kind)

    def _render(self, case: _Case, names: Sequence[str]) -> dict[str, RenderedState]:
        found = {name: self._render_state(case, name) for name in names}
        self._template_errors += [(error, case.title) for error in case.templates.errors]
        for name in names:
            self._render_images(case, name)
        for rendering in (
            each for renderings in case.templates.renderings.values() for each in renderings
        ):
            for name, value in rendering.variables.items():
                known = self.variables.setdefault(name, set() if isinstance(value, dict) else None)
                if known is not None and isinstance(value, dict):
                    known.update(value)
        return {name: state for name, state in found.items() if state is not None}

    def _render_state(self, case: _Case, name: str) -> RenderedState | None:
        """A state, without the files and texts that something is wrong with; None where more is."""
        while True:
            try:
                return case.rendered(name)
            except ReadinessError:
                # The recipe is sound; this option is not for it.
                return None
            except InvalidInput as error:
                if not self._goes_on_without(error, case, name):
                    return None

    def _goes_on_without(self, error: InvalidInput, case: _Case, name: str) -> bool:
        """Take down what is wrong, and leave it out of the case; returns whether that is possible."""
        if isinstance(error, TemplateError):  # in a text of recipe.yml
            self._template_errors.append((error, case.title))
            return self._mend(case, [error.file.removeprefix(f"{RECIPE_FILE}, ")])
        if isinstance(error, InputProblems):  # in the settings of a proof
            for problem in error.problems:
                line = line_of_key(self._recipe_lines, problem.path)
                self._findings.add(RECIPE_FILE, line, problem.text, seen_with=case.title)
            return self._mend(case, [problem.path for problem in error.problems])
        file = self._file_of(error)
        if not file:
            self._findings.add(
                RECIPE_FILE, line_of_key(self._recipe_lines, f"states.{name}"), _text(error)
            )
            return False
        if file in case.templates.without:
            return self._mend(case, _proofs_with(case.recipe.states[name], file))
        self._take_down(error, file, case)
        case.templates.without.add(file)
        # What is wrong with its objects together hides nothing that is wrong with one of them.
        for rendering in case.templates.renderings.get(file, []):
            for manifest, _lines, _path in objects_in(rendering.text):
                if isinstance(manifest.get("apiVersion"), str) and isinstance(
                    manifest.get("metadata"), dict
                ):
                    self._check_object(manifest, file, case)
        return True

    @staticmethod
    def _mend(case: _Case, paths: Sequence[str]) -> bool:
        """Go on without these texts of recipe.yml; returns whether that is possible, and something
        else."""
        for path in paths:
            recipe = without_text(case.recipe, path)
            if recipe is None:
                return False
            case.go_on_with(recipe)
        return bool(paths)

    def _render_images(self, case: _Case, name: str) -> None:
        """Whether a build gets all it needs is up to the user's options; the templates are the
        recipe's."""
        try:
            case.renderer(name).images()
        except TemplateError as error:
            self._template_errors.append((error, case.title))
        except InvalidInput as error:
            line = line_of_key(self._recipe_lines, f"states.{name}.image")
            self._findings.add(
                RECIPE_FILE, line, _text(error), seen_with=case.title, same_as=error.what
            )
        for group in case.facts.groups if case.recipe.states[name].build else ():
            try:
                render_build(case.recipe, case.recipe.states[name], case.facts, group)
            except TemplateError as error:
                self._template_errors.append((error, case.title))
            except InvalidInput:
                continue

    def _file_of(self, error: InvalidInput) -> str:
        """The file that an error names: where it is, or the last one of those that do not go
        together."""
        files = self._places
        for text in (error.where, error.why):
            places = [
                (text.rfind(place), len(place), path)
                for place, path in files.items()
                if place in text
            ]
            if places:
                return max(places)[2]
        return ""

    def _take_down(self, error: InvalidInput, file: str, case: _Case) -> None:
        """An error that names a file, with the line of the template if that can be told."""
        place: tuple[str, int] | None = None
        renderings = case.templates.renderings.get(file, [])
        if "(as rendered)" in error.where and renderings:
            place = self._locator.line_of_text(renderings[-1], rendered_line(error.where))
        elif renderings:
            place = self._locator.line_of_title(
                renderings, error.what
            ) or self._locator.line_of_document(renderings[-1], error.where)
        line = 0 if "(as rendered)" in error.where else rendered_line(error.where)
        self._findings.add(*(place or (file, line)), _text(error), seen_with=case.title)

    def _check_rendering(
        self,
        case: _Case,
        names: Sequence[str],
        found: Mapping[str, RenderedState],
        beside: Mapping[str, RenderedState],
    ) -> list[Obj]:
        """Take down what is wrong with the objects of these states; returns them, with their pods."""
        self._check_doubles(case, {**beside, **found})
        objects = [
            (item.manifest, item.source) for state in found.values() for item in state.objects
        ]
        for manifest, _source in objects:
            if manifest["kind"] == "CustomResourceDefinition":
                self._types = self._types.with_crd(manifest)
        _add(self.all_objects, found)
        objects += self._validation_pods(case, found)
        if any(name in names for name in self.recipe.remedies.states[:1]):
            objects += self._remedy_pods(case)
        for manifest, source in objects:
            key = json.dumps(manifest, sort_keys=True)
            if key not in self._seen:
                self._seen.add(key)
                self._check_object(manifest, self._relative(source), case)
        return [manifest for manifest, _source in objects]

    def _check_object(self, manifest: Obj, file: str, case: _Case) -> None:
        problems: list[FieldProblem] = [
            *check_fields(manifest, self._types),
            *check_names(manifest),
            *check_rules(manifest),
            *check_images(manifest),
        ]
        renderings = case.templates.renderings.get(file, [])
        for problem in problems:
            place = self._locator.line_of_field(
                renderings, manifest, problem.path
            ) or self._likely_place(file, manifest, problem.path)
            text = f"{title(manifest)}: {problem.text}"
            # What is wrong for one kernel group is mostly wrong for all of them.
            same_as = re.sub(r"\d+", "", _without(problem.text, case.group_ids))
            self._findings.add(*place, text, seen_with=case.title, same_as=same_as)
        api_version, kind = str(manifest["apiVersion"]), str(manifest["kind"])
        if self._types.kind(api_version, kind) is None:
            place = self._locator.line_of_field(
                renderings, manifest, ("kind",)
            ) or self._likely_place(file, manifest, ("kind",))
            meant = self._types.suggested(api_version, kind)
            if meant:
                self._findings.add(
                    *place, f"there is no {api_version} {kind}{meant}", seen_with=case.title
                )
                return
            text = f"{api_version} {kind} is not known here: its fields were not checked, and its plural is a guess"
            self._findings.add(*place, text, severity=WARNING)

    def _likely_place(
        self, file: str, manifest: Obj, field: Sequence[str | int]
    ) -> tuple[str, int]:
        """Where no rendering of ours tells: what the recipe's own format makes of it."""
        found = self.recipe.format
        return file, found.line_of(file, manifest, field) if found else 0

    def _check_doubles(self, case: _Case, states: Mapping[str, RenderedState]) -> None:
        """An object belongs to one state."""
        first: dict[ObjectId, tuple[str, str]] = {}
        for name, state in states.items():
            for item in state.objects:
                other, source = first.setdefault(identity(item.manifest), (name, item.source))
                if other != name:
                    file = self._relative(item.source)
                    renderings = case.templates.renderings.get(file, [])
                    place = self._locator.line_of_field(
                        renderings, item.manifest, ("metadata", "name")
                    ) or (file, 0)
                    maker = self._relative(source)
                    text = f"{title(item.manifest)} belongs to two states: {maker} makes it for {other}"
                    self._findings.add(
                        *place, f"{text}, and this file for {name}", seen_with=case.title
                    )

    def _validation_pods(
        self, case: _Case, states: Mapping[str, RenderedState]
    ) -> Iterator[tuple[Obj, str]]:
        for name, state in states.items():
            renderer = case.renderer(name)
            for proof in state.proofs:
                if proof.kind == "workload" and proof.spec["pod"] not in case.templates.without:
                    for group in case.facts.groups:
                        yield renderer.pod(proof, group, _NODE), str(proof.spec["pod"])

    def _remedy_pods(self, case: _Case) -> Iterator[tuple[Obj, str]]:
        """No state renders them, so that what is wrong with them shows here first."""
        for template in self.recipe.remedies.pods:
            try:
                renderer = case.renderer(self.recipe.remedies.states[0])
                for group in case.facts.groups:
                    yield renderer.pod(remedy_proof(template), group, _NODE), template
            except TemplateError as error:
                self._template_errors.append((error, case.title))
            except InvalidInput as error:
                self._findings.add(template, 0, _text(error), seen_with=case.title)

    def _relative(self, source: str) -> str:
        """The path in the recipe of what an object comes from: a file, or a part of one."""
        own = source.removeprefix(f"{self.recipe.source.rstrip('/')}/")
        return self._places.get(source, own)


def _add(known: dict[str, Made], states: Mapping[str, RenderedState]) -> None:
    """Take down what is made; a namespace with the labels that it has on any of the clusters."""
    for item in (item for state in states.values() for item in state.objects):
        manifest, content = item.manifest, _content(item.manifest)
        if manifest["kind"] == "Namespace" and content in known:
            manifest = _with_labels_of(known[content].manifest, manifest)
        known[content] = Made(manifest, bool(item.group))


def _with_labels_of(other: Obj, manifest: Obj) -> Obj:
    metadata = manifest["metadata"]
    labels = {**(other["metadata"].get("labels") or {}), **(metadata.get("labels") or {})}
    return {**manifest, "metadata": {**metadata, "labels": labels}}


def _content(manifest: Obj) -> str:
    """What tells objects apart that need other rights: whose they are, and what they grant."""
    return json.dumps(
        [identity(manifest), manifest.get("rules"), manifest.get("roleRef")], sort_keys=True
    )


def _proofs_with(state: State, pod: str) -> list[str]:
    """The paths in recipe.yml of the proofs that run the pod of a file."""
    return [
        f"states.{state.name}.{key}[{index}]"
        for key, proofs in (
            ("validate", state.validate),
            ("disabled_validate", state.disabled_validate),
        )
        for index, proof in enumerate(proofs)
        if proof.spec.get("pod") == pod
    ]


def _is_made_up(image: str) -> bool:
    """Whether only a user, or a build, knows what will stand there."""
    return SAMPLE in image or image.startswith("unresolved.invalid/")


def _without(text: str, words: Iterable[str]) -> str:
    for word in words:
        text = text.replace(word, "")
    return text


def _text(error: InvalidInput) -> str:
    return str(InvalidInput(error.what, why=error.why, todo=error.todo))
