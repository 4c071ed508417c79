# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the verdict on a state to its result: patience first, then a final word."""

from __future__ import annotations

from dataclasses import replace

from ..._nodes.taint_ownership import NodeTransition
from ..._proofs.kinds.rollout import NOT_WANTED, RESTART_PENDING
from ..._proofs.kinds.workload import QUEUED
from ..._verdicts.pod_status import PULLING
from ..._verdicts.verdict import Outcome, Verdict
from .phases import Memory, Phase, Result
from .walk_step import WalkStep


def result_of(step: WalkStep, verdict: Verdict, *, grace: float, timeout: float) -> Result:
    """The result of a state. grace: how long a trouble has to last until it counts; timeout: how
    long the state may take once its requirements hold. Both in seconds."""
    memory = step.memory
    since = memory.runnable_since = memory.runnable_since or step.now
    memory.waits, memory.on_the_way_since = verdict.reason, None
    if verdict.passed:
        memory.forget_trouble()
        pending = verdict.reason == RESTART_PENDING
        result = step.final(Phase.READY, verdict.reason, verdict.message, restart_pending=pending)
        return replace(result, unwanted=True) if verdict.reason == NOT_WANTED else result
    if verdict.outcome is Outcome.PENDING:
        lasting = _lasting_trouble(memory)
        if lasting is None:
            return _pending(step, verdict, since, timeout)
        verdict = lasting
    return _in_trouble(step, verdict, grace)


def result_on_the_way(
    step: WalkStep, verdict: Verdict, transition: NodeTransition, timeout: float
) -> Result:
    """The result of a state that does not hold (verdict) on a node that starts or leaves: that is
    no trouble of its own, and waited for as long as the state may take (timeout, in seconds). Once the
    node has started, the state has all its time."""
    memory, now = step.memory, step.now
    memory.forget_trouble()
    memory.runnable_since, memory.waits = None, verdict.reason
    known = memory.on_the_way_since or transition.since or now
    since = memory.on_the_way_since = min(known, now)
    phase, waiting, over = _ON_THE_WAY[transition.leaves]
    text = f"the node {transition.transition.value}: {transition.text}"
    if now < since + timeout:
        return replace(
            step.waiting(Verdict(Outcome.PENDING, waiting, text), since + timeout),
            phase=phase,
            since=since,
        )
    return replace(
        step.final(phase, over, f"{text}; that has lasted for more than {timeout:.0f} s"),
        since=since,
    )


# By whether the node leaves: the phase, the reason while that is waited for, and afterwards.
_ON_THE_WAY = {
    False: (Phase.STARTING, "NodeStarts", "StillStarting"),
    True: (Phase.LEAVING, "NodeLeaves", "StillLeaving"),
}


def _lasting_trouble(memory: Memory) -> Verdict | None:
    """What counts still, although the state is merely pending now.

    What merely could not be told is over once it can be. A trouble is not: a crashing container
    runs for a moment between two crashes. It is final while it is there only, and stays so until
    the proof passes.
    """
    if memory.trouble is not None and memory.trouble.outcome is Outcome.BLOCKED:
        memory.forget_trouble()
    if memory.trouble is not None and memory.outlasted:
        return memory.trouble
    return None


def _pending(step: WalkStep, verdict: Verdict, since: float, timeout: float) -> Result:
    """Waits for as long as the state may take, then has failed. What it takes to pull an image, and
    until the pods of other nodes have ended, is no time of the state: that ends by itself, and then
    the state has all its time."""
    if verdict.reason in (PULLING, QUEUED):
        since = step.memory.runnable_since = step.now
    if step.now >= since + timeout:
        text = f"{verdict.message}; not ready within {timeout:.0f} s"
        return step.failed("Timeout", text, ran=True)
    return step.waiting(verdict, until=since + timeout)


def _in_trouble(step: WalkStep, verdict: Verdict, grace: float) -> Result:
    """Waits until the trouble has lasted long enough, and its cause can be known; then it counts."""
    memory, now = step.memory, step.now
    since = memory.trouble_since = _trouble_since(memory, verdict, now)
    memory.trouble = verdict
    patience = since + grace if verdict.heals else now
    final_at = max(patience, verdict.open_until)
    if now < final_at:
        return step.waiting(verdict, until=final_at)
    memory.outlasted = True
    if verdict.outcome is Outcome.BLOCKED:
        return step.final(Phase.UNKNOWN, verdict.reason, verdict.message)
    return step.failed(verdict.reason, verdict.message, ran=verdict.ran)


def _trouble_since(memory: Memory, verdict: Verdict, now: float) -> float:
    """When the trouble began: as remembered while it is of one sort, else as the cluster says."""
    known, before = memory.trouble_since, memory.trouble
    if known is not None and (before is None or before.outcome is verdict.outcome):
        return known
    return min(max(verdict.since or now, 0.0), now)
