# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the changes that wait for a proof, as soon as the walk over the nodes has seen it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .._cluster.api_client.api_errors import LockHeld, UnknownKind, Unreachable
from .._cluster.api_client.client import Client
from .._cluster.api_objects.changes import Change
from .._cluster.executing import execute
from .._errors import EnablementError
from .._nodes.facts import NodeFacts
from .._verdicts.verdict import Outcome, Verdict
from .staging import ProvenOn, Stage, Staged
from .validation.loop import CLUSTER
from .validation.node_marks import NodeMarks
from .validation.walk import Walker

RETRY_S = 1.0
_TO_COME = Verdict(Outcome.PENDING, "Applying", "its objects are about to be applied")
_HELD_BACK = Verdict(
    Outcome.BLOCKED, "HeldBack", "what it stands on is replaced, and not proven on all nodes yet"
)


class LaterChanges:
    """The stages of one run, and what became of them.

    plan_again: what a stage takes by now, planned against the cluster as it is. take_lock: unless
    this run has it. guard: looks before each batch of writes whether it is still this run's. say:
    gets what is waited for, and why. clock: seconds since the epoch. done: the changes that were
    made. refused: the states that could not be made, and why; partly: some of their changes were.
    """

    def __init__(
        self,
        client: Client,
        staged: Staged,
        *,
        plan_again: Callable[[Stage], Sequence[Change]],
        take_lock: Callable[[], object],
        guard: Callable[[], None],
        say: Callable[[str], None] = lambda _text: None,
        clock: Callable[[], float],
    ) -> None:
        self._client = client
        self._left = list(staged.later)
        self._plan_again = plan_again
        self._take_lock = take_lock
        self._guard = guard
        self._say = say
        self._clock = clock
        self._not_before: dict[tuple[str, str], float] = {}
        self.done: list[Change] = []
        self.refused: list[tuple[str, EnablementError]] = []
        self.partly = False

    @property
    def left(self) -> list[Stage]:
        """What has not been made yet: what it requires is not proven."""
        return list(self._left)

    def announce(self, walker: Walker) -> None:
        """Tell the walker which states have objects that are not applied yet, so that these are not
        missed."""
        for stage in self._left:
            if not stage.deletes:
                walker.unapplied.setdefault(
                    stage.place, _HELD_BACK if stage.on is ProvenOn.ALL else _TO_COME
                )

    def drop_departed(self, walker: Walker) -> None:
        """Drop what waits for a group of which no node is left: the next run does without it."""
        self._left = [
            stage
            for stage in self._left
            if not stage.group or walker.members(stage.state, stage.group)
        ]

    def act(self, walker: Walker) -> set[str]:
        """Make what is due by the walker's results.

        What the API server refuses ends as the result of its state; the others go on.
        """
        now = self._clock()
        due = [
            stage
            for stage in self._left
            if self._not_before.get(stage.place, now) <= now
            and walker.is_proven(stage.requires, stage.group, stage.state, on=stage.on)
        ]
        for stage in due:
            self._make(stage, walker)
        return {CLUSTER, *walker.snapshot.nodes} if due else set()

    def marks_of(self, _node: NodeFacts, before: NodeMarks) -> NodeMarks:
        """No node is held for it."""
        return before

    def is_over(self) -> None:
        """What has not been made waits for results, which say when nothing more comes of them."""

    def _make(self, stage: Stage, walker: Walker) -> None:
        try:
            self._take_lock()
            changes = stage.changes if stage.deletes else self._plan_again(stage)
            made = execute(self._client, changes, guard=self._guard, say=self._say)
        except (UnknownKind, Unreachable) as error:
            # What brings a kind may be ready a moment before the API server serves it, and an API
            # server that has no answer now may have one later: until the state's time is over.
            self._not_before[stage.place] = self._clock() + RETRY_S
            reason = "KindNotServed" if isinstance(error, UnknownKind) else "Applying"
            walker.unapplied[stage.place] = Verdict(Outcome.PENDING, reason, error.what)
            return
        except LockHeld:
            raise
        except EnablementError as error:
            self._refuse(stage, error, walker)
        else:
            self.done += made
            if not stage.deletes:
                walker.unapplied.pop(stage.place, None)
                _take_in(made, walker)
        self._left.remove(stage)
        # A state may have something else to come.
        self.announce(walker)

    def _refuse(self, stage: Stage, error: EnablementError, walker: Walker) -> None:
        self.refused.append((stage.state, error))
        self.partly = self.partly or bool(error.result.get("changed"))
        walker.unapplied[stage.place] = Verdict(
            Outcome.TROUBLE, "ApplyRefused", str(error), ran=False, heals=False
        )


def _take_in(made: Sequence[Change], walker: Walker) -> None:
    """Show the walker the workloads that were made, before the watch does: a watch that is late
    would look like objects that are missing."""
    awaited = {key for plan in walker.plans for key in plan.pod_owners}
    known = walker.snapshot.workloads
    for change in made:
        if change.after is not None and change.key in awaited - known.keys():
            walker.snapshot.put_workload(change.after)
