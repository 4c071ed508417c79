# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of recipe_rights: the roles that enabling recipes needs, as manifests and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

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
from ..._recipes.checking.check import check
from ..._recipes.checking.made import Made
from ..._recipes.loading.instances import default_namespace
from ..._recipes.loading.lookups import is_looked_up, settled
from ..._recipes.loading.options import resolve
from .needed import needed_rights
from .roles import bindings, cluster_roles, namespaced_roles

DEFAULT_NAME = "hardware-enablement"


def run(
    params: Mapping[str, Any], bundles: Mapping[str, Mapping[str, str]], types: ApiTypes
) -> Obj:
    """The roles for recipes. bundles: recipe -> its files. types: what a cluster would serve."""
    _refuse(params, list(bundles))
    rights: list[Right] = []
    namespace: Obj = {}
    for recipe, bundle in bundles.items():
        found, namespace = _rights_of(recipe, bundle, params, types)
        rights += found
    name = params.get("name") or DEFAULT_NAME
    if params["scope"] == "namespace" and not params.get("name"):
        name += f"-{params.get('instance') or min(bundles)}"
    if params["scope"] == "cluster":
        manifests = cluster_roles(rights, name)
    else:
        manifests = namespaced_roles(rights, name, namespace)
    if params["subjects"]:
        manifests += bindings(manifests, params["subjects"], params["role"])
    return {"changed": False, "manifests": manifests, "text": _as_text(manifests, list(bundles))}


def _refuse(params: Mapping[str, Any], recipes: Sequence[str]) -> None:
    """Raise InvalidInput for what several recipes cannot share."""
    if len(recipes) < 2:
        return
    several = f"{', '.join(recipes)} are named"
    if params["scope"] == "namespace":
        todo = "name one, or set scope to cluster"
        raise InvalidInput(
            "roles in a namespace are made for one recipe at a time", why=several, todo=todo
        )
    if params["options"] or params.get("instance"):
        raise InvalidInput(
            "options and an instance belong to one recipe", why=several, todo="name one"
        )


def _rights_of(
    name: str, bundle: Mapping[str, str], params: Mapping[str, Any], types: ApiTypes
) -> tuple[list[Right], Obj]:
    """The rights, and the namespace of the operands."""
    everything = bool(params["any_options"])
    checked = check(
        bundle,
        name,
        params["options"],
        types,
        namespace=params.get("namespace") or "",
        instance=params.get("instance"),
        combine=everything,
        read=read_recipe,
    )
    if checked.recipe is None or checked.errors:
        raise InvalidInput(
            f"the rights of recipe {name} cannot be told",
            why=f"{len(checked.errors)} things are wrong with it, the first: {checked.errors[0]}",
            todo="mend what hardware.enablement.recipe_check lists",
        )
    namespace = params.get("namespace") or default_namespace(checked.recipe)
    recipe, objects = checked.recipe, checked.objects
    if everything:
        looked_up = [state for state in recipe.states.values() if state.lookup or state.build]
        objects = checked.all_objects
    else:
        recipe = settled(recipe, resolve(recipe, params["options"], complete=False))
        looked_up = [state for state in recipe.states.values() if is_looked_up(state)]
    rights = needed_rights(recipe, objects, types, namespace, looked_up=looked_up)
    return rights, _as_it_has_to_be(namespace, objects)


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
    are on one line, as people write them."""
    head = f"# The rights that a run needs for {', '.join(recipes)}, and no more; made by the playbook rights.\n"
    listed = {"apiVersion": "v1", "kind": "List", "items": [dict(each) for each in manifests]}
    return (
        head + "---\n" + str(yaml.dump(listed, Dumper=_dumper_class(), sort_keys=False, width=100))
    )


@cache
def _dumper_class() -> Any:
    """Made when it is first needed: without PyYAML there is nothing to inherit from."""

    class Dumper(yaml.SafeDumper):
        def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:
            """Items of a list are indented."""
            del indentless
            return super().increase_indent(flow, indentless=False)

    Dumper.add_representer(list, _words)
    return Dumper


def _words(dumper: Any, value: list[Any]) -> Any:
    flow = all(isinstance(item, str) for item in value)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=flow)
