# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One state on one node at one moment: what is known of it, and the result that is made of that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..._proofs.evaluation import Observation, ProofView
from ..._proofs.queries import Query
from ..._verdicts.verdict import Verdict
from .phases import Memory, Phase, Result, StatePlan


@dataclass
class Walk:
    """What came out of a walk besides the results: questions, and when to look again without an
    event."""

    wants: list[Query] = field(default_factory=list)
    again_at: float | None = None

    def take(self, observation: Observation[Any]) -> None:
        """Take over what one proof wants."""
        self.wants.extend(observation.wants)
        if observation.again_at is not None:
            self.wake_at(observation.again_at)

    def wake_at(self, moment: float) -> None:
        """Look again at the latest at a moment (seconds since the epoch)."""
        self.again_at = moment if self.again_at is None else min(self.again_at, moment)


@dataclass(frozen=True)
class WalkStep:
    """One state of a walk, on a node or the cluster. memory: of its last look. view: what its proofs
    see. subject, proven, holds: see Result."""

    plan: StatePlan
    memory: Memory
    walk: Walk
    view: ProofView
    subject: str = ""
    proven: bool = False
    holds: bool = False

    @property
    def now(self) -> float:
        """The moment of the look, in seconds since the epoch."""
        return self.view.now

    def final(
        self,
        phase: Phase,
        reason: str,
        message: str,
        *,
        cause: str = "",
        restart_pending: bool = False,
    ) -> Result:
        """The last word of this run, as long as nothing changes."""
        return self._result(
            phase, reason, message, final=True, cause=cause, restart_pending=restart_pending
        )

    def behind(self, phase: Phase, unmet: Result, message: str) -> Result:
        """Not looked at, for the sake of a required state; as final as that one is."""
        reason = f"Requires.{unmet.state}"
        return self._result(phase, reason, message, final=unmet.final, cause=unmet.root)

    def waiting(self, verdict: Verdict, until: float) -> Result:
        """Nothing final yet, until a moment at the latest."""
        self.walk.wake_at(until)
        return self._result(Phase.WAITING, verdict.reason, verdict.message, final=False)

    def failed(self, reason: str, message: str, *, ran: bool) -> Result:
        """Failed; degraded where the state was proven before, unknown where nothing ran that could
        disprove that."""
        phase = Phase.FAILED
        if self.memory.proven:
            phase = Phase.DEGRADED if ran else Phase.UNKNOWN
        return self.final(phase, reason, message)

    def _result(
        self,
        phase: Phase,
        reason: str,
        message: str,
        *,
        final: bool,
        cause: str = "",
        restart_pending: bool = False,
    ) -> Result:
        return Result(
            state=self.plan.name,
            phase=phase,
            reason=reason,
            message=message,
            cause=cause,
            since=self._since(reason),
            final=final,
            restart_pending=restart_pending,
            subject=self.subject,
            proven=self.proven,
            holds=self.holds,
        )

    def _since(self, reason: str) -> float:
        """Since when the state has been as it is, for this reason."""
        memory = self.memory
        if memory.reason != reason:
            memory.reason, memory.reason_since = reason, memory.trouble_since or self.now
        return memory.reason_since
