# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taints that keep other pods off nodes with the hardware: what a person asks for, which of a node's
are ours, and the patch of one node. Pure.

Rules of keys, values and effects: k8s.io/api/core/v1, Taint and Toleration."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._cluster.api_objects.labels import summary_label, taints_annotation
from .._errors import InvalidInput
from .._json import Obj, elements, parse_json, part

NO_EXECUTE = "NoExecute"
EFFECTS = ("NoSchedule", "PreferNoSchedule", NO_EXECUTE)
# The value of the taint with which an autoscaler's pool starts its nodes.
PENDING = "pending"
# Those of nodes whose driver is exchanged, and of nodes where that failed.
EXCHANGE, QUARANTINE = "upgrading", "quarantined"

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
# As kubectl taint takes it.
_WRITTEN = re.compile(r"([^=:]+)(?:=([^=:]*))?:([A-Za-z]+)")
_FIELDS = frozenset({"key", "value", "effect"})


@dataclass(frozen=True, order=True)
class Taint:
    """A taint; two of one key and effect cannot be on one node."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}"

    @property
    def place(self) -> tuple[str, str]:
        """What a node has one of."""
        return self.key, self.effect

    def to_object(self) -> dict[str, str]:
        """As in a node's spec."""
        value = {"value": self.value} if self.value else {}
        return {"key": self.key, **value, "effect": self.effect}

    def toleration(self) -> Obj:
        """What a pod needs to run there nevertheless."""
        return {"key": self.key, "operator": "Equal", "value": self.value, "effect": self.effect}


def parse_taints(entries: Sequence[Mapping[str, Any] | str] | None) -> tuple[Taint, ...]:
    """Taints as a person gives them: as a node's spec has them, or as `kubectl taint` takes them.
    Raises InvalidInput."""
    found: dict[tuple[str, str], Taint] = {}
    for entry in entries or ():
        taint = _parse(entry)
        if taint.place in found:
            raise _wrong(entry, f"{taint.key} has {taint.effect} already, and a node takes one")
        found[taint.place] = taint
    return tuple(sorted(found.values()))


def _parse(entry: Any) -> Taint:
    if isinstance(entry, str):
        written = _WRITTEN.fullmatch(entry)
        if not written:
            raise _wrong(entry, "it is not written as KEY=VALUE:EFFECT")
        entry = dict(zip(("key", "value", "effect"), written.groups(), strict=True))
    if not isinstance(entry, Mapping):
        raise _wrong(entry, "it is neither a mapping nor written as KEY=VALUE:EFFECT")
    unknown = sorted(entry.keys() - _FIELDS)
    if unknown:
        raise _wrong(entry, f"there is no field {', '.join(unknown)}")
    taint = Taint(*(str(entry.get(name) or "") for name in ("key", "value", "effect")))
    if why := _flaw(taint):
        raise _wrong(entry, why)
    return taint


def _flaw(taint: Taint) -> str:
    """Why the API server would refuse a taint, "" where it would not."""
    prefix, slash, name = taint.key.rpartition("/")
    if not _NAME.fullmatch(name) or (slash and not _PREFIX.fullmatch(prefix)):
        return "its key is no qualified name, such as example.com/gpu"
    if taint.value and not _NAME.fullmatch(taint.value):
        return "its value is no label value of at most 63 characters"
    if taint.effect not in EFFECTS:
        return f"its effect is none of {', '.join(EFFECTS)}"
    return ""


def _wrong(entry: Any, why: str) -> InvalidInput:
    return InvalidInput(
        f"taint {json.dumps(entry, default=str)} cannot be used", why=why, todo="correct it"
    )


def is_of_engine(taint: Taint, recipe: str) -> bool:
    """Whether a taint is one that a run takes off by itself, so that nobody can partition by it."""
    own = (PENDING, EXCHANGE, QUARANTINE)
    return taint in [Taint(summary_label(recipe), value, "NoSchedule") for value in own]


def operand_tolerations(
    recipe: str, resources: Sequence[str], taints: Iterable[Taint]
) -> list[Obj]:
    """What all pods of a recipe tolerate: taints named like its resources or its summary label,
    whatever their value and effect, and those that its nodes are partitioned by."""
    names = [*(name for name in resources if "*" not in name), summary_label(recipe)]
    own: list[Obj] = [{"key": name, "operator": "Exists"} for name in names]
    return [*own, *(taint.toleration() for taint in taints if not is_tolerated(taint, own))]


def is_tolerated(taint: Taint, tolerations: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a pod with these tolerations may run on a node with the taint."""
    if taint.effect == "PreferNoSchedule":
        return True
    return any(
        entry.get("key") in (None, "", taint.key)
        and entry.get("effect") in (None, "", taint.effect)
        and (
            entry.get("operator") == "Exists"
            or (bool(entry.get("key")) and str(entry.get("value") or "") == taint.value)
        )
        for entry in tolerations
    )


def taints_in(entries: Iterable[Mapping[str, Any]]) -> list[Taint]:
    """Taints from the entries of a node's spec."""
    return [Taint(str(e["key"]), str(e.get("value") or ""), str(e["effect"])) for e in entries]


def taints_of(node: Mapping[str, Any]) -> list[Taint]:
    """All taints of a Node object."""
    return taints_in(_entries(node))


def _entries(node: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return elements(node, "spec", "taints")


def ours_of(node: Mapping[str, Any], recipe: str) -> set[Taint]:
    """The taints that this recipe has put on a node, by its annotation."""
    text = part(node["metadata"], "annotations").get(taints_annotation(recipe))
    try:
        written = parse_json(text or "[]")
        return set(parse_taints(list(written)))
    except (ValueError, TypeError, InvalidInput):
        return set()


def conflicts(node: Mapping[str, Any], recipe: str, wanted: Iterable[Taint]) -> list[Taint]:
    """Wanted taints in whose place a node has somebody else's, of another value."""
    others = {taint.place: taint for taint in taints_of(node) if taint not in ours_of(node, recipe)}
    return [taint for taint in wanted if others.get(taint.place, taint) != taint]


def taint_patch(node: Mapping[str, Any], recipe: str, wanted: Iterable[Taint]) -> Obj | None:
    """The merge patch by which a node carries the wanted taints and none of ours besides; None where
    it does so already.

    It holds for the node as it was read: a list can only be replaced. What was there before us and
    is wanted stays somebody else's.
    """
    wanted, ours, present = list(wanted), ours_of(node, recipe), taints_of(node)
    going = ours.intersection(present) - set(wanted)
    coming = [taint for taint in wanted if taint not in present]
    after = sorted(set(wanted) & (ours | set(coming)))
    metadata, name = node["metadata"], taints_annotation(recipe)
    noted = json.dumps(list(map(str, after)), separators=(",", ":")) if after else None
    if not going and not coming and part(metadata, "annotations").get(name) == noted:
        return None
    entries = zip(_entries(node), present, strict=True)
    kept = [entry for entry, taint in entries if taint not in going]
    return {
        "metadata": {
            "resourceVersion": metadata["resourceVersion"],
            "annotations": {name: noted},
        },
        "spec": {"taints": [*kept, *(taint.to_object() for taint in coming)]},
    }
