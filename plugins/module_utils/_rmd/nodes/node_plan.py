# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node's plan by a look at it: before a write, and of what is left after it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .actions import Action, Release, Replace, changes, plan, removed_by, wanted_by
from .node_results import NodeJob
from .node_snapshot import NodeSnapshot


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
