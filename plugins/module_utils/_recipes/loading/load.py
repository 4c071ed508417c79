# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the files of a recipe's folder to a Recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._errors import InvalidInput
from ..._nodes.groups import FACETS
from ..._proofs.proof import Proof
from ..._schema.problems import InputProblems, Problem, Problems, describe
from ..templates.documents import parse
from ..templates.overlay import EXTENDS, RECIPE_FILE, files_of_base, merged, overlaid, own_files
from .recipe import (
    CLUSTER,
    Asset,
    Build,
    Compile,
    Dependency,
    DeviceAccess,
    Git,
    ImageSource,
    NodeObjects,
    Option,
    OrderRules,
    Recipe,
    RecipeDevices,
    RecipeNodes,
    RecipeRemoval,
    RecipeSource,
    Remedies,
    Rival,
    State,
    StateProofs,
)
from .references import check_references, files_of, in_order
from .schema import check_changes, check_shape
from .standard import STANDARD_OPTIONS

_WHAT, _TODO = "the recipe cannot be used", "correct it and run again"


def load(bundle: Mapping[str, str], source: str) -> Recipe:
    """The recipe that the bundle (path relative to the recipe's folder -> text) describes; source
    is for messages.

    Raises InvalidInput that lists everything that is wrong with it.
    """
    raw, files = _content(bundle, own_files(bundle), source)
    return _recipe(raw, files, source)


