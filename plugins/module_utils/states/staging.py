# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which changes are made at once, and which only when something has been proven. Pure.

Node affinity keeps the pods of a DaemonSet off a node until its gates are there. What affinity cannot hold back (a
Deployment, a Job, a custom resource) comes when what its state requires is proven. And what worked goes when what takes
its place is proven: the objects of a state that was disabled stay until the proofs of the disabled state hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.changes import Change
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.labels import GROUP_LABEL, STATE_LABEL
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.objects import ObjectKey, key_of
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.ranks import WORKLOADS, rank_of

Obj = dict[str, Any]

# They do nothing by themselves, or not before node affinity lets them.
_INERT = frozenset({"DaemonSet", "PodDisruptionBudget", "Service"})


@dataclass(frozen=True)
class Stage:
    """Changes of one state for one group of nodes ("": for all).

    requires: the states that have to be proven before; a deletion requires the very state that it belongs to.
    """

    state: str
    group: str
    requires: tuple[str, ...]
    changes: tuple[Change, ...]

    @property
    def place(self) -> tuple[str, str]:
        """(state, group), of which a run has one such stage."""
        return self.state, self.group

    @property
    def keys(self) -> frozenset[ObjectKey]:
        """The objects."""
        return frozenset(change.key for change in self.changes)


@dataclass(frozen=True)
class Staged:
    """A plan, divided: now; later, when requirements are proven; last, when what takes their place is."""

    now: tuple[Change, ...]
    later: tuple[Stage, ...] = ()
    last: tuple[Stage, ...] = ()


@dataclass(frozen=True)
class Membership:
    """To which state and group an object of the plan belongs."""

    state: str
    group: str


@dataclass(frozen=True)
class Order:
    """What the recipe's graph says under these options: state -> the proven states that it requires, and the disabled
    states that have proofs of their own."""

    requires: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    proven_instead: Set[str] = frozenset()


def acts(manifest: Mapping[str, Any]) -> bool:
    """Whether an object does something as soon as it exists, so that it has to come in its turn."""
    kind = str(manifest["kind"])
    return kind not in _INERT and rank_of(kind) >= WORKLOADS


def divide(changes: Sequence[Change], members: Mapping[ObjectKey, Membership], order: Order) -> Staged:
    """Divide a plan. members: of all desired objects; one that is to be deleted says by its labels whose it is."""
    now: list[Change] = []
    later: dict[Membership, list[Change]] = {}
    last: dict[Membership, list[Change]] = {}
    for change in changes:
        member = members.get(change.key)
        if change.action == "unchanged":
            now.append(change)
        elif change.action == "delete":
            owner = _owner(change)
            (last.setdefault(owner, []) if owner.state in order.proven_instead else now).append(change)
        elif member and order.requires.get(member.state) and acts(change.desired or change.after or {"kind": ""}):
            later.setdefault(member, []).append(change)
        else:
            now.append(change)
    return Staged(
        tuple(now),
        tuple(Stage(m.state, m.group, order.requires[m.state], tuple(found)) for m, found in later.items()),
        tuple(Stage(m.state, m.group, (m.state,), tuple(found)) for m, found in last.items()),
    )


def members_of(objects: Mapping[str, Sequence[Any]]) -> dict[ObjectKey, Membership]:
    """Where the rendered objects of each state (state -> RenderedObjects) belong."""
    return {key_of(item.manifest): Membership(state, item.group) for state, found in objects.items() for item in found}


def _owner(change: Change) -> Membership:
    labels = ((change.before or {}).get("metadata") or {}).get("labels") or {}
    return Membership(str(labels.get(STATE_LABEL, "")), str(labels.get(GROUP_LABEL, "")))
