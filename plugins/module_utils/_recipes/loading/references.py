# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parts of a recipe.yml say of each other and of the recipe's files. Tolerates parts of a
wrong shape, so that a person sees those problems and these at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from ..._cluster.api_objects.kinds import builtin
from ..._nodes.device_allocation import NOBODY
from ..._nodes.groups import FORMS
from ..._proofs.catalog import KINDS
from ..._schema.problems import Problems, describe, suggest
from ..._schema.shapes import is_template, join
from ..._schema.terms import RecipeFile
from ..templates.overlay import is_in_folder
from .recipe import REBOOT_NODE, RESTART_DRIVER
from .standard import STANDARD_OPTIONS
from .values import CONVERTERS, NotOfTypeError, convert

_WAYS = 2
# What a recipe has to say where a state is made per such a facet, and what that is for.
_KNOWN_BY = {
    "allocation": ("allocation", "option devices are served"),
    "driver": ("preinstalled_driver", "labels a driver is known"),
}


def check_references(raw: Mapping[str, Any], files: Mapping[str, str], problems: Problems) -> None:
    """Take down names and files that do not exist, defaults that do not fit their option, and
    cycles."""
    options, states = _dict(raw.get("options")), _dict(raw.get("states"))
    for index, rival in enumerate(_list(raw.get("rivals"))):
        _check_rival(_dict(rival), options, f"rivals[{index}]", problems)
    for name, option in options.items():
        _check_option(str(name), _dict(option), join("options", name), problems)
    for name, state in states.items():
        _check_state(str(name), _dict(state), states, options, files, problems)
        for facet in _list_of(_dict(state).get("per")):
            if facet in _KNOWN_BY and not raw.get(_KNOWN_BY[facet][0]):
                needed = " in the recipe, by whose ".join(_KNOWN_BY[facet])
                problems.add(join("states", f"{name}.per"), needed, "none")
    _check_allocation(raw.get("allocation"), options, problems)
    _check_remedies(_dict(raw.get("remedies")), states, files, problems)
    _check_depends(raw, problems)
    _check_cycles(states, problems)


def _check_allocation(name: Any, options: Mapping[str, Any], problems: Problems) -> None:
    """The ways are the choices of an option, and each may be the value of a label."""
    if not isinstance(name, str):
        return
    option = _dict(options.get(name))
    choices = [choice for choice in _list(option.get("choices")) if isinstance(choice, str)]
    if name not in options:
        problems.add("allocation", "an option", f"{name}{suggest(name, options)}")
    elif len(choices) < _WAYS or option.get("default") not in choices:
        problems.add("allocation", "an option with several choices, one of them the default", name)
    for choice in choices:
        if choice == NOBODY or not FORMS["allocation"].fullmatch(choice):
            problems.add(
                join("options", f"{name}.choices"),
                "ways that may be values of a label, and none of them none",
                choice,
            )


def _check_rival(
    rival: Mapping[str, Any], options: Mapping[str, Any], path: str, problems: Problems
) -> None:
    is_narrowed = any(rival.get(key) for key in ("name", "labels", "host_paths"))
    if not is_narrowed and _is_everywhere(rival):
        problems.add(
            path,
            "name, labels or host_paths, since every cluster has objects of this kind",
            "none",
        )
    _check_switch(rival, options, path, problems)


def _check_remedies(
    remedies: Mapping[str, Any],
    states: Mapping[str, Any],
    files: Mapping[str, str],
    problems: Problems,
) -> None:
    _check_names(remedies.get("states"), states, "remedies.states", problems)
    for index, step in enumerate(_list(remedies.get("steps"))):
        known = (RESTART_DRIVER, REBOOT_NODE)
        if isinstance(step, str) and step not in known and step not in files:
            problems.add(
                f"remedies.steps[{index}]",
                "restart, reboot, or a file of the recipe",
                f"{step}{suggest(step, [*known, *files])}",
            )


def _check_depends(raw: Mapping[str, Any], problems: Problems) -> None:
    """What the other recipes are is read when one is enabled."""
    own = raw.get("name")
    seen = {own if isinstance(own, str) else None}
    for index, entry in enumerate(_list(raw.get("depends"))):
        name = _dict(entry).get("name") if isinstance(entry, dict) else entry
        if isinstance(name, str) and name in seen:
            problems.add(f"depends[{index}]", "another recipe, and each of them once", name)
        seen.add(name if isinstance(name, str) else None)


def _check_names(names: Any, states: Mapping[str, Any], path: str, problems: Problems) -> None:
    for index, name in enumerate(_list(names)):
        if isinstance(name, str) and name not in states:
            problems.add(
                f"{path}[{index}]", "a state of the recipe", f"{name}{suggest(name, states)}"
            )


def _is_everywhere(rival: Mapping[str, Any]) -> bool:
    """Whether a rival's kind is one of Kubernetes' own."""
    return builtin(str(rival.get("api_version")), str(rival.get("kind"))) is not None


