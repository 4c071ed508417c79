# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders the states of a recipe on a made-up cluster, with one combination of options after the
other, and takes down what is wrong. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..._errors import InvalidInput
from ..._json import Obj
from ..._schema.problems import InputProblems
from ..building import render_build
from ..loading.lookups import settled
from ..loading.options import resolve
from ..loading.recipe import Recipe
from ..readiness.node_readiness import ReadinessError, with_node_agent
from ..readiness_rules import with_readiness_rule
from ..templates.documents import Lines
from ..templates.overlay import RECIPE_FILE
from ..templates.render_facts import ClusterApi, RenderedState, RenderFacts
from ..templates.templating import TemplateError
from ..unsupported import unsupported
from .api_types import ApiTypes
from .case import Case
from .findings import Findings
from .locating import Locator, line_of_key, objects_in
from .made import MadeObjects
from .object_check import ObjectCheck
from .object_names import images_of
from .recording import RecordingTemplates, Rendering
from .sample_clusters import MADE_UP_TOOLKIT, SampleCluster, allocated_in_all_ways, coarse
from .variants import SAMPLE, Variant


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
        self.recipe = recipe
        self.variables: dict[str, set[str] | None] = {}
        self.images: set[str] = set()
        self.objects = MadeObjects()
        self.all_objects = MadeObjects()
        self._namespace = namespace
        self._recipe_lines = recipe_lines
        self._findings = findings
        self._templates = RecordingTemplates(recipe.source.files, recipe.source.folder)
        self._locator = Locator(recipe.source.files, recipe.source.folder)
        self._check = ObjectCheck(recipe, types, self._locator, findings)
        self._template_errors: list[tuple[TemplateError, str]] = []

    def first(self, cluster: SampleCluster, variant: Variant) -> dict[str, RenderedState]:
        """Render every state, and take down what is there."""
        case = self._case(cluster, variant)
        states = list(case.recipe.states)
        found = self._render(case, states)
        manifests = self._check_rendering(case, states, found, {})
        self.objects.add(found.values())
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

    def _case(self, cluster: SampleCluster, variant: Variant) -> Case:
        options = resolve(self.recipe, variant.options, complete=False)
        facts = RenderFacts(
            namespace=self._namespace,
            options=options,
            groups=allocated_in_all_ways(
                [group for group in cluster.groups if self._fits(group.system.kernel)], self.recipe
            ),
            usual_allocation=self.recipe.usual_allocation,
            applyset_id="applyset-sample",
            cluster={"platform": cluster.platform, **cluster.facts},
            coarse=coarse,
            driver_toolkits=cluster.driver_toolkits,
            api=ClusterApi(lambda name: cluster.serves(name, self._check.types), self._namespaced),
        )
        parts = [
            variant.title,
            f"the cluster {cluster.name}" if cluster.platform != "kubernetes" else "",
        ]
        self._templates.begin()
        with_agent = with_node_agent(settled(self.recipe, options), options, {})
        recipe = with_readiness_rule(with_agent, options)
        return Case(recipe, facts, self._templates, " on ".join(filter(None, parts)))

    def _fits(self, kernel: str) -> bool:
        """Charts write kernels into tags of images, which hold no +: nothing that their authors
        could mend."""
        return self.recipe.source.format is None or "+" not in kernel

    def _namespaced(self, api_version: str, kind: str) -> bool | None:
        """Asked anew each time: a recipe may bring CRDs."""
        return self._check.types.namespaced(api_version, kind)

    def _render(self, case: Case, names: Sequence[str]) -> dict[str, RenderedState]:
        found = {name: self._render_state(case, name) for name in names}
        self._template_errors += [(error, case.title) for error in case.templates.errors]
        for name in names:
            self._render_images(case, name)
            self._render_builds(case, name)
            self._render_unsupported(case, name, found[name])
        for renderings in case.templates.renderings.values():
            self._add_variables(renderings)
        return {name: state for name, state in found.items() if state is not None}

    def _add_variables(self, renderings: Iterable[Rendering]) -> None:
        """Take down what templates were given."""
        for rendering in renderings:
            for name, value in rendering.variables.items():
                known = self.variables.setdefault(name, set() if isinstance(value, dict) else None)
                if known is not None and isinstance(value, dict):
                    known.update(value)

    def _render_state(self, case: Case, name: str) -> RenderedState | None:
        """A state, without the files and texts that something is wrong with; None where more is."""
        while True:
            try:
                return case.render(name)
            except ReadinessError:
                # The recipe is sound; this option is not for it.
                return None
            except InvalidInput as error:
                if not self._goes_on_without(error, case, name):
                    return None

    def _goes_on_without(self, error: InvalidInput, case: Case, name: str) -> bool:
        """Take down what is wrong, and leave it out of the case; returns whether that is possible."""
        if isinstance(error, TemplateError):  # in a text of recipe.yml
            self._template_errors.append((error, case.title))
            return case.mend([error.file.removeprefix(f"{RECIPE_FILE}, ")])
        if isinstance(error, InputProblems):  # in the settings of a proof
            for problem in error.problems:
                line = line_of_key(self._recipe_lines, problem.path)
                self._findings.add(RECIPE_FILE, line, problem.text, seen_with=case.title)
            return case.mend([problem.path for problem in error.problems])
        file = self._locator.file_of(error)
        if not file:
            line = line_of_key(self._recipe_lines, f"states.{name}")
            self._findings.add(RECIPE_FILE, line, _text(error))
            return False
        if file in case.templates.without:
            return case.mend_proofs_of(name, file)
        self._leave_out(error, file, case)
        return True

    def _leave_out(self, error: InvalidInput, file: str, case: Case) -> None:
        """Take down what is wrong with a file, and go on without it."""
        renderings = case.templates.renderings.get(file, [])
        place = self._locator.line_of_error(error, file, renderings)
        self._findings.add(*place, _text(error), seen_with=case.title)
        case.templates.without.add(file)
        # What is wrong with its objects together hides nothing that is wrong with one of them.
        for rendering in renderings:
            for manifest, _lines, _path in objects_in(rendering.text):
                if isinstance(manifest.get("apiVersion"), str) and isinstance(
                    manifest.get("metadata"), dict
                ):
                    self._check.check(manifest, file, case)

    def _render_images(self, case: Case, name: str) -> None:
        try:
            case.renderer(name).images()
        except TemplateError as error:
            self._template_errors.append((error, case.title))
        except InvalidInput as error:
            line = line_of_key(self._recipe_lines, f"states.{name}.image")
            self._findings.add(
                RECIPE_FILE, line, _text(error), seen_with=case.title, same_as=error.what
            )

    def _render_builds(self, case: Case, name: str) -> None:
        """Whether a build gets all it needs is up to the user's options; the templates are the
        recipe's."""
        state = case.recipe.states[name]
        for group in case.facts.groups if state.images.build else ():
            try:
                render_build(case.recipe, state, case.facts, group)
            except TemplateError as error:
                self._template_errors.append((error, case.title))
            except InvalidInput:
                continue

    def _render_unsupported(self, case: Case, name: str, found: RenderedState | None) -> None:
        """Whether a group can have a state is up to its nodes; the template is the recipe's."""
        if found is None:
            return
        try:
            list(unsupported(case.recipe, case.recipe.states[name], case.facts, found))
        except TemplateError as error:
            self._template_errors.append((error, case.title))

    def _check_rendering(
        self,
        case: Case,
        names: Sequence[str],
        found: Mapping[str, RenderedState],
        beside: Mapping[str, RenderedState],
    ) -> list[Obj]:
        """Take down what is wrong with the objects of these states; returns them, with their pods."""
        self._check.check_doubles({**beside, **found}, case)
        self._check.tell_left_out(found.values(), case)
        objects = [
            (item.manifest, item.source) for state in found.values() for item in state.objects
        ]
        self._check.learn_kinds(manifest for manifest, _source in objects)
        self.all_objects.add(found.values())
        for name in found:
            objects += case.pods(name)
        if any(name in names for name in self.recipe.remedies.states[:1]):
            objects += self._remedy_pods(case)
        for manifest, source in objects:
            self._check.check_new(manifest, self._locator.path_of(source), case)
        return [manifest for manifest, _source in objects]

    def _remedy_pods(self, case: Case) -> list[tuple[Obj, str]]:
        """No state renders them, so that what is wrong with them shows here first."""
        found: list[tuple[Obj, str]] = []
        for template in self.recipe.remedies.pods:
            try:
                found += [(pod, template) for pod in case.remedy_pods(template)]
            except TemplateError as error:
                self._template_errors.append((error, case.title))
            except InvalidInput as error:
                self._findings.add(template, 0, _text(error), seen_with=case.title)
        return found


def _is_made_up(image: str) -> bool:
    """Whether only a user, a build or the cluster knows what will stand there."""
    return SAMPLE in image or image.startswith("unresolved.invalid/") or image == MADE_UP_TOOLKIT


def _text(error: InvalidInput) -> str:
    return str(InvalidInput(error.what, why=error.why, todo=error.todo))
