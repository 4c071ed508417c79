# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a node stands in the exchange of its driver, or in a remedy: the annotation, and the patch that
goes with each step. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from .._cluster.api_objects.labels import summary_label, upgrade_annotation
from .._json import Obj, elements, parse_json, part
from .facts import NodeFacts
from .taints import EXCHANGE, PENDING, QUARANTINE, Taint, is_of_engine, taints_of

UPGRADING, REMEDY, QUARANTINED, DONE = "upgrading", "remedy", "quarantined", "done"
UNDER_WAY = (UPGRADING, REMEDY)
# The value of the taint that goes with a phase; a node that is done has none.
_TAINTS = {UPGRADING: EXCHANGE, REMEDY: QUARANTINE, QUARANTINED: QUARANTINE}


@dataclass(frozen=True)
class NodeUpgrade:
    """phase: UPGRADING, REMEDY, QUARANTINED or DONE. target: which version of the driver that is
    about.

    since: when the phase began, an API timestamp. cordoned: by us, so that we uncordon it. took:
    seconds from cordon to proof, of a node that is done. reason: what it waits for, or why it
    failed. boot: the boot id that is to change, of a node that has to be rebooted. remedy: which
    one is under way, or was the last before a quarantine ("none": not begun). fault: what was said
    of the node that its proofs cannot see. tried: when remedies were begun, oldest first, API
    timestamps. withdrawn: the states whose labels the node's own agent is to take off.
    """

    phase: str
    target: str = ""
    since: str = ""
    cordoned: bool = False
    took: int = 0
    reason: str = ""
    boot: str = ""
    remedy: str = ""
    fault: str = ""
    tried: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()

    @property
    def is_under_way(self) -> bool:
        """Whether somebody is at it, or was when a run ended early."""
        return self.phase in UNDER_WAY


def read_upgrade(annotations: Mapping[str, str], recipe: str) -> NodeUpgrade | None:
    """What a node's annotation says; None where there is none, or nobody can read it."""
    return _parse(annotations.get(upgrade_annotation(recipe)) or "")


@lru_cache(maxsize=4096)
def _parse(text: str) -> NodeUpgrade | None:
    try:
        found = parse_json(text or "null")
        for name in ("tried", "withdrawn"):
            if isinstance(found, dict) and isinstance(found.get(name), list):
                found[name] = tuple(found[name])
        upgrade = NodeUpgrade(**found) if found else None
    except (ValueError, TypeError):
        return None
    known = upgrade is not None and upgrade.phase in (*UNDER_WAY, QUARANTINED, DONE)
    return upgrade if known and _fits(upgrade) else None


def _fits(upgrade: NodeUpgrade | None) -> bool:
    """Whether each field is of its type: anybody who may patch nodes may have written it."""
    default = NodeUpgrade("")
    return (
        upgrade is not None
        and all(
            type(value) is type(getattr(default, name)) for name, value in asdict(upgrade).items()
        )
        and all(isinstance(text, str) for text in (*upgrade.tried, *upgrade.withdrawn))
    )


def upgrade_rows(nodes: Iterable[NodeFacts], recipe: str) -> list[dict[str, str]]:
    """A row (node, phase, since, message) for each node that is on its way or in quarantine, that
    first."""
    found = [(node.name, read_upgrade(node.annotations, recipe)) for node in nodes]
    rows = [
        {"node": name, "phase": each.phase, "since": each.since, "message": each.reason}
        for name, each in found
        if each and each.phase != DONE
    ]
    return sorted(rows, key=lambda row: (row["phase"], row["since"], row["node"]))


def to_text(upgrade: NodeUpgrade) -> str:
    """The annotation: what says nothing is left out."""
    default = asdict(NodeUpgrade(""))
    said = {name: value for name, value in asdict(upgrade).items() if value != default[name]}
    return json.dumps(said, separators=(",", ":"))


def upgrade_patch(node: Mapping[str, Any], recipe: str, upgrade: NodeUpgrade | None) -> Obj:
    """The merge patch by which a node stands as upgrade says, None for one that is in no exchange.

    It is cordoned and has a taint while it is under way, which keeps pods off that a cordon does
    not; in quarantine it has that taint alone. What was cordoned before us stays so. It holds for
    the node as it was read: raises KeyError where that has no resourceVersion.
    """
    metadata = node["metadata"]
    before = read_upgrade(part(metadata, "annotations"), recipe)
    patch: Obj = {
        "metadata": {
            "resourceVersion": metadata["resourceVersion"],
            "annotations": {upgrade_annotation(recipe): to_text(upgrade) if upgrade else None},
        }
    }
    changed = _cordon(part(node, "spec"), before, upgrade)
    taints = _taints(node, recipe, _TAINTS.get(upgrade.phase, "") if upgrade else "")
    if taints is not None:
        changed["taints"] = taints
    return {**patch, "spec": changed} if changed else patch


def _cordon(spec: Mapping[str, Any], before: NodeUpgrade | None, after: NodeUpgrade | None) -> Obj:
    """What of a node's spec cordons it, or uncordons it; empty where it is as it should be."""
    under_way = after is not None and after.is_under_way
    ours = before is not None and before.cordoned
    if under_way and not spec.get("unschedulable"):
        return {"unschedulable": True}
    if not under_way and ours and spec.get("unschedulable"):
        return {"unschedulable": None}
    return {}


def _taints(node: Mapping[str, Any], recipe: str, value: str) -> list[Obj] | None:
    """The node's taints with ours of that value ("": without any); None where they are so.

    A node takes one taint of a key and effect, so that with which it has started makes room.
    """
    entries = elements(node, "spec", "taints")
    present = taints_of(node)
    ours = [taint for taint in present if is_of_engine(taint, recipe)]
    wanted = [Taint(summary_label(recipe), value, "NoSchedule")] if value else []
    if ours == wanted:
        return None
    kept = [dict(each) for each, taint in zip(entries, present, strict=True) if taint not in ours]
    return [*kept, *(taint.to_object() for taint in wanted)]


def proven_patch(
    taints: Sequence[Mapping[str, Any]], annotations: Mapping[str, str], recipe: str
) -> list[Obj]:
    """The JSON patch that takes off a node what ends once it is proven: the taint with which it
    started, or its quarantine; empty where it has none. Refused where any of it has changed
    meanwhile. A node that somebody is at, or whose fault the proofs cannot see, stays as it is."""
    patch: list[Obj] = []
    upgrade = read_upgrade(annotations, recipe)
    if upgrade and (upgrade.is_under_way or (upgrade.phase == QUARANTINED and upgrade.fault)):
        return []
    for index, entry in enumerate(taints):
        value = entry.get("value")
        if entry.get("key") == summary_label(recipe) and value in (PENDING, QUARANTINE):
            path = f"/spec/taints/{index}"
            patch += [
                {"op": "test", "path": path, "value": dict(entry)},
                {"op": "remove", "path": path},
            ]
            break
    if upgrade and upgrade.phase == QUARANTINED:
        name = upgrade_annotation(recipe)
        path = f"/metadata/annotations/{name.replace('/', '~1')}"
        patch += [
            {"op": "test", "path": path, "value": annotations[name]},
            {"op": "remove", "path": path},
        ]
    return patch
