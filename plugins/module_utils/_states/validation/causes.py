# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why states are not ready: each cause once, with its nodes and with the states that stand on it.
Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from ..._json import Obj
from ..._proofs.advice import advice
from ..._times import timestamp
from .phases import Phase, Result

Results = Mapping[tuple[str, str], Result]

# From bad to good: the first phase that occurs is the phase of the whole.
SEVERITY = (
    Phase.FAILED,
    Phase.DEGRADED,
    Phase.BLOCKED,
    Phase.VANISHED,
    Phase.WAITING,
    Phase.STARTING,
    Phase.UNKNOWN,
    Phase.LEAVING,
    Phase.READY,
)
EXAMPLES = 3


def worst(results: Iterable[Result]) -> Phase:
    """The phase of a set of results; READY where there is none."""
    phases = {result.phase for result in results}
    return next((phase for phase in SEVERITY if phase in phases), Phase.READY)


def problems(results: Results, states: Set[str]) -> list[Obj]:
    """What keeps these states from being ready, a row for each node and state that has a reason of
    its own, the worst and longest first; also where the reason lies in a state that only what they
    require names.

    A row: {node ("" for the cluster), state, phase, reason, message, since (API timestamp), todo}.
    """
    wanted = states | {result.root for (_node, state), result in results.items() if state in states}
    own = [
        (SEVERITY.index(result.phase), result.since, node, result)
        for (node, state), result in results.items()
        if state in wanted and result.phase is not Phase.READY and not result.cause
    ]
    return [
        {
            "node": node,
            "state": result.state,
            "phase": result.phase.value,
            "reason": result.reason,
            "message": result.message,
            "since": timestamp(result.since),
            "todo": advice(result.reason),
        }
        for _severity, _since, node, result in sorted(own, key=lambda entry: entry[:3])
    ]


def causes(rows: Sequence[Mapping[str, Any]], results: Results) -> list[Obj]:
    """The rows of problems() with one entry for each state, phase and reason, in their order.

    An entry: {state, phase, reason, message, since, todo (of the node that has waited longest),
    nodes (how many; 0 for the cluster), examples (at most three names), blocked: [{state, nodes}],
    what stands on it and is not ready}.
    """
    found: dict[tuple[str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["state"], row["phase"], row["reason"]].append(row)
    behind = _behind(results)
    return [_cause(entries, behind) for entries in found.values()]


def place(cause: Mapping[str, Any]) -> str:
    """Where a cause is seen: "node a", "3 nodes (a, b, c)", "5 nodes (a, b, c, ...)", "the
    cluster"."""
    if not cause["nodes"]:
        return "the cluster"
    names = ", ".join(cause["examples"])
    if cause["nodes"] == 1:
        return f"node {names}"
    more = ", ..." if cause["nodes"] > len(cause["examples"]) else ""
    return f"{cause['nodes']} nodes ({names}{more})"


def _cause(
    entries: Sequence[Mapping[str, Any]], behind: Mapping[tuple[str, str], Sequence[str]]
) -> Obj:
    first = entries[0]
    nodes = sorted(entry["node"] for entry in entries if entry["node"])
    # What serves the cluster stands on what its nodes have in common.
    counts = Counter(
        state for place in (*nodes, "") for state in behind.get((place, first["state"]), ())
    )
    return {
        **{key: first[key] for key in ("state", "phase", "reason", "message", "since", "todo")},
        "nodes": len(nodes),
        "examples": nodes[:EXAMPLES],
        "blocked": [{"state": state, "nodes": count} for state, count in counts.items()],
    }


def _behind(results: Results) -> dict[tuple[str, str], list[str]]:
    """(node, state) -> the states there that are not ready for its sake."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (node, state), result in results.items():
        if result.cause:
            found[node if (node, result.cause) in results else "", result.cause].append(state)
    return found
