# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a run is, in few words whatever the number of nodes: a count for each state, and the
causes of waiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..._proofs.advice import passes_by_itself
from .phases import Phase, Result, StatePlan

# What passes by itself is worth a word once it has lasted so long.
SLOW_AFTER_S = 10.0
NAMED_NODES = 2

CauseKey = tuple[str, str]


@dataclass
class Cause:
    """Why one state is not ready on some nodes ("" is the cluster).

    phase is that of the nodes where it is final, "" where it is on none. since, in seconds since
    the epoch, and message are those of the node that has waited longest.
    """

    state: str
    reason: str
    phase: str
    since: float
    message: str
    nodes: list[str]

    def text(self) -> str:
        """'driver on gpu-2: CrashLoopBackOff', 'driver failed on 37 nodes (gpu-1, gpu-2, ...):
        ImagePullBackOff'."""
        what = f"{self.state} {self.phase}" if self.phase else self.state
        names = sorted(name for name in self.nodes if name)
        if len(names) > NAMED_NODES:
            where = f" on {len(names)} nodes ({', '.join(names[:NAMED_NODES])}, ...)"
        else:
            where = f" on {', '.join(names)}" if names else ""
        return f"{what}{where}: {self.reason}"


@dataclass(frozen=True)
class Tally:
    """counts: state -> (ready, total), in the order of the states. causes: by state and reason, the
    oldest first. left: the nodes that left during the run."""

    counts: Mapping[str, tuple[int, int]]
    causes: Mapping[CauseKey, Cause]
    left: tuple[str, ...] = ()

    @property
    def proven(self) -> tuple[int, int]:
        """How many of all states on all nodes are ready."""
        pairs = self.counts.values()
        return sum(ready for ready, _total in pairs), sum(total for _ready, total in pairs)


def count(
    plans: Sequence[StatePlan],
    results: Mapping[tuple[str, str], Result],
    now: float,
    left: Sequence[str] = (),
) -> Tally:
    """The tally of results by (node, state); now is in seconds since the epoch."""
    counts = {plan.name: [0, 0] for plan in plans}
    causes: dict[CauseKey, Cause] = {}
    for (node, state), result in results.items():
        if state not in counts:
            continue
        counts[state][1] += 1
        if result.phase is Phase.READY:
            counts[state][0] += 1
        elif _is_cause(result, now):
            _add(causes, node, result)
    ordered = sorted(causes.items(), key=lambda entry: (entry[1].since, entry[0]))
    return Tally(
        {state: (ready, total) for state, (ready, total) in counts.items()},
        dict(ordered),
        tuple(left),
    )


def _is_cause(result: Result, now: float) -> bool:
    """Whether a result has a reason of its own that is trouble, or has lasted."""
    if result.cause:
        return False
    return result.final or not passes_by_itself(result.reason) or now - result.since >= SLOW_AFTER_S


def _add(causes: dict[CauseKey, Cause], node: str, result: Result) -> None:
    cause = causes.setdefault(
        (result.state, result.reason),
        Cause(result.state, result.reason, "", result.since, result.message, []),
    )
    cause.nodes.append(node)
    if result.final:
        cause.phase = result.phase.value
    if result.since < cause.since:
        cause.since, cause.message = result.since, result.message
