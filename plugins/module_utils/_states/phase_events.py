# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of phase, said as Events on nodes and on the record: one for each object whose phase a
run has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._cluster import events
from .._cluster.api_client.client import Client
from .._cluster.events import Occurrence
from .._nodes.facts import NodeFacts
from .._runs.context import RunContext
from .record.crd import API_VERSION, KIND
from .validation.causes import Results
from .validation.node_marks import VANISHED, split_summary

# Reason and whether it is a warning, by phase. Nodes have Events of others, so the reasons say what
# is meant.
_REASONS = {
    "ready": ("HardwareReady", False),
    "waiting": ("HardwareWaiting", False),
    "failed": ("HardwareFailed", True),
    "degraded": ("HardwareDegraded", True),
    "blocked": ("HardwareBlocked", True),
    "starting": ("HardwareStarting", False),
    "leaving": ("HardwareLeaving", False),
    "vanished": ("HardwareVanished", True),
    "unknown": ("HardwareUnknown", True),
    "empty": ("HardwareAbsent", False),
}


def of_node(
    recipe: str, node: NodeFacts, before: str | None, after: str | None, results: Results
) -> Occurrence | None:
    """What is to be said on a node whose summary label was one thing when the run began and is
    another one at its end.

    results are those of the run, for the words; None where the phase is the same.
    """
    old, _state = split_summary(before)
    phase, state = split_summary(after)
    if phase == old or phase not in _REASONS:
        return None
    reason, warning = _REASONS[phase]
    result = results.get((node.name, state)) or results.get(("", state))
    if phase == VANISHED:
        result = next(
            found
            for (name, _state), found in results.items()
            if name == node.name and not found.cause
        )
        state = result.state
    why = f": state {state}, {result.reason}: {result.message}" if result else ""
    return Occurrence(
        regarding={"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.uid},
        reason=reason,
        note=f"{recipe} is {phase}{_was(old)}{why}",
        same=f"{recipe}|{state}|{result.reason if result else ''}",
        warning=warning,
    )


def of_departure(recipe: str, node: Mapping[str, Any], why: Mapping[str, str]) -> Occurrence:
    """What is to be said on a node (an object) that is no longer one of ours; why: by node."""
    name, uid = node["metadata"]["name"], node["metadata"]["uid"]
    return Occurrence(
        regarding={"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid},
        reason="HardwareReleased",
        note=f"the node has left {recipe}: {why[name]}",
        warning=False,
    )


def of_record(
    record: Mapping[str, Any], before: str, after: str, message: str
) -> Occurrence | None:
    """What is to be said on a SpecialResource whose phase has changed; None where it has not."""
    if before == after or after not in _REASONS:
        return None
    reason, warning = _REASONS[after]
    metadata = record["metadata"]
    return Occurrence(
        regarding=_reference(metadata),
        reason=reason,
        note=f"{metadata['name']} is {after}{_was(before)}: {message}",
        warning=warning,
    )


def of_drift(record: Mapping[str, Any], what: str) -> Occurrence:
    """What is to be said on a SpecialResource of which a run has put something back that others had
    changed; what: half a sentence. Each time, since it may be somebody who does it again and again."""
    metadata = record["metadata"]
    return Occurrence(
        regarding=_reference(metadata),
        reason="HardwareDrifted",
        note=f"{metadata['name']} was {what}; put back",
        same=what,
        warning=True,
    )


def say(client: Client, found: Sequence[Occurrence], context: RunContext) -> None:
    """Write them, bad news first. Where that is not possible, the run's output says so, and the run
    goes on."""
    ordered = sorted(found, key=lambda occurrence: not occurrence.warning)
    cleaned = [replace(occurrence, note=context.masked(occurrence.note)) for occurrence in ordered]
    error = events.write(client, cleaned, context.clock(), context.run_info)
    if error:
        context.progress(f"no Events were written: {error}")


def _reference(metadata: Mapping[str, Any]) -> dict[str, str]:
    """A record, by its metadata, as an Event names it."""
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "name": metadata["name"],
        "uid": metadata["uid"],
    }


def _was(phase: str) -> str:
    return f", was {phase}" if phase else ""
