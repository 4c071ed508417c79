# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""RMD's rules for what a node's actions would send, with what its daemon says of the machine. Only
reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from .actions import Action, Keep, Post, Replace, changes, removed_by, wanted_by
from .daemon_client import Daemon
from .rules import RuleViolation, capacity, problems, unchangeable
from .workloads import RunningWorkload

Broken = tuple[Action, RuleViolation]


def preflight(
    actions: Sequence[Action], here: Sequence[RunningWorkload], daemon: Daemon
) -> tuple[list[Broken], list[RuleViolation]]:
    """(what is wrong with which action, what does not fit all together). here: all workloads of the
    node."""
    found: list[Broken] = [
        (action, problem) for action in changes(actions) for problem in unchangeable([action])
    ]
    adding: list[Union[Post, Replace]] = [
        action for action in actions if isinstance(action, (Post, Replace))
    ]
    if not adding:
        return found, []
    workloads = [action.workload for action in adding]
    topology = daemon.topology(mba=any(workload.mba for workload in workloads))
    policies = daemon.policies() if any(workload.policy for workload in workloads) else None
    mine = {old.id for old in removed_by(actions)}
    mine |= {action.running.id for action in actions if isinstance(action, Keep)}
    strangers = [running.workload for running in here if running.id not in mine]
    for action in adding:
        others = [
            *strangers,
            *(other for other in wanted_by(actions) if other is not action.workload),
        ]
        broken = problems(
            action.workload, topology, policies, dialect=daemon.dialect, others=others
        )
        found += [(action, problem) for problem in broken]
    return found, [] if found else capacity(actions, topology, policies)
