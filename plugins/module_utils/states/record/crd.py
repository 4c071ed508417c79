# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CustomResourceDefinition of SpecialResource: the cluster's own record of an enabled recipe.

The same text is published as manifests/crd.yaml for clusters whose admin applies it beforehand (a test compares)."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.labels import DOMAIN

GROUP = DOMAIN
VERSION = "v1"
API_VERSION = f"{GROUP}/{VERSION}"
KIND = "SpecialResource"
PLURAL = "specialresources"
NAME = f"{PLURAL}.{GROUP}"

_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "integer", "format": "int32", "minimum": 0}


def _object(description: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "description": description, "properties": properties}


def _list(items: dict[str, Any], key: str | None = None) -> dict[str, Any]:
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]} if key else {}
    return {"type": "array", "items": items, **keyed}


def _schema() -> dict[str, Any]:
    condition = _object(
        "One of Ready, Progressing and Degraded, as metav1.Condition.",
        type=_TEXT,
        status={"type": "string", "enum": ["True", "False", "Unknown"]},
        reason=_TEXT,
        message=_TEXT,
        lastTransitionTime={"type": "string", "format": "date-time"},
        observedGeneration={"type": "integer", "format": "int64"},
    )
    condition["required"] = ["type", "status", "reason", "message", "lastTransitionTime"]
    group = _object("One kernel group's share of a state.", id=_TEXT, kernel=_TEXT, ready=_NUMBER, total=_NUMBER)
    state = _object(
        "One state of the recipe.",
        name=_TEXT,
        phase=_TEXT,
        scope=_TEXT,
        ready=_NUMBER,
        total=_NUMBER,
        reason=_TEXT,
        message=_TEXT,
        since=_TEXT,
        groups=_list(group),
    )
    state["required"] = ["name", "phase"]
    problem = _object(
        "What keeps one node from being ready.",
        node=_TEXT,
        state=_TEXT,
        phase=_TEXT,
        reason=_TEXT,
        message=_TEXT,
        since=_TEXT,
        todo=_TEXT,
    )
    spec = _object(
        "What was asked for.",
        recipe=_TEXT,
        namespace=_TEXT,
        options={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    )
    spec["required"] = ["recipe", "namespace"]
    image = _object(
        "The image of one kernel group, looked up or built.",
        state=_TEXT,
        group=_TEXT,
        kernel=_TEXT,
        image=_TEXT,
        inputs=_TEXT,
        problem=_TEXT,
        failed=_TEXT,
    )
    image["required"] = ["state", "group"]
    status = _object(
        "What was found.",
        phase=_TEXT,
        message=_TEXT,
        observedGeneration={"type": "integer", "format": "int64"},
        nodes=_object("Nodes with the hardware.", total=_NUMBER, ready=_NUMBER, summary=_TEXT),
        kernels=_list(_TEXT),
        kernelCount=_NUMBER,
        conditions=_list(condition, "type"),
        states=_list(state, "name"),
        problems=_list(problem),
        images={**_list(image), "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["state", "group"]},
    )
    root = _object("An enabled special resource: hardware and what makes it usable.", spec=spec, status=status)
    root["required"] = ["spec"]
    return root


def definition() -> dict[str, Any]:
    """The CRD as an object to apply. By its ApplySet label, its instances may be parents of an ApplySet (KEP-3659)."""
    columns = [
        ("Phase", "string", ".status.phase"),
        ("Nodes", "string", ".status.nodes.summary"),
        ("Kernels", "integer", ".status.kernelCount"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME, "labels": {"applyset.kubernetes.io/is-parent-type": "true"}},
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": {
                "kind": KIND,
                "listKind": f"{KIND}List",
                "plural": PLURAL,
                "singular": "specialresource",
                "shortNames": ["sr"],
                "categories": ["hardware"],
            },
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [
                        {"name": name, "type": kind, "jsonPath": path} for name, kind, path in columns
                    ],
                    "schema": {"openAPIV3Schema": _schema()},
                }
            ],
        },
    }
