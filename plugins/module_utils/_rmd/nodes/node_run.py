# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One node's part of a run: look, prepare, apply, and undo or give back. Each phase is run by one
thread at a time."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Optional

from ..._cluster.api_client.api_errors import LockHeld
from ..._errors import EnablementError
from ..._nodes.cpuset import to_ranges
from ..rmd_errors import Refusal, RmdError
from .actions import Action, Release, Replace, Step, changes, removed_by, steps, uuid_of
from .agents import Agent
from .journal import Journal, Recovery
from .node_lease import NodeLease
from .node_machine import Dialect, Machine
from .node_results import (
    CHANGED,
    FAILED,
    ROLLED_BACK,
    UNCHANGED,
    WITHHELD,
    WOULD_CHANGE,
    NodeJob,
    NodeReport,
    WorkloadWrite,
    WriteSettings,
    left_of,
    not_in_force,
    pending_of,
    plan_of,
)
from .node_snapshot import NodeSnapshot, observe_node, observe_until
from .node_writer import NodeWriter
from .rules import check, leftover_warning, machine_for, rounding

# How often a run posts a workload before it says that it is not in force. RMD v0.3 divides the
# wrong socket by chance.
ATTEMPTS = 3


class NodeRun:
    """A node while a run works on it. What goes wrong is in report.fate.error; only bugs are raised."""

    def __init__(
        self,
        node: str,
        writer: NodeWriter,
        agent: Agent,
        lease: NodeLease,
        settings: WriteSettings,
        saved: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """saved: as Recovery takes it."""
        self.report = NodeReport(node, dialect=writer.dialect)
        self.node = node
        self.lease = lease
        self.job = NodeJob()
        # By uuid, why these are not sent.
        self.refused: Mapping[str, Refusal] = {}
        # Held, looked at and within RMD's rules: there is something to apply.
        self.is_ready = False
        self._writer = writer
        self._agent = agent
        self._journal = Journal(writer)
        self._settings = settings
        self._recovery = Recovery(writer, lease, saved)

    @property
    def snapshot(self) -> Optional[NodeSnapshot]:
        """The last one; None where the node cannot be looked at."""
        return self.report.seen.after

    @property
    def failed(self) -> bool:
        """Whether something went wrong."""
        return self.report.fate.error is not None

    @property
    def has_work(self) -> bool:
        """Whether something has to be written."""
        return bool(changes(self.report.actions) or self._recovery.bodies)

    @property
    def has_written(self) -> bool:
        """Whether there is something to undo."""
        return not self._journal.is_empty

    def observe(self, *, required: bool = True) -> None:
        """One look. required: as look_at takes it."""
        self._guarded(lambda: self._see(observe_node(self._writer, self._agent, required=required)))

    def decide(self, job: NodeJob) -> None:
        """What follows from the look for what is asked for. Pure."""
        self.job = job
        self.report.actions = plan_of(job, self.snapshot) if self.snapshot is not None else ()
        self._announce()

    def judge(self) -> None:
        """Look at the rules: what they refuse is left alone."""
        self._guarded(self._judge)
        if self.failed:
            self.report.seen.after = None
        self.leave(self.refused)

    def leave(self, uuids: Collection[str]) -> None:
        """Do nothing about these."""
        self.job = self.job.without(uuids)
        self.report.actions = tuple(
            action for action in self.report.actions if uuid_of(action) not in uuids
        )
        self._announce()

    def prepare(self) -> None:
        """Hold the node, put back what a killed run has left, look again, and look at the rules."""
        self._guarded(self._prepare)

    def apply(self, stop: threading.Event) -> None:
        """Send what differs; ends early where stop is set, and sets it where a failure is
        everybody's."""
        self._guarded(lambda: self._apply(stop))
        if self.failed and self._settings.all_or_nothing:
            stop.set()

    def undo(self) -> None:
        """Bring the node back to what it was before; its failure, if it was the one that failed,
        stays."""
        cause, self.report.fate.error = self.report.fate.error, None
        self._guarded(self._undo)
        problem = self.report.fate.error
        if problem is None:
            self.report.fate.outcome = ROLLED_BACK
            self.report.fate.changed = bool(self._recovery.restored)
            self.report.fate.error = cause
            return
        self.report.fate.changed = True
        before = f"{cause.what}: {cause.why}; and " if cause is not None else ""
        why = f"{before}what ran before is not back: {problem.why}"
        kind = "not_restored" if self._journal.lost else problem.kind
        self.report.fate.error = self._error("Cannot roll back", kind, why)

    def prove_kept(self) -> None:
        """Where nothing has to be sent: what is declared as it is asked for, and not in force, is a
        failure all the same."""
        snapshot = self.snapshot or NodeSnapshot(())
        self._guarded(lambda: self._tell_pending(pending_of(self.report.actions, snapshot)))

    def withhold(self) -> None:
        """Another node has failed before anything was written."""
        if not self.failed:
            self.report.fate.outcome = WITHHELD
            self.report.fate.changed = bool(self._recovery.restored)

    def finish(self) -> None:
        """Forget what was saved, unless it is still needed, and give the node back."""
        if self.lease.is_held:
            self._guarded(self._finish)

    def _see(self, snapshot: NodeSnapshot) -> None:
        if self.report.seen.before is None or self.lease.is_held:
            # Until the node is held, another run may still change it.
            self.report.seen.before = snapshot
        self.report.seen.after = snapshot
        self.report.dialect = self._writer.dialect

    def _announce(self) -> None:
        self.report.writes = [
            *self._recovery.restored,
            *(WorkloadWrite(uuid_of(action), action.name) for action in self.report.actions),
        ]
        if not self.failed:
            self.report.fate.outcome = CHANGED if self._recovery.restored else UNCHANGED
            self.report.fate.changed = bool(self._recovery.restored)

    def _prepare(self) -> None:
        if self._settings.check_mode:
            before = self.report.seen.before or NodeSnapshot(())
            self.report.writes += self._recovery.predicted(before.running, self.job)
        else:
            self._hold()
        machine = self._judge()
        self._note_refused()
        self.is_ready = bool(changes(self.report.actions))
        if self._settings.check_mode and self.has_work:
            self.report.fate.changed = True
            self.report.fate.outcome = FAILED if self.failed else WOULD_CHANGE
        self._warn(machine.dialect)

    def _hold(self) -> None:
        """Take the node's Lease, put back what a killed run has left, and decide by a new look."""
        self.lease.acquire(self._settings.lock_wait_s)
        self.report.warnings += self._recovery.put_back(self.job)
        self._see(observe_node(self._writer, self._agent, required=bool(self.job.present)))
        self.decide(self.job)
        self._observe_again()

    def _note_refused(self) -> None:
        """What the rules refuse is this workload's failure; raised where it is everybody's."""
        if self._settings.all_or_nothing and self.refused:
            raise self._refused(list(self.refused.values()))
        for uuid, violation in self.refused.items():
            self._note(uuid, self._refused([violation]))

    def _warn(self, dialect: Optional[Dialect]) -> None:
        """Say what RMD will do wrong, and what the kernel makes of what is asked for."""
        report = (self.snapshot.report if self.snapshot else None) or {}
        found = [leftover_warning(old, dialect) for old in removed_by(self.report.actions)]
        found += [rounding(workload, report) for workload in self.job.present]
        self.report.warnings += [text for text in found if text]

    def _judge(self) -> Machine:
        snapshot = self.snapshot or NodeSnapshot(())
        machine = machine_for(self.report.actions, self._writer, may_write=self.lease.is_held)
        self.report.dialect = machine.dialect
        sendable, self.refused = check(
            self.report.actions, snapshot.running, machine, snapshot.report or {}
        )
        self.report.actions = tuple(sendable)
        return machine

    def _observe_again(self) -> None:
        """What the kernel does otherwise may be somebody's write of just now, which the agent has
        not seen yet."""
        if self.snapshot is not None and not self.snapshot.is_in_force:
            self._see(self._observe_until(lambda snapshot: snapshot.is_in_force))
            self.decide(self.job)

    def _apply(self, stop: threading.Event) -> None:
        todo = changes(self.report.actions)
        self._recovery.keep(action.old.body for action in todo if isinstance(action, Replace))
        spoiled: list[Action] = []
        for step in steps(todo):
            if stop.is_set():
                self.report.fate.outcome = WITHHELD
                return
            if step.action not in spoiled:
                self._take(step, spoiled)
        self.report.fate.changed = bool(self.has_written or self._recovery.restored)
        self._prove([action for action in self.report.actions if action not in spoiled], stop)
        if self.report.fate.changed and not self.failed:
            self.report.fate.outcome = CHANGED

    def _take(self, step: Step, spoiled: list[Action]) -> None:
        if not (step.is_post and isinstance(step.action, Replace)):
            # Not in the middle of a replacement, which is better ended than left.
            self.lease.check()
        try:
            self._journal.do(step)
        except RmdError as error:
            if isinstance(step.action, Release):
                cores = to_ranges(step.action.cores)
                self.report.warnings.append(f"core {cores} could not be freed: {error.why}")
                return
            if self._settings.all_or_nothing:
                raise
            spoiled.append(step.action)
            self._note(uuid_of(step.action), self._journal.put_back(step, error))

    def _prove(self, done: Sequence[Action], stop: threading.Event) -> None:
        """Look, by RMD's word and the kernel's, whether all is as it should be. What the kernel
        does not do is posted again, and nothing else."""
        for attempt in range(1, ATTEMPTS + 1):
            snapshot = self._observe_until(lambda found: self._is_proven(done, found))
            self.report.seen.after = snapshot
            again = self._to_repeat(done, snapshot)
            if not again or stop.is_set():
                self._tell_pending(pending_of(done, snapshot))
                return
            if attempt == ATTEMPTS:
                self._tell_broken(again, snapshot)
                return
            for step in steps(again):
                self.lease.check()
                self._journal.do(step)

    def _is_proven(self, done: Sequence[Action], snapshot: NodeSnapshot) -> bool:
        """Whether nothing is left of these actions, for us or for the node's agent."""
        return not (left_of(done, self.job.adopted, snapshot) or pending_of(done, snapshot))

    def _to_repeat(self, done: Sequence[Action], snapshot: NodeSnapshot) -> list[Action]:
        """What the kernel does not do of these actions. Raises RmdError for what RMD itself does
        not list as it was asked for."""
        left = left_of(done, self.job.adopted, snapshot)
        again = not_in_force(left, snapshot)
        if others := [action for action in left if action not in again]:
            names = ", ".join(sorted({uuid_of(action) for action in others}))
            why = f"RMD has answered that all went well, but {names} is not as it was asked for"
            raise self._error("Cannot confirm what was done", "no_effect", why)
        return again

    def _tell_broken(self, again: Sequence[Action], snapshot: NodeSnapshot) -> None:
        """What the kernel did not do however often it was posted."""
        posted = f"it was posted {ATTEMPTS} times"
        broken = [action for action in again if isinstance(action, Replace)]
        self._tell({uuid_of(each): f"{snapshot.broken[each.old.id]}; {posted}" for each in broken})

    def _observe_until(self, is_good: Callable[[NodeSnapshot], bool]) -> NodeSnapshot:
        return observe_until(
            self._writer,
            self._agent,
            time.monotonic(),
            is_good,
            required=bool(self.job.present),
        )

    def _tell_pending(self, pending: Mapping[str, str]) -> None:
        self._tell(pending, "mend what it says: the agent tries again by itself")

    def _tell(self, off: Mapping[str, str], todo: str = "") -> None:
        """What is not in force, by uuid, and why."""
        for uuid, why in off.items():
            error = self._error(f"Workload {uuid} is not in force", "not_in_force", why, todo)
            if self._settings.all_or_nothing:
                raise error
            self._note(uuid, error)

    def _undo(self) -> None:
        self.lease.check()
        # What was to be replaced is saved already; nobody is helped by giving up where the rest
        # cannot be.
        with contextlib.suppress(EnablementError):
            self._recovery.keep(old.body for old in self._journal.removed)
        before = self.report.seen.before or NodeSnapshot(())
        self.report.seen.after = NodeSnapshot(
            self._journal.undo(before.running, self.report.actions)
        )

    def _finish(self) -> None:
        try:
            self._recovery.keep(old.body for old in self._journal.lost)
        finally:
            self.lease.release()

    def _note(self, uuid: str, error: RmdError) -> None:
        """A workload's failure where the others go on; the node's is the first."""
        for write in self.report.writes:
            if write.uuid == uuid:
                write.problem = error.why
        self._fail(error)

    def _guarded(self, phase: Callable[[], object]) -> None:
        try:
            phase()
        except RmdError as error:
            self._fail(error)
        except LockHeld as error:
            self._fail(self._error(error.what, "locked", error.why, error.todo))
        except EnablementError as error:
            self._fail(self._error(error.what, "api", error.why, error.todo))

    def _fail(self, error: RmdError) -> None:
        self.report.fate.error = self.report.fate.error or error
        self.report.fate.outcome = FAILED

    def _refused(self, problems: Sequence[Refusal]) -> RmdError:
        why = "; ".join(dict.fromkeys(problem.why for problem in problems))
        return self._error("RMD would refuse this, so it was not sent", problems[0].kind, why)

    def _error(self, what: str, kind: str, why: str, todo: str = "") -> RmdError:
        return RmdError(what, kind=kind, where=self._writer.where, why=why, todo=todo)
