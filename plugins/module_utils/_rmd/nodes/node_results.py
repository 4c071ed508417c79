# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of a node, how, what follows from a look at it, and what became of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Optional, TypeVar

from ..._json import Obj
from ..._nodes.cpuset import to_ranges
from ..._schema.requests import ParameterGroup
from ..rmd_errors import RmdError
from ..workloads import RunningWorkload, Workload, in_one_line
from .actions import (
    Action,
    Delete,
    Release,
    Replace,
    changes,
    plan,
    posted_by,
    removed_by,
    uuid_of,
    wanted_by,
)
from .node_machine import Dialect
from .node_snapshot import NodeSnapshot

J = TypeVar("J", bound="NodeJob")

ROLLBACK, KEEP = "rollback", "keep"

UNCHANGED = "unchanged"
CHANGED = "changed"
WOULD_CHANGE = "would_change"
FAILED = "failed"
ROLLED_BACK = "rolled_back"
WITHHELD = "withheld"


@dataclass(frozen=True)
class NodeJob:
    """What a node should run, and what it should not, by uuid. adopted: names of before, as
    actions.plan takes them. is_fresh: the node has booted since anything was put in force there,
    whatever RMD says."""

    present: tuple[Workload, ...] = ()
    absent: Collection[str] = ()
    adopted: Mapping[str, Sequence[str]] = field(default_factory=dict)
    is_fresh: bool = False

    def without(self: J, uuids: Collection[str]) -> J:
        """The same, but nothing is done about these."""
        present = tuple(workload for workload in self.present if workload.uuid not in uuids)
        absent = frozenset(uuid for uuid in self.absent if uuid not in uuids)
        return replace(self, present=present, absent=absent)


@dataclass(frozen=True)
class WriteRequest(ParameterGroup):
    """How modules are told to write, in WriteSettings' words. lock_wait: in seconds."""

    on_partial_failure: Literal["rollback", "keep"]
    parallel: int
    lock_wait: int


@dataclass(frozen=True)
class WriteSettings:
    """How. on_partial_failure: rollback undoes all nodes when one fails, keep leaves what went
    well.

    parallel: nodes at once. lock_wait_s: how long another run's hold on a node is waited for; the
    one of a killed run lasts 60 s.
    """

    on_partial_failure: str = ROLLBACK
    parallel: int = 16
    lock_wait_s: float = 75.0
    check_mode: bool = False

    @property
    def all_or_nothing(self) -> bool:
        """Whether one node's failure is everybody's."""
        return self.on_partial_failure != KEEP

    @classmethod
    def of(cls, request: WriteRequest, *, check_mode: bool) -> WriteSettings:
        """By the options that modules which write have in common."""
        return cls(
            on_partial_failure=request.on_partial_failure,
            parallel=request.parallel,
            lock_wait_s=float(request.lock_wait),
            check_mode=check_mode,
        )


@dataclass
class WorkloadWrite:
    """What was done, or would be, about one workload. action: keep, post, replace, delete, free or
    restore."""

    uuid: str
    action: str
    problem: str = ""


@dataclass
class SnapshotPair:
    """The looks at a node, the first and the last; None where it could not be looked at."""

    before: Optional[NodeSnapshot] = None
    after: Optional[NodeSnapshot] = None


@dataclass
class NodeFate:
    """How a run ended on a node. changed: something is not as it was before the run, or in check
    mode would not be. error: why it is not as it should be."""

    outcome: str = UNCHANGED
    changed: bool = False
    error: Optional[RmdError] = None

    @property
    def is_stuck(self) -> bool:
        """Whether it failed, and is not what it was before."""
        return self.outcome == FAILED and self.changed

    def describe(self) -> Obj:
        """As a task's result shows it."""
        shown = {
            "outcome": self.outcome,
            "changed": self.changed,
            "failed": self.error is not None,
        }
        if self.error is None:
            return shown
        return {**shown, "kind": self.error.kind, "message": str(self.error)}


