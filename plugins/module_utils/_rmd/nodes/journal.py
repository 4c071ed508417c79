# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run has done to one node, and the way back."""

from __future__ import annotations

from collections.abc import Sequence

from ..rmd_errors import RmdError
from ..workloads import RunningWorkload
from .actions import Action, Delete, Post, Release, Replace, Step
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
            return
        old = None if isinstance(action, Post) else action.old
        comes_back = old is not None and old.id not in {made.id for made in self.posted}
        if step.is_post and not isinstance(action, Delete):
            self.posted.append(self._writer.add(action.workload))
            if old in self.lost:
                self.lost.remove(old)
        elif old is not None:
            if comes_back:
                self.removed.append(old)
                if isinstance(action, Replace):
                    self.lost.append(old)
            self._writer.remove(old)

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
        known = {running.id for running in before}
        wanted = {action.workload.uuid for action in actions if isinstance(action, (Post, Replace))}
        made = {running.id for running in self.posted}
        here = self._writer.workloads()
        # Also what was made without an answer: it has the name of a wanted one, and was not there
        # before.
        ours = [
            entry
            for entry in here
            if entry.id in made or (entry.uuid in wanted and entry.id not in known)
        ]
        for entry in ours:
            self._writer.remove(entry)
        there = {entry.uuid for entry in here if entry not in ours}
        order = {running.id: place for place, running in enumerate(before)}
        for old in sorted(self.removed, key=lambda old: order.get(old.id, len(order))):
            if old.uuid not in there:
                self._writer.restore(old.body)
                there.add(old.uuid)
        after = tuple(self._writer.workloads())
        there = {entry.uuid for entry in after}
        self.lost = [old for old in self.removed if old.uuid not in there]
        if self.lost:
            names = ", ".join(old.uuid for old in self.lost)
            why = f"{names} did not come back"
            raise RmdError(
                "Cannot roll back", kind="not_restored", where=self._writer.where, why=why
            )
        return after
