# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at every object that comes out of a trial: its type, names, rules and images, and whether it
belongs to one state. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from ..._cluster.api_objects.object_fields import Path
from ..._json import Obj
from ..loading.recipe import Recipe
from ..templates.manifests import ObjectId, identity, title
from ..templates.render_facts import RenderedState
from .api_types import ApiTypes
from .case import Case
from .fields import FieldProblem, check_fields
from .findings import ERROR, WARNING, Findings
from .locating import Locator
from .object_names import check_images, check_names
from .object_rules import check_rules


class ObjectCheck:
    """Looks at the objects of one recipe, and takes down what is wrong with them. types: what a
    cluster serves, to which CRDs are added that the recipe brings."""

    def __init__(
        self, recipe: Recipe, types: ApiTypes, locator: Locator, findings: Findings
    ) -> None:
        self._recipe = recipe
        self.types = types
        self._locator = locator
        self._findings = findings
        self._seen: set[str] = set()

    def learn_kinds(self, manifests: Iterable[Obj]) -> None:
        """Know the kinds that are brought from now on."""
        for manifest in manifests:
            if manifest["kind"] == "CustomResourceDefinition":
                self.types = self.types.with_crd(manifest)

    def check_new(self, manifest: Obj, file: str, case: Case) -> None:
        """An object that may be the same as in a case before."""
        key = json.dumps(manifest, sort_keys=True)
        if key not in self._seen:
            self._seen.add(key)
            self.check(manifest, file, case)

    def check(self, manifest: Obj, file: str, case: Case) -> None:
        """Everything that can be said of one object."""
        problems: list[FieldProblem] = [
            *check_fields(manifest, self.types),
            *check_names(manifest),
            *check_rules(manifest),
            *check_images(manifest),
        ]
        for problem in problems:
            left_out = problem.unknown and self._recipe.source.format is not None
            # What is wrong for one kernel group is mostly wrong for all of them.
            same_as = re.sub(r"\d+", "", _without(problem.text, case.group_ids))
            self._findings.add(
                *self._place(manifest, file, problem.path, case),
                f"{title(manifest)}: {problem.text}{': it is left out' if left_out else ''}",
                seen_with=case.title,
                same_as=same_as,
                severity=WARNING if problem.taken or left_out else ERROR,
            )
        if self.types.kind(str(manifest["apiVersion"]), str(manifest["kind"])) is None:
            self._add_unknown_kind(manifest, file, case)

    def check_doubles(self, states: Mapping[str, RenderedState], case: Case) -> None:
        """An object belongs to one state."""
        first: dict[ObjectId, tuple[str, str]] = {}
        for name, state in states.items():
            for item in state.objects:
                other, source = first.setdefault(identity(item.manifest), (name, item.source))
                if other != name:
                    file, maker = map(self._locator.path_of, (item.source, source))
                    text = f"{title(item.manifest)} belongs to two states: {maker} makes it for {other}"
                    renderings = case.templates.renderings.get(file, [])
                    place = self._locator.line_of_field(
                        renderings, item.manifest, ("metadata", "name")
                    )
                    self._findings.add(
                        *(place or (file, 0)),
                        f"{text}, and this file for {name}",
                        seen_with=case.title,
                    )

    def tell_left_out(self, states: Iterable[RenderedState], case: Case) -> None:
        """Fields that rendering has left out of objects of another format."""
        for item in (item for state in states for item in state.objects):
            file = self._locator.path_of(item.source)
            for field in item.left_out:
                self._findings.add(
                    *self._place(item.manifest, file, tuple(field.split(".")), case),
                    f"{title(item.manifest)}: an object of this kind has no field {field}: it is left out",
                    severity=WARNING,
                )

    def _add_unknown_kind(self, manifest: Obj, file: str, case: Case) -> None:
        api_version, kind = str(manifest["apiVersion"]), str(manifest["kind"])
        place = self._place(manifest, file, ("kind",), case)
        meant = self.types.suggested(api_version, kind)
        if meant:
            text = f"there is no {api_version} {kind}{meant}"
            self._findings.add(*place, text, seen_with=case.title)
            return
        text = f"{api_version} {kind} is not known here: its fields were not checked, and its plural is a guess"
        self._findings.add(*place, text, severity=WARNING)

    def _place(self, manifest: Obj, file: str, field: Path, case: Case) -> tuple[str, int]:
        """File and line of a field; where no rendering of ours tells, what the recipe's own format
        makes of it."""
        renderings = case.templates.renderings.get(file, [])
        place = self._locator.line_of_field(renderings, manifest, field)
        if place:
            return place
        foreign = self._recipe.source.format
        return file, foreign.line_of(file, manifest, field) if foreign else 0


def _without(text: str, words: Iterable[str]) -> str:
    for word in words:
        text = text.replace(word, "")
    return text
