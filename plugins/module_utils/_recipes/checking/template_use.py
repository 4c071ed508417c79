# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What templates refer to (variables, options, other files), found without rendering them, so that
branches which no rendering takes are seen too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ..._schema.problems import suggest
from ..loading.recipe import Recipe, State
from ..loading.schema import RESERVED_STATES
from ..loading.standard import STANDARD_OPTIONS
from ..requirements import all_required
from ..templates.overlay import MACROS, is_in_folder
from ..templates.templating import TemplateError, Templates, TemplateUse
from .findings import Findings

# What a Containerfile also sees.
_BUILD_VARIABLES = ("compile",)
# Nobody misses these in the keys of recipe.yml.
_SCENARIOS = "molecule/"
_BESIDES = ("README", "LICENSE", "CHANGELOG", "NOTICE", "AUTHORS")
_PICTURES = (".svg", ".png", ".jpg", ".jpeg", ".gif")


@dataclass(frozen=True)
class Uses:
    """What each file refers to (those that can be parsed), and which states read an option."""

    files: Mapping[str, TemplateUse] = field(default_factory=dict)
    readers: Mapping[str, frozenset[str]] = field(default_factory=dict)


def find_uses(recipe: Recipe, findings: Findings) -> Uses:
    """Parse every template of the recipe; takes down those that are none."""
    files: dict[str, TemplateUse] = {}
    templates = recipe.source.templates
    for path in sorted(_reached({*_named_files(recipe)}, recipe, files, templates, findings)):
        for included, line in files[path].included if path in files else ():
            if included is not None and included not in recipe.source.files:
                hint = suggest(included, recipe.source.files, listed=0)
                findings.add(path, line, f"there is no file {included} in the recipe{hint}")
    return Uses(files, _readers(recipe, files))


def check_uses(
    recipe: Recipe, uses: Uses, variables: Mapping[str, Iterable[str] | None], findings: Findings
) -> None:
    """Take down variables and options that do not exist.

    variables: what templates were given, name -> what it holds, None for what holds nothing.
    """
    names = {*RESERVED_STATES, *_BUILD_VARIABLES, *recipe.states, *variables}
    assigned = {name for path, use in uses.files.items() if path != MACROS for name in use.assigned}
    known = {**variables, "options": recipe.options}
    for path, use in uses.files.items():
        for name, line in use.variables.items():
            if name not in names | assigned:
                findings.add(path, line, f"there is no variable {name}{suggest(name, names)}")
        for (name, attribute), line in use.attributes.items():
            keys = known.get(name)
            if keys is not None and attribute not in keys:
                findings.add(path, line, f"{name} has no {attribute}{suggest(attribute, keys)}")


def unused_files(recipe: Recipe, uses: Uses) -> list[str]:
    """Files that nothing names: neither recipe.yml nor a file that it names."""
    used = {"recipe.yml", *_named_files(recipe), *uses.files}
    for use in uses.files.values():
        named = [name for name, _line in use.included]
        used.update(recipe.source.files if None in named else [name for name in named if name])
    contexts = _build_contexts(recipe)
    return [
        path
        for path in sorted(recipe.source.files)
        if path not in used and is_in_folder(path) and not _is_besides(path, contexts)
    ]


def _build_contexts(recipe: Recipe) -> tuple[str, ...]:
    """The folders whose files go into the images that are built."""
    builds = (state.images.build for state in recipe.states.values())
    return tuple(f"{build.context.strip('/')}/" for build in builds if build and build.context)


def unread_options(recipe: Recipe, uses: Uses) -> list[str]:
    """Options of the recipe's own that nothing reads; none where a file that might cannot be
    parsed."""
    if any(path in recipe.source.files and path not in uses.files for path in _named_files(recipe)):
        return []
    texts = [recipe.driver_version, *recipe.devices.access.texts]
    read = {*_options_in(texts), recipe.devices.allocation}
    return [
        name
        for name in recipe.options
        if name not in STANDARD_OPTIONS and name not in read and not uses.readers.get(name)
    ]


def _is_besides(path: str, contexts: Sequence[str]) -> bool:
    name = path.rpartition("/")[2]
    return (
        path.startswith((_SCENARIOS, *contexts))
        or name.startswith(_BESIDES)
        or name.endswith(_PICTURES)
    )


def _named_files(recipe: Recipe) -> Iterator[str]:
    for state in recipe.states.values():
        yield from _files_of(state)
    yield from recipe.remedies.pods


def _files_of(state: State) -> Iterator[str]:
    for asset in state.assets:
        yield from asset.files
    if state.images.build and state.images.build.containerfile:
        yield state.images.build.containerfile
    for proof in state.proofs.all:
        if proof.kind == "workload":
            yield str(proof.spec["pod"])


def _reached(
    left: set[str],
    recipe: Recipe,
    files: dict[str, TemplateUse],
    templates: Templates,
    findings: Findings,
) -> set[str]:
    """The files, and those that they include; what they refer to is put into files."""
    seen: set[str] = set()
    while left:
        path = left.pop()
        if path in seen or path not in recipe.source.files:
            continue
        seen.add(path)
        try:
            files[path] = templates.uses_in(path)
        except TemplateError as error:
            findings.add(error.file, error.line, error.why)
            continue
        left.update(name for name, _line in files[path].included if name)
    return seen


def _readers(recipe: Recipe, files: Mapping[str, TemplateUse]) -> dict[str, frozenset[str]]:
    """Option -> the states that it may change."""
    found: dict[str, set[str]] = {name: set() for name in recipe.options}
    for name, state in recipe.states.items():
        read = {
            *_switches(state),
            *_options_in(asdict(state)),
            *_options_of(_files_of(state), files),
        }
        for required in all_required(recipe, name):
            read.update(_options_in(recipe.states[required].images.templates))
        if name in recipe.remedies.states[:1]:
            read.update(_options_of(recipe.remedies.pods, files))
        for option in recipe.options if _EVERY in read else read:
            found.setdefault(option, set()).add(name)
    return {option: frozenset(states) for option, states in found.items()}


# Stands for a template that looks at the options as a whole.
_EVERY = "*"


def _switches(state: State) -> Iterator[str]:
    switches = [state.enabled, *(proof.enabled for proof in state.proofs.all)]
    if state.images.build:
        switches += [state.images.build.enabled, state.images.build.args_from]
    yield from filter(None, switches)


def _options_of(named: Iterable[str], files: Mapping[str, TemplateUse]) -> Iterator[str]:
    left = list(named)
    for path in left:
        if path in files:
            yield from _options_used(files[path])
            left += [name for name, _line in files[path].included if name and name not in left]


def _options_in(value: Any) -> Iterator[str]:
    """The options that the texts of recipe.yml refer to; those that are no templates are refused
    elsewhere."""
    if isinstance(value, str) and ("{{" in value or "{%" in value):
        try:
            yield from _options_used(Templates({}, "").uses_in_text(value, "recipe.yml"))
        except TemplateError:
            return
    elif isinstance(value, dict):
        for item in value.values():
            yield from _options_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _options_in(item)


def _options_used(use: TemplateUse) -> Iterator[str]:
    yield from (attribute for name, attribute in use.attributes if name == "options")
    if "options" in use.whole:
        yield _EVERY