def files_of(pattern: str, files: Mapping[str, str]) -> tuple[str, ...]:
    """The files of a recipe that a glob matches, sorted; * and ? do not match a slash."""
    depth = pattern.count("/")
    return tuple(
        sorted(
            path
            for path in files
            if path.count("/") == depth and is_in_folder(path) and fnmatchcase(path, pattern)
        )
    )


def in_order(states: Mapping[str, Any]) -> list[str]:
    """Names of states so that each comes after those that it requires, else in the order given. No
    cycles, please."""
    done: list[str] = []

    def visit(name: str) -> None:
        if name not in done:
            for required in _list(_dict(states[name]).get("requires")):
                visit(required)
            done.append(name)

    for name in states:
        visit(name)
    return done


@dataclass(frozen=True)
class _Type:
    """What an option takes: a type, that of a list's items ("" for none), and its choices."""

    kind: Any
    elements: Any
    choices: Sequence[Any]

    @property
    def of_choice(self) -> str:
        """The type of one choice."""
        return str(self.elements or "str") if self.kind == "list" else str(self.kind)


def _check_option(name: str, option: Mapping[str, Any], path: str, problems: Problems) -> None:
    type_ = _type_of(name, option, path, problems)
    if not _is_type(type_.kind) or (type_.elements and not _is_type(type_.elements)):
        return
    if option.get("elements") and type_.kind != "list":
        problems.add(join(path, "elements"), "type list", f"type {type_.kind}")
    for index, choice in enumerate(type_.choices):
        _check_type(choice, type_.of_choice, f"{path}.choices[{index}]", problems)
    if option.get("example") is not None:
        at = join(path, "example")
        _check_type(option["example"], type_.kind, at, problems, type_.elements)
    if option.get("default") is not None:
        _check_default(option, type_, join(path, "default"), problems)


def _type_of(name: str, option: Mapping[str, Any], path: str, problems: Problems) -> _Type:
    """What the option says of itself; of a standard one, what all recipes have."""
    standard = STANDARD_OPTIONS.get(name)
    if standard is None:
        kind, elements = option.get("type", "str"), option.get("elements") or ""
        return _Type(kind, elements, _list(option.get("choices")))
    for key in option.keys() - {"default", "description", "example"}:
        problems.add(
            join(path, key), "nothing but a default, since every recipe has this option", key
        )
    return _Type(standard.type, standard.elements, standard.choices)


def _check_default(option: Mapping[str, Any], type_: _Type, at: str, problems: Problems) -> None:
    default = option["default"]
    if option.get("required"):
        problems.add(at, "none for a required option", describe(default))
    if _check_type(default, type_.kind, at, problems, type_.elements) and type_.choices:
        _check_chosen(default, type_.choices, at, problems)


def _check_chosen(default: Any, choices: Sequence[Any], path: str, problems: Problems) -> None:
    for value in default if isinstance(default, list) else [default]:
        if value not in choices:
            problems.add(path, f"one of {', '.join(map(str, choices))}", describe(value))


def _is_type(name: Any) -> bool:
    return isinstance(name, str) and name in CONVERTERS


def _check_type(value: Any, kind: str, path: str, problems: Problems, elements: str = "") -> bool:
    """Stricter than for users: the author of a recipe writes the type itself."""
    try:
        fits = bool(convert(value, kind, elements) == value) and isinstance(value, bool) == (
            kind == "bool"
        )
        expected = f"type {kind}"
    except NotOfTypeError as error:
        fits, expected = False, str(error)
    if not fits:
        problems.add(path, expected, describe(value))
    return fits


def _check_state(
    name: str,
    state: Mapping[str, Any],
    states: Mapping[str, Any],
    options: Mapping[str, Any],
    files: Mapping[str, str],
    problems: Problems,
) -> None:
    path = join("states", name)
    _check_names(state.get("requires"), states, f"{path}.requires", problems)
    _check_enabled(state, options, path, problems)
    if not isinstance(state.get("enabled"), str) and state.get("disabled_validate"):
        problems.add(
            join(path, "disabled_validate"),
            "enabled with it, since this state is always on",
            "none",
        )
    _check_images(state, path, problems)
    _check_build(_dict(state.get("build")), options, files, join(path, "build"), problems)
    for index, asset in enumerate(_list(state.get("assets"))):
        pattern = asset.get("path") if isinstance(asset, dict) else asset
        if isinstance(pattern, str) and not files_of(pattern, files):
            hint = "" if "*" in pattern else suggest(pattern, files, listed=0)
            problems.add(f"{path}.assets[{index}]", "a file of the recipe", f"{pattern}{hint}")
    for key in ("validate", "disabled_validate"):
        for index, proof in enumerate(_list(state.get(key))):
            for kind, spec in _dict(proof).items():
                where = f"{path}.{key}[{index}].{kind}"
                _check_enabled(_dict(spec), options, where, problems)
                _check_files(kind, _dict(spec), files, where, problems)


