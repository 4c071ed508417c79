# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One look at a node: what RMD says that runs, and what the kernel does of it by the agent's
report."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Optional

from ..._json import part
from ..rmd_errors import RmdError
from ..workloads import RunningWorkload
from .agents import Agent
from .evidence import broken_workloads, stray_cores
from .node_writer import NodeWriter
from .report_fields import Report

# Beside the agent's own interval: its look itself, and its line's way into the log.
_SLACK_S = 0.2
# How late an agent may be on a busy node, if it has not looked at what is declared at all.
_UNSEEN_S = 10.0
_LONGEST_PAUSE_S = 1.0


@dataclass(frozen=True)
class NodeSnapshot:
    """report: None where there is none, and none was needed. broken: workloads that are not in
    force, by their ids, and why. disturbed: those that are right, but whose ways one of these
    takes. strays: CPUs that lie in groups of workloads, and are no workload's. is_declared: what
    runs is declared to the agent, which itself mends what is not in force; then all of that is
    disturbed, since nothing that a run sends would help. is_seen: whether the report is about what
    is declared now."""

    running: tuple[RunningWorkload, ...]
    report: Optional[Report] = None
    broken: Mapping[str, str] = field(default_factory=dict)
    disturbed: Mapping[str, str] = field(default_factory=dict)
    strays: tuple[int, ...] = ()
    is_declared: bool = False
    is_seen: bool = True

    @property
    def is_in_force(self) -> bool:
        """Whether the kernel does all that RMD says, and nothing else."""
        return not (self.broken or self.strays)

    def differs(self, workload: str) -> str:
        """In what the kernel differs from a workload, by its id; "" for nothing."""
        return self.broken.get(workload, "") or self.disturbed.get(workload, "")

    def to_replace(self, *, is_fresh: bool) -> Collection[str]:
        """The ids of what has to be made anew. is_fresh: the node has booted since anything was put
        in force."""
        everything = {found.id for found in self.running}
        return everything if is_fresh and not self.is_declared else set(self.broken)

    def pending(self, present: Collection[str], absent: Collection[str]) -> dict[str, str]:
        """By uuid, what is declared, or is not any more, and what the agent has not made true of
        it; nothing for RMD."""
        if not self.is_declared:
            return {}
        there = part(self.report or {}, "declared")
        found = {uuid: "it is not taken away yet" for uuid in absent if uuid in there}
        for entry in self.running:
            if entry.uuid in present and (why := self.differs(entry.id)):
                found[entry.uuid] = why
        return found


def observe_node(writer: NodeWriter, agent: Agent, *, required: bool = True) -> NodeSnapshot:
    """One GET, and one report. Raises RmdError where either is not to be had.

    required: False where RMD's word will do if the agent says nothing, as for taking workloads
    away.
    """
    return _judged_by(tuple(writer.workloads()), agent, required=required)


def judged(running: tuple[RunningWorkload, ...], report: Report) -> NodeSnapshot:
    """What RMD says, and what the kernel does of it. Pure."""
    if report.get("declared") is not None:
        return _declared(running, report)
    broken, disturbed = broken_workloads(report, running)
    return NodeSnapshot(running, report, broken, disturbed, stray_cores(report, running))


def _declared(running: tuple[RunningWorkload, ...], report: Report) -> NodeSnapshot:
    """What is declared; the agent names the groups, and says why an entry is not in force."""
    declared: Mapping[str, Mapping[str, str]] = report["declared"]
    placed, waiting = [], {}
    for found in running:
        mine = declared.get(found.uuid)
        if mine is not None and "group" in mine:
            placed.append(replace(found, cos_name=mine["group"], status="Successful"))
        else:
            placed.append(found)
            unseen = "; ".join(report.get("problems") or ["the agent has not seen it yet"])
            waiting[found.id] = (mine or {}).get("why") or unseen
    broken, disturbed = broken_workloads(report, placed)
    differs = {**disturbed, **broken, **waiting}
    is_seen = bool(report.get("problems")) or declared.keys() == {each.uuid for each in running}
    return NodeSnapshot(tuple(placed), report, disturbed=differs, is_declared=True, is_seen=is_seen)


def observe_until(
    writer: NodeWriter,
    agent: Agent,
    written: float,
    is_good: Callable[[NodeSnapshot], bool],
    *,
    required: bool = True,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> NodeSnapshot:
    """A look of the time after a write: a good one as soon as there is one, another one when the
    agent must have seen the write.

    written: when, by clock. An agent speaks when something changes, so that after two of its
    intervals its last word holds, whenever it was said; longer where that is not about the write.
    """
    running = tuple(writer.workloads())
    while True:
        found = _judged_by(running, agent, required=required)
        interval = float((found.report or {}).get("interval") or 0)
        patience = 2 * interval + _SLACK_S
        if not found.is_seen:
            patience = max(patience, _UNSEEN_S)
        if is_good(found) or clock() >= written + patience:
            return found
        sleep(min(_LONGEST_PAUSE_S, max(interval / 4, 0.01)))


def _judged_by(
    running: tuple[RunningWorkload, ...], agent: Agent, *, required: bool
) -> NodeSnapshot:
    try:
        return judged(running, agent.report())
    except RmdError:
        if required:
            raise
        return NodeSnapshot(running)
