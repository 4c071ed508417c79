# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks a recipe without a cluster: every state, on made-up clusters, with the combinations of
options that matter.

Goes on after each mistake, so that a person sees all of them at once. Pure."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from ..._errors import InvalidInput
from ..._schema.problems import InputProblems, suggest
from ..._schema.shapes import is_template
from ..device_access import device_access
from ..loading.instances import as_instance, default_namespace
from ..loading.load import load
from ..loading.options import resolve
from ..loading.recipe import Recipe
from ..loading.standard import STANDARD_OPTIONS
from ..templates.documents import Lines, lines_of
from ..templates.overlay import RECIPE_FILE, own_files
from ..templates.render_facts import RenderedState
from ..templates.templating import Facts, TemplateError
from .api_types import ApiTypes
from .findings import ERROR, WARNING, Finding, Findings
from .locating import line_of_key, rendered_line
from .made import Made
from .mending import without_problems
from .sample_clusters import SAMPLE_CLUSTERS, SampleCluster
from .template_use import Uses, check_uses, find_uses, unread_options, unused_files
from .trial import Trials
from .variants import Variant, variants

# Makes the recipe of a bundle; the text says where that comes from.
Read = Callable[[Mapping[str, str], str], Recipe]


@dataclass(frozen=True)
class Checked:
    """What came out. objects, images: what the recipe makes and runs with the given options,
    wherever it does. all_objects: what it makes with any options.

    tried: how many combinations of options; left_out: how many more there would be. unsampled:
    options that were tried with their default only; an example in recipe.yml changes that. recipe:
    None where it cannot be loaded.
    """

    recipe: Recipe | None
    errors: list[Finding]
    warnings: list[Finding]
    images: list[str] = field(default_factory=list)
    objects: list[Made] = field(default_factory=list)
    all_objects: list[Made] = field(default_factory=list)
    tried: int = 0
    left_out: int = 0
    unsampled: list[str] = field(default_factory=list)