def _check_files(
    kind: str, spec: Mapping[str, Any], files: Mapping[str, str], path: str, problems: Problems
) -> None:
    """The files that a proof names."""
    keys = KINDS[kind].shape.keys if kind in KINDS else {}
    for name in [name for name, key in keys.items() if isinstance(key.shape, RecipeFile)]:
        file = spec.get(name)
        if isinstance(file, str) and file not in files:
            problems.add(
                join(path, name), "a file of the recipe", f"{file}{suggest(file, files, listed=0)}"
            )


def _check_images(state: Mapping[str, Any], path: str, problems: Problems) -> None:
    for key in ("image", "build"):
        if state.get(key) and "kernel" not in _list_of(state.get("per")):
            found = ", ".join(map(str, _list_of(state.get("per")))) or "cluster"
            problems.add(
                join(path, key),
                "per: kernel, since an image is resolved per kernel",
                f"per: {found}",
            )
    for key in ("image_labels", "image_key", "lookup", "no_image"):
        if state.get(key) and not (state.get("image") or state.get("build")):
            problems.add(join(path, key), "image or build with it", "neither")
    if state.get("build") and state.get("lookup") == "never":
        problems.add(
            join(path, "lookup"), "another one, since what is built has to be looked up", "never"
        )


def _check_build(
    build: Mapping[str, Any],
    options: Mapping[str, Any],
    files: Mapping[str, str],
    path: str,
    problems: Problems,
) -> None:
    if not build:
        return
    _check_containerfile(build, files, join(path, "containerfile"), problems)
    if build.get("compile") and not build.get("base"):
        problems.add(join(path, "base"), "one, since build.compile compiles in it", "none")
    _check_context(build, files, path, problems)
    for key, kind in (("args_from", "dict"), ("enabled", "bool")):
        name = build.get(key)
        if isinstance(name, str) and _dict(options.get(name)).get("type") != kind:
            problems.add(join(path, key), f"an option of type {kind}", name)


def _check_containerfile(
    build: Mapping[str, Any], files: Mapping[str, str], path: str, problems: Problems
) -> None:
    """It is a file of the recipe, or one in the git repository."""
    file = build.get("containerfile")
    if not file and not _dict(build.get("git")).get("containerfile"):
        problems.add(path, "one, or git.containerfile", "neither")
    if isinstance(file, str) and file not in files:
        hint = suggest(file, files, listed=0)
        problems.add(path, "a file of the recipe", f"{file}{hint}")


def _check_context(
    build: Mapping[str, Any], files: Mapping[str, str], path: str, problems: Problems
) -> None:
    """What is sent along is a folder of the recipe, or a git repository."""
    folder = build.get("context")
    if isinstance(folder, str):
        start = f"{folder.strip('/')}/"
        if not any(name.startswith(start) for name in files):
            problems.add(join(path, "context"), "a folder of the recipe", folder)
    if folder and build.get("git"):
        problems.add(join(path, "git"), "one of context and git", "both")


def _check_enabled(
    item: Mapping[str, Any], options: Mapping[str, Any], path: str, problems: Problems
) -> None:
    """What a template may turn off as well: a state, or one of its proofs."""
    if not is_template(str(item.get("enabled"))):
        _check_switch(item, options, path, problems)


def _check_switch(
    item: Mapping[str, Any], options: Mapping[str, Any], path: str, problems: Problems
) -> None:
    """What may be turned off by an option: a state, one of its proofs, or a rival."""
    switch = item.get("enabled")
    if isinstance(switch, str):
        kind = _dict(options.get(switch)).get("type", "str") if switch in options else None
        if kind is None:
            known = [
                name for name, option in options.items() if _dict(option).get("type") == "bool"
            ]
            problems.add(
                join(path, "enabled"), "an option of type bool", f"{switch}{suggest(switch, known)}"
            )
        elif kind != "bool":
            problems.add(
                join(path, "enabled"),
                "an option of type bool",
                f"{switch}, which is of type {kind}",
            )


def _check_cycles(states: Mapping[str, Any], problems: Problems) -> None:
    finished: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        if name in trail:
            cycle = (*trail[trail.index(name) :], name)
            problems.add(
                join("states", f"{name}.requires"), "no cycle of requirements", " -> ".join(cycle)
            )
        elif name in states and name not in finished:
            for required in _list(_dict(states[name]).get("requires")):
                if isinstance(required, str):
                    visit(required, (*trail, name))
            finished.add(name)

    for name in states:
        visit(name, ())


def _list_of(value: Any) -> Sequence[Any]:
    """A list, also of one entry that was given without one."""
    return value if isinstance(value, list) else [value] if value else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []
