# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of a node's actions are sent at all: RMD's rules for each workload alone, so that one does
not hold up others.

Pure. The older object goes first: what a younger one wants of the same cores or ways, it does not
get."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Optional, Union

from ..actions import Action, Delete, Keep, Post, Replace, removed_by
from ..dialect import Dialect
from ..rules import RuleViolation, capacity, problems, unchangeable
from ..topology import Policies, Topology
from ..workloads import RunningWorkload, Workload
from .workload_state import WorkloadOutcome

# What may be otherwise another day; the rest is wrong with the workload itself.
_PASSING = frozenset({"conflict_core", "foreign_origin"})


@dataclass(frozen=True)
class Refused:
    """Why an action is not sent: Outcome INVALID or REFUSED, and one sentence."""

    outcome: WorkloadOutcome
    why: str


@dataclass(frozen=True)
class RuleMachine:
    """What the rules look at; None for what is not known."""

    topology: Optional[Topology] = None
    policies: Optional[Policies] = None
    dialect: Optional[Dialect] = None


def judge(
    actions: Sequence[Action], running: Iterable[RunningWorkload], machine: RuleMachine
) -> tuple[list[Action], dict[str, Refused]]:
    """The actions to send, Keeps included, and by uuid why the others are not."""
    there = list(running)
    refused: dict[str, Refused] = {}
    while True:
        # A replacement that is refused leaves its old self, which may be in others' way: so look
        # again.
        more = _observe(actions, there, machine, refused)
        if not more:
            break
        refused |= more
    return [action for action in actions if _uuid(action) not in refused], refused


def _observe(
    actions: Sequence[Action],
    running: Sequence[RunningWorkload],
    machine: RuleMachine,
    refused: dict[str, Refused],
) -> dict[str, Refused]:
    """The first action that is refused, given those that are already; nothing if there is none."""
    sent: list[Action] = []
    for action in actions:
        if isinstance(action, Delete) and _uuid(action) not in refused:
            if not action.old.is_changeable:
                return {_uuid(action): _as_refused(unchangeable([action])[0])}
            sent.append(action)
    removed = [
        old.id for action in actions if _uuid(action) not in refused for old in removed_by([action])
    ]
    others = [found.workload for found in running if found.id not in removed]
    for action in actions:
        if not isinstance(action, (Post, Replace)) or _uuid(action) in refused:
            continue
        why = _refusal(action, sent, others, machine)
        if why is not None:
            return {_uuid(action): why}
        sent.append(action)
        others.append(action.workload)
    return {}


def _refusal(
    action: Union[Post, Replace],
    sent: Sequence[Action],
    others: Sequence[Workload],
    machine: RuleMachine,
) -> Optional[Refused]:
    locked = unchangeable([action])
    wanted = action.workload
    found = locked or problems(
        wanted, machine.topology, machine.policies, dialect=machine.dialect, others=others
    )
    if found:
        return _as_refused(found[0])
    if machine.topology is not None and (
        short := capacity([*sent, action], machine.topology, machine.policies)
    ):
        return Refused(WorkloadOutcome.REFUSED, f"{short[0].sentence}; {short[0].todo}")
    return None


def _as_refused(problem: RuleViolation) -> Refused:
    outcome = WorkloadOutcome.REFUSED if problem.kind in _PASSING else WorkloadOutcome.INVALID
    return Refused(outcome, f"{problem.sentence}; {problem.todo}")


def _uuid(action: Action) -> str:
    """By which the caller knows an action: the wanted uuid, or the one that goes."""
    if isinstance(action, Delete):
        return action.old.uuid
    return action.workload.uuid if isinstance(action, (Keep, Post, Replace)) else ""
