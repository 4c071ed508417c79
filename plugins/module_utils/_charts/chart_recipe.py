# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recipe of a Helm chart, or of numbered manifests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from .._errors import InvalidInput
from .._nodes.selectors import NO_ROLE_TAINT
from .._recipes.differences import LAST_KERNEL_WINS
from .._recipes.loading.recipe import Option, Recipe, RecipeNodes, RecipeSource, State
from .._recipes.loading.schema import DNS_LABEL, RESERVED_RECIPES
from .._recipes.loading.standard import STANDARD_OPTIONS
from .._recipes.templates.documents import lines_of
from .._schema.problems import describe
from .chart_archive import CHART_FILE
from .chart_format import ChartFormat
from .chart_rendering import ChartRendering, Helm
from .chart_states import states_of, steps_of, templates_in
from .go_templates import unsteady_in
from .helm_program import run_helm
from .numbered_manifests import DOT, NumberedFormat, as_chart, manifests_at, numbered_steps
from .runtime_values import RESOURCES
from .sro_annotations import misspelt_in

_LONGEST_NAME = 30
_VERSION = re.compile(r"v?\d+(\.\d+){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
# Every Linux node that takes pods, as the operator has it without a selector.
_ANY_NODE: tuple[Mapping[str, str | None], ...] = (
    {"kubernetes.io/os": "linux", NO_ROLE_TAINT: None},
)

_OWN_OPTIONS = (
    Option(
        "set",
        "dict",
        {},
        "Values of the chart, over those of its values.yaml and under those of the running cluster;"
        " of a numbered directory: the spec of its custom resource.",
    ),
    Option(
        "custom_resource",
        "dict",
        {},
        "What the chart reads of the operator's custom resource: its C(spec), and labels and"
        " annotations in C(metadata). A run of C(special_resource) gives it.",
    ),
    Option(
        LAST_KERNEL_WINS,
        "bool",
        default=False,
        description="Whether an object of one name that comes out differently for two kernels is that of the last"
        " kernel, as the operator had it; without, it is refused.",
    ),
    Option(
        "image_namespaces",
        "list",
        [],
        "Namespaces of which builds on OpenShift may use the images; a run of C(special_resource) names"
        " those of what the resource depends on.",
        elements="str",
    ),
    Option("push_secret", "str", "", "The Secret that charts push images with (pushSecretName)."),
    Option("os_image_url", "str", "", "The image of the nodes' system (osImageURL)."),
)


# The options that recipes in this collection's own format do not have.
OF_CHARTS = frozenset(option.name for option in _OWN_OPTIONS)


def read_chart(files: Mapping[str, str], source: str, helm: Helm = run_helm) -> Recipe:
    """The recipe that a chart's files (path inside the chart -> text) make."""
    head = _head(files, source)
    _refuse_unsteady(files, source)
    name = str(head["name"])
    chart = ChartRendering(name, files, source, helm, templated=tuple(RESOURCES))
    states = states_of(chart.named, steps_of(templates_in(chart.named)))
    folder = PurePosixPath(source).name
    found_as = folder if folder != name else ""
    own = RecipeSource(name, source, dict(chart.named), str(head["version"]), found_as)
    return recipe_of(own, states, chart)


def read_numbered(files: Mapping[str, str], source: str, helm: Helm = run_helm) -> Recipe:
    """The recipe that numbered manifests (path inside their folder -> text) make."""
    name = PurePosixPath(source).name
    check_name(name, source)
    _refuse_unsteady(files, source)
    texts = manifests_at(files)
    chart = ChartRendering(
        name, as_chart(name, texts), source, helm, "templates/", templated=(DOT,), dot=DOT
    )
    states = states_of(texts, numbered_steps(texts))
    return recipe_of(RecipeSource(name, source, dict(texts)), states, chart, NumberedFormat)


def recipe_of(
    source: RecipeSource,
    states: Mapping[str, State],
    chart: ChartRendering,
    make: type[ChartFormat] = ChartFormat,
) -> Recipe:
    """A recipe whose files, as their author wrote them, a chart renders."""
    files = source.files
    warnings = tuple(misspelt_in(files, [path for path in files if path.endswith(".yaml")]))
    assets = {
        state.name: {file for each in state.assets for file in each.files}
        for state in states.values()
    }
    fallbacks = [assets[state.name] for state in states.values() if state.images.fallback]
    written = make(
        chart,
        files,
        frozenset().union(*assets.values()),
        frozenset().union(*fallbacks),
        warnings,
    )
    return Recipe(
        name=source.name,
        namespace=source.name,
        source=replace(source, format=written),
        nodes=RecipeNodes(selector=_ANY_NODE),
        options={**STANDARD_OPTIONS, **{option.name: option for option in _OWN_OPTIONS}},
        states=dict(states),
    )


def check_name(name: str, where: str) -> None:
    """Raise InvalidInput for a name that no recipe can have."""
    if not re.fullmatch(DNS_LABEL, name) or len(name) > _LONGEST_NAME or name in RESERVED_RECIPES:
        raise InvalidInput(
            f"a recipe cannot be called {name[:80]!r}",
            where=where,
            why=f"it has to be a DNS label of at most {_LONGEST_NAME} characters",
            todo="give it another name",
        )


def _head(files: Mapping[str, str], source: str) -> Mapping[str, Any]:
    """What Chart.yaml says, as far as we need it."""
    file = f"{source}/{CHART_FILE}" if source else CHART_FILE
    documents = lines_of(files[CHART_FILE], file, foreign=True)
    head, lines = documents[0] if len(documents) == 1 else ({}, {})
    if not isinstance(head, dict):
        head = {}
    wanted = {"apiVersion": r"v[12]", "name": r".+", "version": _VERSION.pattern}
    for key, pattern in wanted.items():
        value = head.get(key)
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            expected = {"apiVersion": "v1 or v2", "version": "a version such as 0.1.0 as text"}
            raise InvalidInput(
                "this is no chart that can be used",
                where=f"{file}, line {lines.get((key,), 1)}",
                why=f"{key}: expected {expected.get(key, 'text')}, found {describe(value)}",
                todo="correct it",
            )
    check_name(head["name"], f"{file}, line {lines[('name',)]}")
    return head


def _refuse_unsteady(files: Mapping[str, str], source: str) -> None:
    for path, text in sorted(files.items()):
        if CHART_FILE in files and "templates/" not in path:
            continue
        for function, line in unsteady_in(text):
            place = f"{source}/{path}" if source else path
            raise InvalidInput(
                f"the function {function} is not available to charts here",
                where=f"{place}, line {line}",
                why="what it gives is not the same in each run, or is read from the cluster, so that"
                " every run would change what the one before has deployed",
                todo="let the chart take the value from its values (option set)",
            )
