# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of one node as a short table: a row for each state, what is wrong and what to do, its
last events. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._json import part
from ..._proofs.advice import advice
from .phases import Phase, Result
from .table import Seconds, aligned, duration

Event = Mapping[str, Any]


def render(
    recipe: str,
    node: str,
    results: Sequence[Result],
    events: Sequence[Event],
    now: float,
    seconds: Seconds,
) -> list[str]:
    """The lines. results: of its states in their order. events: as the API server has them. seconds
    turns an API timestamp into seconds since the epoch, and now is in these."""
    if not results:
        return [f"{recipe}: node {node} is none of its nodes"]
    ready = sum(result.phase is Phase.READY for result in results)
    return [
        f"{recipe}: node {node}, {ready} of {len(results)} states are ready",
        *(line for result in results for line in _wrong(result)),
        *aligned([("STATE", "PHASE", "FOR", "REASON"), *(_row(each, now) for each in results)]),
        *_events(events, now, seconds),
    ]


def _row(result: Result, now: float) -> Sequence[str]:
    lasting = duration(max(now - result.since, 0)) if result.since else ""
    return result.state, result.phase.value, lasting, result.reason


def _wrong(result: Result) -> list[str]:
    """Why a state is not ready, where that is its own fault."""
    if result.phase is Phase.READY or result.cause:
        return []
    head = f"! {result.state} {result.phase.value}: {result.message}"
    return [head, f"  -> {advice(result.reason)}"]


def _events(events: Sequence[Event], now: float, seconds: Seconds) -> list[str]:
    lines = []
    for event in events:
        ago = duration(max(now - (seconds(moment_of(event)) or now), 0))
        said = " ".join(str(event.get("message") or "").split())
        lines.append(f"  {ago} ago {event.get('type', '')} {event.get('reason', '')}: {said}")
    return ["events of the node:", *lines] if lines else []


def moment_of(event: Event) -> str:
    """When an event was last seen: the field depends on who has written it."""
    series = part(event, "series").get("lastObservedTime")
    created = part(event, "metadata").get("creationTimestamp")
    return str(series or event.get("lastTimestamp") or event.get("eventTime") or created or "")
