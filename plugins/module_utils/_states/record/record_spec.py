# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a SpecialResource says was asked for, and what it remembers of the objects that belong to
it. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..._cluster.api_objects.labels import (
    APPLYSET_GROUP_KINDS_ANNOTATION,
    APPLYSET_ID_LABEL,
    APPLYSET_NAMESPACES_ANNOTATION,
    APPLYSET_TOOLING_ANNOTATION,
    DOMAIN,
)
from ..._json import Obj, parse_json, part
from ..._nodes.expected_kernels import ExpectedKernel
from ..._nodes.pools import NodePool
from ..._nodes.selectors import LabelSet, selector_text
from ..._nodes.taints import Taint
from ..._recipes.loading.recipe import Recipe
from .adopted import ANNOTATION as ADOPTED_ANNOTATION
from .adopted import Adopted, to_text
from .adopted import read as read_adopted
from .crd import API_VERSION, KIND

TOOLING = "hardware.enablement/v1"
KINDS_ANNOTATION = f"{DOMAIN}/state-kinds"
MADE_NAMESPACES_ANNOTATION = f"{DOMAIN}/made-namespaces"


def make_spec(
    recipe: Recipe,
    namespace: str,
    options: Mapping[str, Any],
    *,
    pools: Iterable[NodePool] = (),
    selector: Iterable[LabelSet] = (),
    taints: Iterable[Taint] = (),
    expected: Iterable[ExpectedKernel] = (),
    recipe_dir: str = "",
) -> Obj:
    """The spec: only options that differ from the recipe's defaults; of those that are secret, only
    the names.

    recipe_dir: where the recipe is, "" for the collection itself. resources and selector (label
    selectors, any of which makes a node one of ours) say to others what this one serves.
    """
    secret = _secret_options(recipe)
    asked = _differing_options(recipe, options)
    spec: Obj = {
        "recipe": recipe.source.name,
        "namespace": namespace,
        "options": {name: value for name, value in asked.items() if name not in secret},
        "resources": list(recipe.devices.resources),
        "selector": [selector_text(labels) for labels in selector],
    }
    where_there_are_any: Mapping[str, list[Any] | str] = {
        "recipeDir": recipe_dir,
        "foundAs": recipe.source.found_as,
        "pools": [pool.to_spec(secret) for pool in pools],
        "taints": [taint.to_object() for taint in taints],
        "expectedKernels": [kernel.to_spec() for kernel in expected],
        "depends": [dependency.name for dependency in recipe.depends],
        "secretOptions": [name for name in asked if name in secret],
    }
    return spec | {field: entries for field, entries in where_there_are_any.items() if entries}


def _secret_options(recipe: Recipe) -> set[str]:
    return {option.name for option in recipe.options.values() if option.no_log}


def _differing_options(recipe: Recipe, options: Mapping[str, Any]) -> Obj:
    """The options that are not at their defaults, by name."""
    defaults = {option.name: option.default for option in recipe.options.values()}
    return {name: value for name, value in sorted(options.items()) if value != defaults.get(name)}


def state_kinds(record: Mapping[str, Any] | None) -> dict[str, list[str]]:
    """For each state the kinds ("apps/v1/DaemonSet") that it has ever applied, as the record
    remembers them."""
    annotations = part(record or {}, "metadata", "annotations")
    try:
        found = parse_json(annotations.get(KINDS_ANNOTATION) or "{}")
        return {str(state): [str(kind) for kind in kinds] for state, kinds in found.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def made_namespaces(record: Mapping[str, Any] | None) -> list[str]:
    """The namespaces that did not exist before this special resource was enabled."""
    annotations = part(record or {}, "metadata", "annotations")
    return [name for name in (annotations.get(MADE_NAMESPACES_ANNOTATION) or "").split(",") if name]


def namespaces(record: Mapping[str, Any] | None) -> list[str]:
    """The namespaces that hold objects of this special resource."""
    annotations = part(record or {}, "metadata", "annotations")
    return [
        name for name in (annotations.get(APPLYSET_NAMESPACES_ANNOTATION) or "").split(",") if name
    ]


def group_kind(name: str) -> str:
    """ "apps/v1/DaemonSet" as ApplySets write it: "DaemonSet.apps"."""
    api_version, _slash, kind = name.rpartition("/")
    group, _slash, _version = api_version.rpartition("/")
    return f"{kind}.{group}" if group else kind


def make_record(
    *,
    name: str,
    applyset_id: str,
    spec: Mapping[str, Any],
    kinds: Mapping[str, Iterable[str]],
    namespaces: Iterable[str],
    made: Iterable[str],
    adopted: Adopted,
) -> Obj:
    """The record as an object to apply. kinds: for each state, what it has ever applied
    ("apps/v1/DaemonSet")."""
    remembered = {
        state: sorted(set(entries)) for state, entries in sorted(kinds.items()) if entries
    }
    group_kinds = {group_kind(kind) for entries in remembered.values() for kind in entries}
    annotations = {
        APPLYSET_TOOLING_ANNOTATION: TOOLING,
        APPLYSET_GROUP_KINDS_ANNOTATION: ",".join(sorted(group_kinds)),
        APPLYSET_NAMESPACES_ANNOTATION: ",".join(sorted(set(namespaces))),
        KINDS_ANNOTATION: json.dumps(remembered, separators=(",", ":")),
        MADE_NAMESPACES_ANNOTATION: ",".join(sorted(set(made))),
        ADOPTED_ANNOTATION: to_text(adopted),
    }
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {
            "name": name,
            "labels": {APPLYSET_ID_LABEL: applyset_id},
            "annotations": annotations,
        },
        "spec": dict(spec),
    }


def with_spec(
    record: Mapping[str, Any] | None, name: str, applyset_id: str, spec: Mapping[str, Any]
) -> Obj:
    """The record as it stands, but for the spec, as an object to apply."""
    return make_record(
        name=name,
        applyset_id=applyset_id,
        spec=spec,
        kinds=state_kinds(record),
        namespaces=namespaces(record),
        made=made_namespaces(record),
        adopted=read_adopted(record),
    )
