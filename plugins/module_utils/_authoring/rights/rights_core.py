# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of recipe_rights: the roles that enabling recipes needs, as manifests and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, Optional

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]

from ..._charts.recipe_reading import read_recipe
from ..._cluster.api_client.rights import Right
from ..._cluster.api_objects.labels import OWNERSHIP
from ..._errors import InvalidInput
from ..._json import Obj
from ..._recipes.checking.api_types import ApiTypes
from ..._recipes.checking.check import Checked, check
from ..._recipes.checking.made import Made
from ..._recipes.loading.instances import default_namespace
from ..._recipes.loading.lookups import is_looked_up, settled
from ..._recipes.loading.options import resolve
from ..._recipes.loading.recipe import Recipe
from ..._recipes.templates.text_dump import represent_text
from ..._schema.requests import ParameterGroup
from ..._states.on_nodes.proven_condition import is_wanted
from .needed import needed_rights
from .roles import Subject, bindings, cluster_roles, namespaced_roles

DEFAULT_NAME = "hardware-enablement"
# Characters of the words of a rule on one line, beside indentation and key.
_ROOM = 125


@dataclass(frozen=True)
class WantedRoles(ParameterGroup):
    """Which roles the rights become: scope says whether in one namespace, or for all; name is how
    their names begin, None for one of ours. subjects are bound to those whose names end with role."""

    scope: Literal["namespace", "cluster"] = "namespace"
    name: Optional[str] = None
    role: Literal["runner", "viewer"] = "runner"
    subjects: tuple[Subject, ...] = ()


@dataclass(frozen=True)
class RecipeRightsRequest:
    """Recipes, and how they are enabled. bundles: recipe -> its files, by path. any_options: what
    holds whatever the options are, instead of with these."""

    recipes: Sequence[str]
    recipe_dir: Optional[str] = None
    bundles: Optional[Mapping[str, Mapping[str, str]]] = None
    options: Mapping[str, Any] = field(default_factory=dict)
    any_options: bool = False
    namespace: Optional[str] = None
    instance: Optional[str] = None
    wanted: WantedRoles = WantedRoles()


def run(request: RecipeRightsRequest, types: ApiTypes) -> Obj:
    """The roles for recipes. types: what a cluster would serve."""
    bundles, wanted = request.bundles or {}, request.wanted
    _refuse(request, list(bundles))
    rights: list[Right] = []
    namespace: Obj = {}
    for recipe, bundle in bundles.items():
        found, namespace = _rights_of(recipe, bundle, request, types)
        rights += found
    if wanted.scope == "cluster":
        manifests = cluster_roles(rights, wanted.name or DEFAULT_NAME)
    else:
        name = wanted.name or f"{DEFAULT_NAME}-{request.instance or min(bundles)}"
        manifests = namespaced_roles(rights, name, namespace)
    if wanted.subjects:
        manifests += bindings(manifests, wanted.subjects, wanted.role)
    return {"changed": False, "manifests": manifests, "text": _as_text(manifests, list(bundles))}


def _refuse(request: RecipeRightsRequest, recipes: Sequence[str]) -> None:
    """Raise InvalidInput for what several recipes cannot share."""
    if len(recipes) < 2:
        return
    several = f"{', '.join(recipes)} are named"
    if request.wanted.scope == "namespace":
        todo = "name one, or set scope to cluster"
        raise InvalidInput(
            "roles in a namespace are made for one recipe at a time", why=several, todo=todo
        )
    if request.options or request.instance:
        raise InvalidInput(
            "options and an instance belong to one recipe", why=several, todo="name one"
        )


def _rights_of(
    name: str, bundle: Mapping[str, str], request: RecipeRightsRequest, types: ApiTypes
) -> tuple[list[Right], Obj]:
    """The rights, and the namespace of the operands."""
    checked = check(
        bundle,
        name,
        request.options,
        types,
        namespace=request.namespace or "",
        instance=request.instance,
        combine=request.any_options,
        read=read_recipe,
    )
    recipe, objects = _recipe_of(checked, name, any_options=request.any_options), checked.objects
    namespace = request.namespace or default_namespace(recipe)
    if request.any_options:
        looked_up = [
            state for state in recipe.states.values() if state.images.lookup or state.images.build
        ]
        objects = checked.all_objects
    else:
        recipe = settled(recipe, resolve(recipe, request.options, complete=False))
        looked_up = [state for state in recipe.states.values() if is_looked_up(state)]
    rights = needed_rights(
        recipe,
        objects,
        types,
        namespace,
        looked_up=looked_up,
        conditions=request.any_options or is_wanted(request.options),
    )
    return rights, _as_it_has_to_be(namespace, objects)


def _recipe_of(checked: Checked, name: str, *, any_options: bool) -> Recipe:
    """The recipe. Raises InvalidInput where not all that it needs is known."""
    if checked.recipe is None or checked.errors:
        raise InvalidInput(
            f"the rights of recipe {name} cannot be told",
            why=f"{len(checked.errors)} things are wrong with it, the first: {checked.errors[0]}",
            todo="mend what hardware.enablement.recipe_check lists",
        )
    if any_options and checked.left_out:
        raise InvalidInput(
            f"the rights of recipe {name} for any options cannot be told",
            why=f"it has {checked.left_out} combinations of options more than are tried",
            todo="give the options that are used, in options, instead of any_options",
        )
    return checked.recipe


def _as_it_has_to_be(namespace: str, objects: Sequence[Made]) -> Obj:
    """A Namespace with what the recipe says of it and without our marks: it belongs to who makes it
    beforehand."""
    manifests = [made.manifest for made in objects if made.manifest["kind"] == "Namespace"]
    labels = {
        name: value
        for manifest in manifests
        if manifest["metadata"]["name"] == namespace
        for name, value in (manifest["metadata"].get("labels") or {}).items()
        if name not in OWNERSHIP
    }
    metadata: Obj = {"name": namespace, "labels": labels} if labels else {"name": namespace}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _as_text(manifests: Sequence[Mapping[str, Any]], recipes: Sequence[str]) -> str:
    """The manifests as one List for kubectl apply, with where they come from; the words of a rule
    are on one line, as people write them, where they have room there."""
    head = f"# The rights that a run needs for {', '.join(recipes)}, and no more; made by the playbook rights.\n"
    listed = {"apiVersion": "v1", "kind": "List", "items": [dict(each) for each in manifests]}
    return (
        head
        + "---\n"
        + str(yaml.dump(listed, Dumper=_dumper_class(), sort_keys=False, width=2 * _ROOM))
    )


@cache
def _dumper_class() -> Any:
    """Made when it is first needed: without PyYAML there is nothing to inherit from."""

    class Dumper(yaml.SafeDumper):
        def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:  # noqa: FBT001, FBT002 - PyYAML's own signature
            """Items of a list are indented."""
            del indentless
            return super().increase_indent(flow, indentless=False)

    Dumper.add_representer(list, _words)
    Dumper.add_representer(str, represent_text)
    return Dumper


def _words(dumper: Any, value: list[Any]) -> Any:
    flow = all(isinstance(item, str) for item in value) and len(", ".join(value)) <= _ROOM
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=flow)
