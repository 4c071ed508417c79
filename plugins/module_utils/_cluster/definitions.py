# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CustomResourceDefinitions: the words that their schemas are made of, and how a run brings them
into a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._json import Obj, elements, part
from .api_client.client import Client
from .api_objects.kinds import Kind
from .crd_discovery import wait_until_served
from .executing import execute
from .planning import PlanRules, plan

TEXT: Obj = {"type": "string"}
NUMBER: Obj = {"type": "integer", "format": "int32", "minimum": 0}
GENERATION: Obj = {"type": "integer", "format": "int64"}
MOMENT: Obj = {"type": "string", "format": "date-time"}


def described(schema: Mapping[str, Any], description: str) -> Obj:
    """A schema with what `kubectl explain` says of it."""
    return {**schema, "description": description}


def object_of(description: str, /, **properties: Any) -> Obj:
    """The schema of an object."""
    return {"type": "object", "description": description, "properties": properties}


def list_of(items: Mapping[str, Any], *keys: str) -> Obj:
    """The schema of a list; by keys, which together are unique, server-side apply merges its items."""
    merged = (
        {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)} if keys else {}
    )
    return {"type": "array", "items": dict(items), **merged}


def conditions(names: str) -> Obj:
    """The schema of a list of metav1.Condition; names says which there are ("Ready and Degraded")."""
    condition = object_of(
        f"One of {names}, as metav1.Condition.",
        type=described(TEXT, "Name of the condition."),
        status=described(
            {"type": "string", "enum": ["True", "False", "Unknown"]}, "Whether it holds."
        ),
        reason=described(TEXT, "Why, in one word for programs."),
        message=described(TEXT, "Why, in a sentence for people."),
        lastTransitionTime=described(MOMENT, "Since when it has this status."),
        observedGeneration=described(
            GENERATION, "The generation of the object that this was found for."
        ),
    )
    condition["required"] = ["type", "status", "reason", "message", "lastTransitionTime"]
    return described(list_of(condition, "type"), f"The conditions {names}.")


def definition(
    kind: Kind,
    schema: Mapping[str, Any],
    columns: Sequence[tuple[str, str, str]],
    *,
    wide: Sequence[tuple[str, str, str]] = (),
    short_names: Sequence[str] = (),
    labels: Mapping[str, str],
) -> Obj:
    """The CRD of a kind with one version, whose status is a subresource.

    columns: (name, type, JSON path) of what `kubectl get` shows. wide: the same of what it adds
    with -o wide.
    """
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{kind.group}", "labels": dict(labels)},
        "spec": {
            "group": kind.group,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.plural,
                "singular": kind.kind.lower(),
                "shortNames": list(short_names),
                "categories": ["hardware"],
            },
            "versions": [
                {
                    "name": kind.version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [
                        *(
                            {"name": name, "type": shape, "jsonPath": path}
                            for name, shape, path in columns
                        ),
                        *(
                            {"name": name, "type": shape, "jsonPath": path, "priority": 1}
                            for name, shape, path in wide
                        ),
                    ],
                    "schema": {"openAPIV3Schema": dict(schema)},
                }
            ],
        },
    }


def kinds_in(definition: Mapping[str, Any]) -> list[Kind]:
    """The kinds that a CRD brings; none where it is not one that could be."""
    spec = part(definition, "spec")
    names = part(spec, "names")
    group, kind, plural = (
        str(each or "") for each in (spec.get("group"), names.get("kind"), names.get("plural"))
    )
    versions = [
        str(each.get("name")) for each in elements(spec, "versions") if isinstance(each, Mapping)
    ]
    return [
        Kind(group, version, kind, plural, spec.get("scope") == "Namespaced")
        for version in versions
    ]


def ensure(client: Client, wanted: Sequence[Obj]) -> bool:
    """Apply CRDs and wait until they are served; returns whether that changed anything.

    A CRD of that name which somebody else has brought is taken over.
    """
    planned = plan(client, wanted, PlanRules(owner="", adopt=True), live={})
    changes = [change for change in planned if change.action != "unchanged"]
    if changes:
        execute(client, changes, guard=_no_guard)
    # Another run may have made the others a moment ago.
    others = [change.before or {} for change in planned if change.action == "unchanged"]
    wait_until_served(client, others, guard=_no_guard)
    return bool(changes)


def _no_guard() -> None:
    """A CRD is the same whoever applies it, so no lock is asked for."""
