# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of recipe_check: a recipe's files looked at without a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional

from .._charts.recipe_reading import read_recipe
from .._errors import InvalidInput
from .._json import Obj
from .._recipes.checking.api_types import ApiTypes
from .._recipes.checking.check import Checked, check
from .._recipes.loading.instances import default_namespace
from .._recipes.templates.overlay import place_of
from .._registry.image_set import image_set
from .._runs.context import RunContext
from .._states.on_nodes.proven_condition import is_wanted
from .rights.needed import needed_rights
from .rights.roles import rules


@dataclass(frozen=True)
class RecipeCheckRequest:
    """What recipe_check looks at: a recipe with its files (bundle, by path), with these options in
    all combinations."""

    recipe: str
    recipe_dir: Optional[str] = None
    bundle: Optional[Mapping[str, str]] = None
    options: Optional[Mapping[str, Any]] = None


def run(request: RecipeCheckRequest, context: RunContext, types: ApiTypes) -> Obj:
    """Check a recipe, show what was found, and fail where something is wrong. types: what a cluster
    would serve."""
    if not request.bundle:
        raise InvalidInput(
            f"the recipe {request.recipe!r} has no files here", todo="name a recipe's folder"
        )
    checked = check(request.bundle, request.recipe, request.options or {}, types, read=read_recipe)
    rights = _rights(checked, types, conditions=is_wanted(request.options or {}))
    for line in _shown(request.recipe, checked, rights, types):
        context.progress(line)
    result = _result(checked, rights, types)
    if checked.errors:
        result.update(failed=True, msg=_message(request.recipe, checked))
    return result


def _shown(source: str, checked: Checked, rights: Sequence[Obj], types: ApiTypes) -> Iterator[str]:
    """What a person sees, line by line."""
    files = checked.recipe.source.files if checked.recipe else {}
    for finding in (*checked.errors, *checked.warnings):
        place = place_of(files, source, finding.file)
        yield f"{finding.severity}: {replace(finding, file=place)}"
    yield from _listed("images", checked.images)
    yield from _listed("rights", [_in_words(rule) for rule in rights])
    if checked.recipe and checked.recipe.removal.release_role:
        yield f"disable first runs the role {checked.recipe.removal.release_role}"
    yield _summary(checked, types)


def _result(checked: Checked, rights: list[Obj], types: ApiTypes) -> Obj:
    return {
        "changed": False,
        "errors": [finding.to_dict() for finding in checked.errors],
        "warnings_found": [finding.to_dict() for finding in checked.warnings],
        "combinations": checked.tried,
        "combinations_left_out": checked.left_out,
        "options_without_example": checked.unsampled,
        "images": checked.images,
        "image_set": image_set(checked.images),
        "rights": rights,
        "release_role": checked.recipe.removal.release_role if checked.recipe else "",
        "objects": len(checked.objects),
        "kubernetes": types.version,
    }


def _rights(checked: Checked, types: ApiTypes, *, conditions: bool) -> list[Obj]:
    """The rules that a run needs for these objects and proofs, as in a ClusterRole; none where the
    recipe is wrong. conditions: whether it writes conditions of nodes."""
    if checked.recipe is None or checked.errors:
        return []
    looked_up = [
        state
        for state in checked.recipe.states.values()
        if state.images.lookup or state.images.build
    ]
    namespace = default_namespace(checked.recipe)
    return rules(
        needed_rights(
            checked.recipe,
            checked.objects,
            types,
            namespace,
            looked_up=looked_up,
            conditions=conditions,
        )
    )


def _in_words(rule: Mapping[str, Any]) -> str:
    group = rule["apiGroups"][0]
    resources = ", ".join(f"{name}.{group}" if group else name for name in rule["resources"])
    named = f" ({', '.join(rule['resourceNames'])})" if rule.get("resourceNames") else ""
    return f"{', '.join(rule['verbs'])}: {resources}{named}"


def _listed(title: str, entries: Sequence[str]) -> list[str]:
    return [f"{title}:", *(f"  {entry}" for entry in entries)] if entries else []


def _summary(checked: Checked, types: ApiTypes) -> str:
    more = f", {checked.left_out} more were left out" if checked.left_out else ""
    text = f"tried {checked.tried} combinations of options{more}; fields as in Kubernetes {types.version}"
    if checked.unsampled:
        text += f"; {', '.join(checked.unsampled)} with the default only, since recipe.yml gives no example"
    return text


def _message(recipe: str, checked: Checked) -> str:
    count, first = len(checked.errors), checked.errors[0]
    if count == 1:
        return f"recipe {recipe} has a mistake: {first}."
    return f"recipe {recipe} has {count} mistakes, listed above and in errors; the first: {first}."