# Of collections of what is younger; a check makes a few hundred.
_NEVER = 1_000_000


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """Search for garbage among what is new only: to look through all that a check keeps to its end,
    again and again, takes an eighth of its time."""
    usual = gc.get_threshold()
    gc.set_threshold(*usual[:2], _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


@_rarely_collected()
def check(
    bundle: Mapping[str, str],
    source: str,
    given: Mapping[str, Any],
    types: ApiTypes,
    *,
    namespace: str = "",
    instance: str | None = None,
    combine: bool = True,
    read: Read = load,
) -> Checked:
    """Everything that can be said of a recipe's files (path -> text) without a cluster.

    source: where they come from, for messages. given: options that hold in all combinations.
    namespace: for the objects, "" for the recipe's own. instance: the name that it is enabled by,
    if it is not its own. combine: try other options than those given. read: makes the
    recipe of its files. Raises InvalidInput where
    there is no recipe, or the given options do not fit it.
    """
    findings = Findings()
    recipe = _load(bundle, source, findings, read)
    if recipe is None:
        return Checked(None, findings.sorted(ERROR), findings.sorted(WARNING))
    recipe = as_instance(recipe, instance)
    resolve(recipe, given, complete=False)
    lines: Lines = {(): 0}
    if recipe.source.format is None:
        lines = lines_of(bundle[RECIPE_FILE], RECIPE_FILE)[0][1]
    uses = find_uses(recipe, findings) if recipe.source.format is None else Uses()
    found = variants(recipe, given, uses.readers)
    trials = Trials(recipe, types, lines, findings, namespace or default_namespace(recipe))
    _try_device_access(recipe, found.tried, lines, findings)
    _try_version(recipe, found.tried, lines, findings)
    for cluster in SAMPLE_CLUSTERS:
        tried = found.tried if combine and cluster.optional_apis else found.tried[:1]
        _try_on(cluster, tried, trials, uses)
    if recipe.source.format is None:
        check_uses(recipe, uses, trials.variables, findings)
    trials.report_template_errors()
    if recipe.source.format is None:
        _add_unused(recipe, own_files(bundle), uses, lines, findings)
        _add_unlisted(recipe, lines, findings)
    else:
        for path, line, text in recipe.source.format.warnings:
            findings.add(path, line, text, severity=WARNING)
    return Checked(
        recipe=recipe,
        errors=findings.sorted(ERROR),
        warnings=findings.sorted(WARNING),
        images=sorted(trials.images),
        objects=trials.objects.all(),
        all_objects=trials.all_objects.all(),
        tried=len(found.tried) if combine else 1,
        left_out=found.left_out,
        unsampled=list(found.unsampled),
    )


def _add_unused(
    recipe: Recipe, own: Mapping[str, str], uses: Uses, lines: Lines, findings: Findings
) -> None:
    """Files of its own, and options, that nothing reads."""
    for path in own.keys() & set(unused_files(recipe, uses)):
        findings.add(
            path, 0, "no asset names this file, and no other file includes it", severity=WARNING
        )
    for name in unread_options(recipe, uses):
        findings.add(
            RECIPE_FILE,
            lines.get(("options", name), 0),
            f"nothing reads option {name}",
            severity=WARNING,
        )


def _add_unlisted(recipe: Recipe, lines: Lines, findings: Findings) -> None:
    """Proofs of devices that the recipe does not say to serve: what holds these is not looked for, and
    who else serves them is no rival. Of a recipe that depends on others, they may be theirs."""
    if recipe.depends:
        return
    for state in recipe.states.values():
        for index, proof in enumerate(state.proofs.validate):
            name = proof.spec.get("resource")
            if (
                not isinstance(name, str)
                or is_template(name)
                or _is_listed(name, recipe.devices.resources)
            ):
                continue
            findings.add(
                RECIPE_FILE,
                lines.get(("states", state.name, "validate", index), 0),
                f"{name} is proven here and is none of the recipe's resources{suggest(name, recipe.devices.resources)}",
                severity=WARNING,
            )


def _is_listed(name: str, resources: Sequence[str]) -> bool:
    """Either may have * in it."""
    return any(fnmatchcase(name, each) or fnmatchcase(each, name) for each in resources)


def _try_device_access(
    recipe: Recipe,
    tried: Sequence[Variant],
    lines: Mapping[tuple[str | int, ...], int],
    findings: Findings,
) -> None:
    """What no state renders, with all options that are tried."""
    for variant in tried:
        try:
            device_access(recipe, [resolve(recipe, variant.options, complete=False)])
        except InvalidInput as error:
            findings.add(RECIPE_FILE, lines.get(("device_access",), 0), _sentence(error))
            return


def _try_version(
    recipe: Recipe, tried: Sequence[Variant], lines: Lines, findings: Findings
) -> None:
    """The template of the driver's version, which the record asks for and no state."""
    templates, path = recipe.source.templates, f"{RECIPE_FILE}, driver_version"
    for variant in tried:
        options = Facts("options", resolve(recipe, variant.options, complete=False))
        try:
            templates.render_text(recipe.driver_version, path, {"options": options})
        except TemplateError as error:
            line = lines.get(("driver_version",), 0)
            findings.add(RECIPE_FILE, line, error.why, seen_with=variant.title)
            return


def _try_on(cluster: SampleCluster, tried: Sequence[Variant], trials: Trials, uses: Uses) -> None:
    """Render everything with the first combination, and of the others what they change."""
    defaults, *others = tried
    base = trials.first(cluster, defaults)
    alone: dict[Variant, Mapping[str, RenderedState]] = {}
    for variant in others:
        beside = {**base}
        for part in variant.parts:
            beside |= alone[part]
        states = _states_changed(trials.recipe, variant, uses.readers)
        found = trials.again(cluster, variant, states, beside)
        if not variant.parts:
            alone[variant] = found


def _states_changed(
    recipe: Recipe, variant: Variant, readers: Mapping[str, frozenset[str]]
) -> list[str]:
    """The states that may come out differently than with any part of the combination; the standard
    options go into the manifests of all of them."""
    if any(name in STANDARD_OPTIONS for name in variant.changed):
        return list(recipe.states)
    reads = all if variant.parts else any
    return [
        state
        for state in recipe.states
        if reads(state in readers.get(name, ()) for name in variant.changed)
    ]


def _load(bundle: Mapping[str, str], source: str, findings: Findings, read: Read) -> Recipe | None:
    """The recipe; where something is wrong with recipe.yml, without that, if it is a recipe then."""
    try:
        return read(bundle, source)
    except InputProblems as error:
        if error.problems[0].file != f"{source.rstrip('/')}/{RECIPE_FILE}":
            # Of what it extends, which has to be mended first.
            raise
        ((raw, lines),) = lines_of(bundle[RECIPE_FILE], RECIPE_FILE)
        for problem in error.problems:
            findings.add(
                RECIPE_FILE, line_of_key(lines, f"{problem.path}.{problem.key}"), problem.text
            )
        without = without_problems(raw, error.problems)
        with suppress(InvalidInput):
            return load({**bundle, RECIPE_FILE: json.dumps(without)}, source)
        return None
    except InvalidInput as error:
        if RECIPE_FILE not in bundle:
            findings.add(*_place(error, bundle), _sentence(error))
        elif RECIPE_FILE in error.where:
            findings.add(RECIPE_FILE, rendered_line(error.where), _sentence(error))
        else:
            raise
        return None


def _place(error: InvalidInput, bundle: Mapping[str, str]) -> tuple[str, int]:
    """The file and the line that an error names."""
    named = [path for path in bundle if path in error.where]
    return max(named, key=len, default=""), rendered_line(error.where)


def _sentence(error: InvalidInput) -> str:
    """What an error says, without where: a finding has file and line."""
    return str(InvalidInput(error.what, why=error.why, todo=error.todo)).removesuffix(".")
