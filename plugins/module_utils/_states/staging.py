# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which changes are made at once, and which only when something has been proven. Pure.

Node affinity keeps the pods of a DaemonSet off a node until its gates are there. What affinity
cannot hold back (a Deployment, a Job, a custom resource) comes when what its state requires is
proven. And what worked goes when what takes its place is proven: the objects of a state that was
disabled stay until the proofs of the disabled state hold on all nodes, and so does the version
before of what stands on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from .._cluster.api_objects.changes import Change
from .._cluster.api_objects.labels import GROUP_LABEL, state_of
from .._cluster.api_objects.objects import ObjectKey, key_of
from .._cluster.api_objects.ranks import WORKLOADS, rank_of
from .._json import part

# They do nothing by themselves, or not before node affinity lets them.
_INERT = frozenset(
    {"DaemonSet", "DeviceClass", "PodDisruptionBudget", "ResourceClaimTemplate", "Service"}
)

# An adopted object is not deleted but put back as it was.
_TAKING = ("delete", "restore")


class ProvenOn(Enum):
    """On which nodes something has to be proven before what waits for it: on one, on each, or on at
    least one while no other is on its way any more."""

    FIRST = 1
    ALL = 2
    ALL_THAT_CAN = 3


@dataclass(frozen=True)
class Stage:
    """Changes of one state for one group of nodes ("": for all).

    requires: the states that have to be proven before; a deletion requires the very state that it
    belongs to. on: on how many nodes.
    """

    state: str
    group: str
    requires: tuple[str, ...]
    changes: tuple[Change, ...]
    on: ProvenOn = ProvenOn.FIRST

    @property
    def place(self) -> tuple[str, str]:
        """(state, group), of which a run has one such stage."""
        return self.state, self.group

    @property
    def deletes(self) -> bool:
        """Whether it takes objects away; then it does nothing else."""
        return any(change.action in _TAKING for change in self.changes)

    @property
    def keys(self) -> frozenset[ObjectKey]:
        """The objects."""
        return frozenset(change.key for change in self.changes)


@dataclass(frozen=True)
class Staged:
    """A plan, divided: now, and later, when something is proven."""

    now: tuple[Change, ...]
    later: tuple[Stage, ...] = ()

    @property
    def needs_lock(self) -> bool:
        """Whether something is written now, or what is to be deleted has to stay as planned. What
        only waits to be made is planned again when its turn comes."""
        return any(change.action != "unchanged" for change in self.now) or any(
            stage.deletes for stage in self.later
        )


@dataclass(frozen=True)
class Membership:
    """To which state and group an object of the plan belongs."""

    state: str
    group: str


@dataclass(frozen=True)
class StateOrder:
    """What the recipe's graph says under these options: state -> the proven states that it
    requires, the disabled states that have proofs of their own, and the states that begin when no
    node is on its way any more."""

    requires: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    proven_instead: Set[str] = frozenset()
    last: Set[str] = frozenset()

    def stands_on(self, state: str) -> set[str]:
        """The proven states that a state requires, directly or not."""
        found = set(self.requires.get(state, ()))
        return found.union(*map(self.stands_on, found))


def acts(manifest: Mapping[str, Any]) -> bool:
    """Whether an object does something as soon as it exists, so that it has to come in its turn."""
    kind = str(manifest["kind"])
    return kind not in _INERT and rank_of(kind) >= WORKLOADS


def divide(
    changes: Sequence[Change], members: Mapping[ObjectKey, Membership], order: StateOrder
) -> Staged:
    """Divide a plan. members: of all desired objects; one that is to be deleted says by its labels
    whose it is."""
    replaced = {
        _owner(change).state for change in changes if change.action in _TAKING
    } & order.proven_instead
    now: list[Change] = []
    later: dict[tuple[Membership, tuple[str, ...], ProvenOn], list[Change]] = {}
    for change in changes:
        turn = _turn(change, members.get(change.key), order, replaced)
        (later.setdefault(turn, []) if turn else now).append(change)
    stages = (
        Stage(m.state, m.group, requires, tuple(found), on)
        for (m, requires, on), found in later.items()
    )
    return Staged(tuple(now), tuple(stages))


def _turn(
    change: Change, member: Membership | None, order: StateOrder, replaced: Set[str]
) -> tuple[Membership, tuple[str, ...], ProvenOn] | None:
    """Whose change it is, what has to be proven before it, and on which nodes; None where it
    need not wait."""
    if change.action in _TAKING:
        owner = _owner(change)
        return (owner, (owner.state,), ProvenOn.ALL) if owner.state in replaced else None
    if change.action == "unchanged" or member is None:
        return None
    return _turn_of_wanted(change, member, order, replaced)


def _turn_of_wanted(
    change: Change, member: Membership, order: StateOrder, replaced: Set[str]
) -> tuple[Membership, tuple[str, ...], ProvenOn] | None:
    """The same for what is made or changed: its version before stays until what it stands on is
    proven anew, and what acts waits for what its state requires."""
    manifest = change.desired or change.after or {"kind": ""}
    has_pods = acts(manifest) or manifest["kind"] == "DaemonSet"
    foundation = order.stands_on(member.state) & replaced if has_pods else set()
    if foundation and change.action != "create":
        return member, tuple(sorted(foundation)), ProvenOn.ALL
    requires = order.requires.get(member.state, ())
    if not requires or not acts(manifest):
        return None
    on = ProvenOn.ALL_THAT_CAN if member.state in order.last else ProvenOn.FIRST
    return member, requires, on


def members_of(objects: Mapping[str, Sequence[Any]]) -> dict[ObjectKey, Membership]:
    """Where the rendered objects of each state (state -> RenderedObjects) belong."""
    return {
        key_of(item.manifest): Membership(state, item.group)
        for state, found in objects.items()
        for item in found
    }


def _owner(change: Change) -> Membership:
    labels = part(change.before or {}, "metadata", "labels")
    return Membership(state_of(change.before), str(labels.get(GROUP_LABEL, "")))
