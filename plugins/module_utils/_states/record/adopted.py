# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was in the objects that were taken over, so that it can be put back: a patch for each, in an
annotation of the record. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..._cluster.api_objects.changes import Change
from ..._cluster.api_objects.labels import DOMAIN
from ..._cluster.api_objects.merging import patched, together, undoing
from ..._cluster.api_objects.objects import ObjectKey, without_noise
from ..._json import Obj, parse_json, part

Adopted = Mapping[ObjectKey, Obj]

ANNOTATION = f"{DOMAIN}/adopted"


def read(record: Mapping[str, Any] | None) -> dict[ObjectKey, Obj]:
    """Object -> the merge patch that gives it back."""
    annotations = part(record or {}, "metadata", "annotations")
    try:
        found = parse_json(annotations.get(ANNOTATION) or "[]")
        return {ObjectKey(*entry["object"]): dict(entry["patch"]) for entry in found}
    except (ValueError, TypeError, KeyError):
        return {}


def to_text(adopted: Adopted) -> str:
    """The annotation's value; "" for nothing."""
    entries = [
        {"object": [key.api_version, key.kind, key.namespace, key.name], "patch": patch}
        for key, patch in sorted(adopted.items())
    ]
    return json.dumps(entries, separators=(",", ":"), sort_keys=True) if entries else ""


def after(adopted: Adopted, changes: Iterable[Change]) -> dict[ObjectKey, Obj]:
    """What the record has to remember before these changes are made. For an object that is taken
    over now, that is the patch to what it was; for one that was taken over before, the remembered
    patch with what these changes add."""
    found = dict(adopted)
    for change in changes:
        if change.action != "update" or not (change.adopted or change.key in adopted):
            continue
        undo = undoing(without_noise(change.after or {}), without_noise(change.before or {}))
        found[change.key] = undo if change.adopted else together(undo, adopted[change.key])
    return found


def removal(key: ObjectKey, live: Obj, adopted: Adopted) -> Change:
    """How an object of ours goes: one that was taken over is given back."""
    if key not in adopted:
        return Change(key, "delete", live, None)
    return Change(key, "restore", live, patched(live, adopted[key]), "given back", adopted[key])