def _content(
    bundle: Mapping[str, str], own: Mapping[str, str], source: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """recipe.yml and the files of a recipe, with those of the one that it extends, if it does.

    own: the files of the recipe itself. What it changes is checked as it is written, and again
    together with the base's, which is a recipe in itself: each error names the file it is in.
    """
    file = f"{source.rstrip('/')}/{RECIPE_FILE}" if source else RECIPE_FILE
    if RECIPE_FILE not in own:
        raise InvalidInput(
            f"{source} is no recipe",
            why=f"it holds no {RECIPE_FILE}",
            todo="name a recipe's folder",
        )
    raw, files = _document(own[RECIPE_FILE], file), dict(own)
    problems = Problems(file)
    base = raw.get(EXTENDS)
    if base is not None:
        check_changes(raw, problems)
        _refuse(problems)
        under, of_base = _content(bundle, files_of_base(bundle, base), base)
        raw, files = merged(under, raw, problems), overlaid(files, base, of_base)
    check_shape(raw, problems)
    check_references(raw, files, problems)
    _refuse(problems)
    return raw, files


def _document(text: str, file: str) -> dict[str, Any]:
    documents = parse(text, file)
    if len(documents) == 1 and isinstance(documents[0], dict):
        return documents[0]
    found = describe(documents[0]) if len(documents) == 1 else f"{len(documents)} documents"
    raise InputProblems(_WHAT, [Problem(file, "", "one document, a mapping", found)], _TODO)


def _refuse(problems: Problems) -> None:
    problems.refuse(_WHAT, _TODO)


def _recipe(raw: Mapping[str, Any], files: Mapping[str, str], source: str) -> Recipe:
    states, name = raw["states"], raw["name"]
    return Recipe(
        name=name,
        namespace=raw["namespace"],
        source=RecipeSource(name, source, dict(files), raw.get("version", "")),
        nodes=RecipeNodes(
            selector=tuple(raw["selector"]["any_of"]),
            preinstalled_driver=tuple(raw.get("preinstalled_driver", {}).get("any_of", ())),
        ),
        devices=_devices(raw),
        removal=RecipeRemoval(
            node_objects=tuple(NodeObjects(**kind) for kind in raw.get("node_objects", ())),
            release_role=raw.get("release_role", ""),
        ),
        driver_version=raw.get("driver_version", ""),
        remedies=Remedies(
            **{name: tuple(values) for name, values in raw.get("remedies", {}).items()}
        ),
        depends=tuple(_dependency(entry) for entry in raw.get("depends", ())),
        options=_options(raw.get("options", {})),
        states={name: _state(name, states[name], files) for name in in_order(states)},
    )


def _devices(raw: Mapping[str, Any]) -> RecipeDevices:
    access = {name: tuple(texts) for name, texts in raw.get("device_access", {}).items()}
    return RecipeDevices(
        resources=tuple(raw.get("resources", ())),
        access=DeviceAccess(**access),
        allocation=raw.get("allocation", ""),
        rivals=tuple(Rival(**rival) for rival in raw.get("rivals", ())),
    )


def _dependency(raw: str | Mapping[str, Any]) -> Dependency:
    return Dependency(raw) if isinstance(raw, str) else Dependency(**raw)


def _options(raw: Mapping[str, Any]) -> dict[str, Option]:
    options = dict(STANDARD_OPTIONS)
    for name, given in raw.items():
        standard = STANDARD_OPTIONS.get(name, Option(name))
        kind = given.get("type", standard.type)
        options[name] = Option(
            name=name,
            type=kind,
            default=given.get("default", standard.default),
            description=given.get("description", standard.description),
            choices=tuple(given.get("choices", standard.choices)),
            required=given.get("required", False),
            elements=given.get("elements", standard.elements),
            no_log=given.get("no_log", False),
            example=given.get("example"),
        )
    return options


def _state(name: str, raw: Mapping[str, Any], files: Mapping[str, str]) -> State:
    return State(
        name=name,
        role=raw["role"],
        order=OrderRules(
            requires=tuple(raw.get("requires", ())),
            begin=raw.get("begin", OrderRules.begin),
            removed_first=raw.get("removed_first", OrderRules.removed_first),
        ),
        per=_per(raw.get("per", CLUSTER)),
        enabled=raw.get("enabled", ""),
        unsupported=raw.get("unsupported", ""),
        assets=_assets(raw.get("assets", ()), files),
        images=_images(raw),
        placement=raw.get("placement", State.placement),
        proofs=StateProofs(
            validate=tuple(_proof(proof) for proof in raw.get("validate", ())),
            disabled_validate=tuple(_proof(proof) for proof in raw.get("disabled_validate", ())),
            timeout=raw.get("timeout", StateProofs.timeout),
        ),
    )


def _images(raw: Mapping[str, Any]) -> ImageSource:
    return ImageSource(
        templates=_candidates(raw.get("image", ())),
        labels=dict(raw.get("image_labels", {})),
        key=raw.get("image_key", ""),
        lookup=raw.get("lookup", ""),
        build=_build(raw["build"]) if "build" in raw else None,
        todo=raw.get("no_image", ""),
    )


def _candidates(raw: str | Sequence[str]) -> tuple[str, ...]:
    """One template, or several in the order in which they count."""
    return (raw,) if isinstance(raw, str) else tuple(raw)


def _per(raw: str | Sequence[str]) -> tuple[str, ...]:
    named = [raw] if isinstance(raw, str) else raw
    return tuple(facet for facet in FACETS if facet in named)


def _build(raw: Mapping[str, Any]) -> Build:
    git = raw.get("git")
    return Build(
        repository=raw["repository"],
        containerfile=raw.get("containerfile", ""),
        base=raw.get("base", ""),
        base_arg=raw.get("base_arg", Build.base_arg),
        context=raw.get("context", ""),
        git=Git(**git) if git else None,
        args=dict(raw.get("args", {})),
        args_from=raw.get("args_from", ""),
        compile=Compile(**raw["compile"]) if "compile" in raw else None,
        secrets=dict(raw.get("secrets", {})),
        enabled=raw.get("enabled", ""),
    )


def _assets(raw: Sequence[str | Mapping[str, Any]], files: Mapping[str, str]) -> tuple[Asset, ...]:
    """A file that is named belongs to where it is named, and not to a glob that matches it too."""
    entries = [{"path": asset} if isinstance(asset, str) else asset for asset in raw]
    named = {entry["path"] for entry in entries if entry["path"] in files}
    return tuple(
        Asset(
            pattern=entry["path"],
            files=(entry["path"],)
            if entry["path"] in named
            else tuple(path for path in files_of(entry["path"], files) if path not in named),
            needs_api=entry.get("needs_api", ""),
        )
        for entry in entries
    )


def _proof(raw: Mapping[str, Any]) -> Proof:
    ((kind, given),) = raw.items()
    spec = dict(given or {})
    enabled = spec.pop("enabled", "")
    return Proof(kind, spec, enabled)
