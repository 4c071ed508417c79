# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is pure about Kubernetes objects: how one is named, what of it is noise, what of it is
secret."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..._json import Obj, part
from .labels import DRIVER_ANNOTATION

# Written by the API server or by controllers, and no part of what anybody asked for.
_SERVER_METADATA = frozenset(
    {
        "managedFields",
        "resourceVersion",
        "generation",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
    }
)
_SERVER_ANNOTATIONS = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        "deprecated.daemonset.template.generation",
        "deployment.kubernetes.io/revision",
    }
)


@dataclass(frozen=True, order=True)
class ObjectKey:
    """Names one object. namespace is "" for cluster scope. str() reads "DaemonSet
    nvidia-gpu/nvidia-driver"."""

    api_version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return (
            f"{self.kind} {self.namespace}/{self.name}"
            if self.namespace
            else f"{self.kind} {self.name}"
        )


def key_of(obj: Mapping[str, Any]) -> ObjectKey:
    """The key of an object that has apiVersion, kind and metadata.name."""
    metadata = obj["metadata"]
    return ObjectKey(
        obj["apiVersion"], obj["kind"], metadata.get("namespace") or "", metadata["name"]
    )


def without_noise(obj: Mapping[str, Any]) -> Obj:
    """A copy without what the API server and controllers add, and without status. Nested values are
    shared."""
    bare = {key: value for key, value in obj.items() if key != "status"}
    metadata = {
        key: value for key, value in part(obj, "metadata").items() if key not in _SERVER_METADATA
    }
    annotations = {
        key: value
        for key, value in (metadata.pop("annotations", None) or {}).items()
        if key not in _SERVER_ANNOTATIONS
    }
    if annotations:
        metadata["annotations"] = annotations
    bare["metadata"] = metadata
    return bare


def updates_on_delete(daemonset: Mapping[str, Any]) -> bool:
    """Whether a changed DaemonSet leaves its pods as they are until somebody deletes them, as those
    of drivers do."""
    strategy: Mapping[str, Any] = part(daemonset, "spec", "updateStrategy")
    return strategy.get("type") == "OnDelete"


def has_driver_of(pod: Mapping[str, Any], daemonset: Mapping[str, Any]) -> bool:
    """Whether a pod says by its annotation that its driver is the one of the DaemonSet's template,
    whatever else differs between them."""
    template: Mapping[str, Any] = part(daemonset, "spec", "template", "metadata", "annotations")
    wanted = template.get(DRIVER_ANNOTATION)
    return bool(wanted) and part(pod, "metadata", "annotations").get(DRIVER_ANNOTATION) == wanted


def redact(obj: Mapping[str, Any]) -> Obj:
    """A copy in which the values of a Secret are hidden, each behind a short hash that shows
    whether it changed."""
    hidden = dict(obj)
    if obj.get("kind") != "Secret" or obj.get("apiVersion") != "v1":
        return hidden
    for field, decode in (("data", _decode), ("stringData", str.encode)):
        values = obj.get(field)
        if isinstance(values, Mapping):
            hidden[field] = {key: _hide(decode(str(value))) for key, value in values.items()}
    return hidden


def _decode(value: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error:
        return value.encode()


def _hide(value: bytes) -> str:
    return f"REDACTED sha256:{hashlib.sha256(value).hexdigest()[:8]}"