@dataclass
class NodeReport:
    """What became of a node. actions: those that are sent."""

    node: str
    dialect: Optional[Dialect] = None
    seen: SnapshotPair = field(default_factory=SnapshotPair)
    actions: tuple[Action, ...] = ()
    writes: list[WorkloadWrite] = field(default_factory=list)
    fate: NodeFate = field(default_factory=NodeFate)
    warnings: list[str] = field(default_factory=list)

    def lines(self) -> tuple[list[str], list[str]]:
        """The workloads that change, or would, before and after; without those that failed."""
        failed = {write.uuid for write in self.writes if write.problem}
        broken = self.seen.before.broken if self.seen.before is not None else {}
        done = [action for action in changes(self.actions) if uuid_of(action) not in failed]
        before = [text for action in done if (text := _before(action, broken))]
        return sorted(before), sorted(in_one_line(workload) for workload in posted_by(done))

    def describe(self) -> Obj:
        """As a task's result shows it."""
        seen = self.seen.after or self.seen.before or NodeSnapshot(())
        shown: Obj = {
            "node": self.node,
            **self.fate.describe(),
            "dialect": self.dialect.value if self.dialect else "",
            "actions": [
                {key: value for key, value in vars(write).items() if value} for write in self.writes
            ],
            "workloads": describe_snapshot(seen),
        }
        if self.warnings:
            shown["warnings"] = list(self.warnings)
        return shown


def _before(action: Action, broken: Mapping[str, str]) -> str:
    """What an action changes, in a line; "" for what was not there. broken: why by id, as of a
    snapshot."""
    if isinstance(action, Delete):
        return in_one_line(action.old.workload)
    if isinstance(action, Replace):
        why = broken.get(action.old.id)
        return in_one_line(action.old.workload) + (f" ({why})" if why else "")
    if isinstance(action, Release):
        return f"core {to_ranges(action.cores)} in a group of workloads, and no workload's"
    return ""


def describe_snapshot(snapshot: NodeSnapshot) -> list[Obj]:
    """The workloads of a node, and whether they are in force by the kernel's word."""
    shown = []
    for running in snapshot.running:
        why = snapshot.differs(running.id)
        enforced = {} if snapshot.report is None else {"enforced": not why}
        shown.append({**describe_running(running), **enforced, **({"differs": why} if why else {})})
    return shown


def describe_running(running: RunningWorkload) -> Obj:
    """A workload as results show it: the module's options, and what the daemon says of it."""
    said = {
        "id": running.id,
        "status": running.status,
        "cos_name": running.cos_name,
        "origin": running.origin,
    }
    # RMD fills in the cache of a policy.
    cache = running.workload.cache
    filled = {"cache": cache.given()} if cache else {}
    return {**filled, **running.workload.describe(), **said}


def plan_of(job: NodeJob, snapshot: NodeSnapshot) -> tuple[Action, ...]:
    """What has to happen on a node for what is asked of it."""
    return plan(
        job.present,
        job.absent,
        snapshot.running,
        adopted=job.adopted,
        broken=snapshot.to_replace(is_fresh=job.is_fresh),
        strays=snapshot.strays,
    )


def left_of(
    done: Sequence[Action], adopted: Mapping[str, Sequence[str]], snapshot: NodeSnapshot
) -> list[Action]:
    """What is still to be done after these actions. adopted: as of NodeJob."""
    present = tuple(wanted_by(done))
    absent = {old.uuid for old in removed_by(done)} - {workload.uuid for workload in present}
    return changes(plan_of(NodeJob(present, absent, adopted), snapshot))


def not_in_force(left: Sequence[Action], snapshot: NodeSnapshot) -> list[Action]:
    """Of what is left, that which RMD has done by its own word, and the kernel has not."""
    return [
        action
        for action in left
        if isinstance(action, Release)
        or (isinstance(action, Replace) and action.old.id in snapshot.broken)
    ]


def pending_of(done: Sequence[Action], snapshot: NodeSnapshot) -> dict[str, str]:
    """What the node's agent has not made true of these actions, by uuid."""
    present = {workload.uuid for workload in wanted_by(done)}
    return snapshot.pending(present, {old.uuid for old in removed_by(done)} - present)
