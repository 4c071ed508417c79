# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of an RmdWorkload: the operator's fields for each node, and conditions. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Optional

from ..._cluster.api_objects.object_conditions import condition
from ..._json import Obj, elements, part
from ..._nodes.cpuset import to_strings
from ..workloads import RunningWorkload, in_groups

# (holds, reason, message) of a condition.
# Of a condition: (holds, reason, message).
Verdict = tuple[Optional[bool], str, str]
# Of what was true as long as RMD was there.
REMOVED: Verdict = (False, "Removed", "RMD was removed from the cluster")
_SHOWN = 3


class WorkloadOutcome(Enum):
    """How a workload came to stand on a node. The value is the reason in conditions, where it is
    none of success."""

    POSTED = "Posted"
    KEPT = "Kept"
    INVALID = "Invalid"
    REFUSED = "Refused"
    NOT_ENFORCED = "NotEnforced"
    UNREACHABLE = "Unreachable"
    NO_NODE = "NoSuchNode"

    @property
    def is_good(self) -> bool:
        """Whether the workload is there as it is asked for, and in force."""
        return self in (WorkloadOutcome.POSTED, WorkloadOutcome.KEPT)

    @property
    def is_enforced(self) -> Optional[bool]:
        """Whether the kernel does what is asked for; None where nobody could look."""
        return None if self is WorkloadOutcome.UNREACHABLE else self.is_good


@dataclass(frozen=True)
class OnNode:
    """A workload on one node. running: what the node runs of it, None for nothing. why: one
    sentence if not good."""

    outcome: WorkloadOutcome
    running: Optional[RunningWorkload] = None
    why: str = ""


def make_status(
    previous: Mapping[str, Any],
    states: Mapping[str, OnNode],
    *,
    problem: str,
    is_deleted: bool,
    generation: int,
    now: float,
) -> Obj:
    """The status to have; equal to previous where nothing is to be written.

    states: by node, those that the workload is for or is not yet gone from. problem: why it cannot
    be sent at all. now: seconds since the epoch.
    """
    known = part(previous, "workloadStates")
    good = sum(state.outcome.is_good for state in states.values())
    ready, degraded, invalid = _conditions(states, problem, is_deleted=is_deleted)
    verdicts = {
        "Ready": ready,
        "Enforced": _enforced(states),
        "Degraded": degraded,
        "Invalid": invalid,
    }
    found = {node: _state(known.get(node) or {}, state) for node, state in sorted(states.items())}
    nodes = f"{good}/{len(states)}"
    return _status(previous, found, nodes, verdicts, generation=generation, now=now)


def removed_status(previous: Mapping[str, Any], generation: int, now: float) -> Obj:
    """The status to have when nothing divides cache any more; equal to previous where it is there."""
    verdicts: dict[str, Verdict] = {
        **dict.fromkeys(("Ready", "Enforced", "Degraded"), REMOVED),
        "Invalid": (False, "Accepted", ""),
    }
    return _status(previous, {}, "0/0", verdicts, generation=generation, now=now)


def _status(
    previous: Mapping[str, Any],
    states: Obj,
    nodes: str,
    verdicts: Mapping[str, Verdict],
    *,
    generation: int,
    now: float,
) -> Obj:
    before = elements(previous, "conditions")
    return {
        "workloadStates": states,
        "nodes": nodes,
        "observedGeneration": generation,
        "conditions": [
            condition(before, kind, *verdict, now=now, generation=generation)
            for kind, verdict in verdicts.items()
        ],
    }


def _state(previous: Mapping[str, Any], state: OnNode) -> Obj:
    """One node's fields. What RMD said last stays while it does not answer."""
    if state.running is not None:
        found = _fields(state.running)
    elif state.outcome is WorkloadOutcome.UNREACHABLE:
        found = {key: value for key, value in previous.items() if key != "response"}
    else:
        found = {}
    enforced = state.outcome.is_enforced
    return {
        "response": _response(str(previous.get("response") or ""), state),
        **{key: value for key, value in found.items() if key != "enforced"},
        **({} if enforced is None else {"enforced": enforced}),
    }


def _response(previous: str, state: OnNode) -> str:
    """In the operator's words: 201 for a workload that was posted, 200 for one that was there
    already."""
    if not state.outcome.is_good:
        return f"Fail: {state.why}"
    if state.outcome is WorkloadOutcome.POSTED:
        return "Success: 201"
    return previous if previous.startswith("Success") else "Success: 200"


def _fields(running: RunningWorkload) -> Obj:
    fields: Obj = {"id": running.id, "cosName": running.cos_name, "status": running.status}
    body = running.body
    if "rdt" not in body and "plugins" not in body:
        return fields
    # The operator's v0.3 copies what RMD v0.3 says.
    wanted = running.workload
    fields |= {"coreIds": to_strings(wanted.cores), **wanted.texts()}
    parts = {
        name: {
            each: value if isinstance(value, int) else str(value) for each, value in given.items()
        }
        for name, given in wanted.parts().items()
    }
    return {**fields, **in_groups(parts)}


def _conditions(
    states: Mapping[str, OnNode], problem: str, *, is_deleted: bool
) -> tuple[Verdict, Verdict, Verdict]:
    """Of Ready, Degraded and Invalid."""
    bad = {node: state for node, state in sorted(states.items()) if not state.outcome.is_good}
    text, invalid = _tell(bad), _invalid(states, problem)
    if is_deleted:
        message = text or "it is being removed"
        return (False, "Deleted", message), (bool(bad), "Deleted", text), invalid
    if problem:
        return (False, "Invalid", problem), (False, "NotTried", ""), invalid
    if bad:
        reason = next(iter(bad.values())).outcome.value
        return (False, reason, text), (True, reason, text), invalid
    no_nodes = (False, "NoNodes", "no node is named or selected")
    return (True, "AllNodes", "") if states else no_nodes, (False, "AsExpected", ""), invalid


def _invalid(states: Mapping[str, OnNode], problem: str) -> Verdict:
    """Whether it cannot be accepted as it is, at all or on a node."""
    invalid = WorkloadOutcome.INVALID
    whys = (problem, *(state.why for state in states.values() if state.outcome is invalid))
    why = next(filter(None, whys), "")
    return (True, "NotAccepted", why) if why else (False, "Accepted", "")


def _enforced(states: Mapping[str, OnNode]) -> Verdict:
    """What the kernels do, whatever the daemons say."""
    if not states:
        return False, "NoNodes", ""
    off = {node: state for node, state in states.items() if state.outcome.is_enforced is False}
    if off:
        return False, "NotEnforced", _tell(off)
    unseen = {node: state for node, state in states.items() if state.outcome.is_enforced is None}
    return (None, "NotSeen", _tell(unseen)) if unseen else (True, "AllNodes", "")


def _tell(bad: Mapping[str, OnNode]) -> str:
    causes = [f"{node}: {state.why}" for node, state in bad.items()]
    more = f"; and {len(causes) - _SHOWN} more nodes" if len(causes) > _SHOWN else ""
    return "; ".join(causes[:_SHOWN]) + more
