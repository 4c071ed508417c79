# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What pods cannot start without: the objects that their templates name, and the kinds that users'
pods name. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..._cluster.api_objects.objects import ObjectKey
from ..._json import Obj
from .manifests import pod_template

# Users name these, so that nothing of ours shows their want: admission refuses the pod, or the
# scheduler finds no place for it.
USERS_KINDS = frozenset({"RuntimeClass", "DeviceClass", "PriorityClass"})

# Key of a pod's specification -> kind, and the key of the name in what is there ("": that is the
# name). The fields of core/v1 PodSpec.
_NAMED_IN = {
    "serviceAccountName": ("ServiceAccount", ""),
    "resourceClaimTemplateName": ("ResourceClaimTemplate", ""),
    "configMap": ("ConfigMap", "name"),
    "configMapRef": ("ConfigMap", "name"),
    "configMapKeyRef": ("ConfigMap", "name"),
    "secret": ("Secret", "secretName"),
    "secretRef": ("Secret", "name"),
    "secretKeyRef": ("Secret", "name"),
}


def named_by_pods(manifest: Obj) -> set[tuple[str, str, str]]:
    """(kind, namespace, name) of what the pods of an object do not start without."""
    template = pod_template(manifest)
    namespace = str(manifest["metadata"].get("namespace") or "")
    found = _named(template["spec"]) if template else ()
    return {(kind, namespace, name) for kind, name in found}


def stops_pods(key: ObjectKey, named: set[tuple[str, str, str]]) -> bool:
    """Whether pods are not started where an object is missing. named: what the pods of ours name."""
    return key.kind in USERS_KINDS or (key.kind, key.namespace, key.name) in named


def _named(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for item in value:
            yield from _named(item)
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        if key in _NAMED_IN:
            yield from _name_in(item, *_NAMED_IN[key])
        yield from _named(item)


def _name_in(item: Any, kind: str, key: str) -> Iterator[tuple[str, str]]:
    """The name in a reference that is not optional."""
    if isinstance(item, str) and not key:
        yield kind, item
    elif isinstance(item, dict) and not item.get("optional"):
        # A projected Secret is named by "name".
        yield kind, str(item.get(key) or item.get("name") or "")
