# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run has done to one node, and the way back, also from what a killed run has done."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Union

from ..rmd_errors import RmdError
from ..workloads import RunningWorkload, Workload
from .actions import Action, Delete, Post, Release, Replace, Step, posted_by
from .node_lease import NodeLease
from .node_results import NodeJob, WorkloadWrite
from .node_writer import NodeWriter


class Journal:
    """removed and posted: in order, each noted before it is tried or as soon as it is there.

    lost: what has been deleted, and has to come back unless something takes its place.
    """

    def __init__(self, writer: NodeWriter) -> None:
        self.removed: list[RunningWorkload] = []
        self.posted: list[RunningWorkload] = []
        self.lost: list[RunningWorkload] = []
        self._writer = writer

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to undo."""
        return not (self.removed or self.posted)

    def do(self, step: Step) -> None:
        """Take a step; raises RmdError. What this run itself has posted is nothing to come back
        to."""
        action = step.action
        if isinstance(action, Release):
            self._writer.remove(self._writer.add(action.workload))
        elif isinstance(action, Post) or (step.is_post and isinstance(action, Replace)):
            self._post(action)
        else:
            self._delete(action)

    def _post(self, action: Union[Post, Replace]) -> None:
        """Make the workload that is wanted; its old one is lost no more."""
        self.posted.append(self._writer.add(action.workload))
        if isinstance(action, Replace) and action.old in self.lost:
            self.lost.remove(action.old)

    def _delete(self, action: Union[Delete, Replace]) -> None:
        """Remove what was there, noted before."""
        if action.old.id not in {made.id for made in self.posted}:
            self.removed.append(action.old)
            if isinstance(action, Replace):
                self.lost.append(action.old)
        self._writer.remove(action.old)

    def put_back(self, step: Step, error: RmdError) -> RmdError:
        """After a failed step, where others go on: the old one again; returns what to say."""
        action = step.action
        if isinstance(action, Delete):
            self.removed.remove(action.old)
        if not isinstance(action, Replace):
            return error
        why, kind, todo = f"{error.why}; the old one is in place", error.kind, error.todo
        try:
            if action.old.uuid not in {running.uuid for running in self._writer.workloads()}:
                self._writer.restore(action.old.body)
            self.lost.remove(action.old)
            self.removed.remove(action.old)
        except RmdError as second:
            why, kind, todo = (
                f"{error.why}; and the old one is not back: {second.why}",
                "not_restored",
                "",
            )
        return RmdError(error.what, kind=kind, where=error.where, why=why, todo=todo)

    def undo(
        self, before: Sequence[RunningWorkload], actions: Sequence[Action]
    ) -> tuple[RunningWorkload, ...]:
        """Bring back what there was before these actions; returns what runs then. Raises RmdError,
        and keeps lost."""
        self.lost = list(self.removed)
        here = self._writer.workloads()
        ours = self._made(here, before, posted_by(actions))
        for entry in ours:
            self._writer.remove(entry)
        self._restore({entry.uuid for entry in here if entry not in ours}, before)
        after = tuple(self._writer.workloads())
        self._confirm(after)
        return after

    def _made(
        self,
        here: Iterable[RunningWorkload],
        before: Iterable[RunningWorkload],
        wanted: Iterable[Workload],
    ) -> list[RunningWorkload]:
        """What this run has made of what is here. Also without an answer: then it has the uuid of a
        wanted one, and was not there before."""
        made = {running.id for running in self.posted}
        known = {running.id for running in before}
        uuids = {workload.uuid for workload in wanted}
        return [
            entry
            for entry in here
            if entry.id in made or (entry.uuid in uuids and entry.id not in known)
        ]

    def _restore(self, there: set[str], before: Iterable[RunningWorkload]) -> None:
        """Make again what was removed, in the order of before. there: uuids that are not missing."""
        order = {running.id: place for place, running in enumerate(before)}
        for old in sorted(self.removed, key=lambda old: order.get(old.id, len(order))):
            if old.uuid not in there:
                self._writer.restore(old.body)
                there.add(old.uuid)

    def _confirm(self, after: Iterable[RunningWorkload]) -> None:
        """Raises RmdError where something that was removed is not back."""
        there = {entry.uuid for entry in after}
        self.lost = [old for old in self.removed if old.uuid not in there]
        if self.lost:
            names = ", ".join(old.uuid for old in self.lost)
            why = f"{names} did not come back"
            raise RmdError(
                "Cannot roll back", kind="not_restored", where=self._writer.where, why=why
            )


class Recovery:
    """bodies: what is still to come back. restored: what this run has put back."""

    def __init__(
        self, writer: NodeWriter, lease: NodeLease, bodies: Iterable[Mapping[str, Any]]
    ) -> None:
        """bodies: as far as they are known before the node is held."""
        self.bodies = list(bodies)
        self.restored: list[WorkloadWrite] = []
        self._writer = writer
        self._lease = lease

    def keep(self, more: Iterable[Mapping[str, Any]]) -> None:
        """Save what is still to come back, and more of it. Raises EnablementError."""
        self._lease.save([*self.bodies, *more])

    def put_back(self, job: NodeJob) -> list[str]:
        """Put back what is not meant to be gone; a warning for each that is not back. Raises
        EnablementError."""
        self.bodies = list(self._lease.saved())
        here = {running.uuid for running in self._writer.workloads()} if self.bodies else set()
        wanted = {workload.uuid for workload in job.present}
        kept, problems = [], []
        for uuid, body in _missing(self.bodies, here, job.absent):
            try:
                self._writer.restore(body)
                self.restored.append(WorkloadWrite(uuid, "restore"))
            except RmdError as error:
                problems.append(
                    f"workload {uuid}, which a killed run has deleted, is not back: {error.why}"
                )
                # What is wanted now takes its place.
                if uuid not in wanted:
                    kept.append(body)
        self.bodies = kept
        return problems

    def predicted(self, running: Sequence[RunningWorkload], job: NodeJob) -> list[WorkloadWrite]:
        """What put_back would put back."""
        here = {found.uuid for found in running}
        gone = {uuid for uuid, _body in _missing(self.bodies, here, job.absent)}
        return [WorkloadWrite(uuid, "restore") for uuid in sorted(gone)]


def _missing(
    bodies: Iterable[Mapping[str, Any]], here: Collection[str], absent: Collection[str]
) -> list[tuple[str, Mapping[str, Any]]]:
    named = [(str(body.get("uuid") or ""), body) for body in bodies]
    return [(uuid, body) for uuid, body in named if uuid not in here and uuid not in absent]
