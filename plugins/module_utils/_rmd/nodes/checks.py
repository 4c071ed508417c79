# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of a node's actions are sent at all: RMD's rules for each workload alone, so that one does
not hold up others.

The one that comes first is the one that gets what two of them want: cores, or ways."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..rmd_errors import Refusal
from ..workloads import RunningWorkload, Workload
from .actions import Action, Delete, Post, Replace, changes, posted_by, removed_by, uuid_of
from .node_machine import Machine
from .node_writer import NodeWriter
from .report_fields import Report
from .rules import capacity, problems, unchangeable


def machine_for(
    actions: Sequence[Action], writer: NodeWriter, *, may_write: bool = False
) -> Machine:
    """What the rules need to know for these actions; asks the writer for no more than that.
    may_write: as the writer takes it."""
    adding = posted_by(actions)
    if not adding:
        return Machine(dialect=writer.dialect)
    return writer.machine(
        mba=any(workload.mba for workload in adding),
        policies=any(workload.policy for workload in adding),
        may_write=may_write,
    )


def check(
    actions: Sequence[Action], running: Iterable[RunningWorkload], machine: Machine, report: Report
) -> tuple[list[Action], dict[str, Refusal]]:
    """The actions to send, Keeps included, and by uuid why the others are not. Pure.

    report: the agent's, {} for none."""
    there = list(running)
    refused: dict[str, Refusal] = {}
    while True:
        # A replacement that is refused leaves its old self, which may be in others' way: so look
        # again.
        more = _first_refused(actions, there, machine, report, refused)
        if not more:
            return [action for action in actions if uuid_of(action) not in refused], refused
        refused |= more


def _first_refused(
    actions: Sequence[Action],
    running: Sequence[RunningWorkload],
    machine: Machine,
    report: Report,
    refused: dict[str, Refusal],
) -> dict[str, Refusal]:
    """The first action that is refused, given those that are already; nothing if there is none."""
    left = [action for action in changes(actions) if uuid_of(action) not in refused]
    others = _staying(running, left)
    sent: list[Action] = [action for action in left if isinstance(action, Delete)]
    for action in left:
        found = unchangeable([action])
        if not found and isinstance(action, (Post, Replace)):
            sent.append(action)
            found = problems(action.workload, machine, report, others) or capacity(sent, machine)
            others.append(action.workload)
        if found:
            return {uuid_of(action): found[0]}
    return {}


def _staying(running: Iterable[RunningWorkload], actions: Iterable[Action]) -> list[Workload]:
    """What runs and is neither removed nor replaced by these actions."""
    removed = {old.id for old in removed_by(actions)}
    return [found.workload for found in running if found.id not in removed]
