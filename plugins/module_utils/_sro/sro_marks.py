# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Special Resource Operator puts on objects and nodes, and the patches that take it off.
Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .._charts.sro_types import GROUP
from .._json import Obj

DOMAIN = "specialresource.openshift.io"
_OF_MODULES = "specialresourcemodule.openshift.io"
OWNED = (f"{DOMAIN}/owned", f"{_OF_MODULES}/owned")
FINALIZERS = ("sro.openshift.io/finalizer", "finalizer.sro.openshift.io")
# What the operator says of its work; what a chart says (wait, state ...) is the chart's.
_ANNOTATIONS = (f"{DOMAIN}/hash", f"{_OF_MODULES}/hash")
_OLD_STATES = ("driver-container", "runtime-enablement", "device-plugin", "device-monitoring")


def object_patch(live: Mapping[str, Any]) -> Obj | None:
    """The merge patch that takes an object out of the operator's hands, None where it is in none.

    Above all the owner goes: with it, whoever deletes the custom resource deletes the object.
    """
    metadata = live["metadata"]
    patch: Obj = {}
    owners = metadata.get("ownerReferences") or []
    kept = [owner for owner in owners if not str(owner["apiVersion"]).startswith(f"{GROUP}/")]
    if kept != owners:
        patch["ownerReferences"] = kept or None
    for key, names in (("labels", OWNED), ("annotations", _ANNOTATIONS)):
        found = {name: None for name in names if name in (metadata.get(key) or {})}
        if found:
            patch[key] = found
    return {"metadata": patch} if patch else None


def node_patch(live: Mapping[str, Any], name: str) -> Obj | None:
    """The merge patch that takes the labels of one custom resource off a node. Those of another one
    whose name begins, or ends, as this one's stay."""
    state = re.compile(rf"{re.escape(DOMAIN)}/state-{re.escape(name)}-\d{{4}}")
    old = {f"{DOMAIN}/{each}-{name}" for each in _OLD_STATES}
    labels = live["metadata"].get("labels") or {}
    found = {label: None for label in labels if state.fullmatch(label) or label in old}
    return {"metadata": {"labels": found}} if found else None


def resource_patch(live: Mapping[str, Any]) -> Obj | None:
    """The merge patch that lets a custom resource be deleted without its operator."""
    finalizers = live["metadata"].get("finalizers") or []
    kept = [each for each in finalizers if each not in FINALIZERS]
    return {"metadata": {"finalizers": kept or None}} if kept != finalizers else None
