# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a container said last before it ended: the cause of most verdicts on pods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .._json import Obj, part
from .._times import seconds
from .._verdicts.pod_status import (
    NO_LONGER_READY,
    RESTARTED,
    STARTING,
    crashed_container,
    has_ended,
    keeps_ending,
    last_end,
    last_line,
    starting_container,
    unready_container,
)
from .._verdicts.verdict import Outcome, Verdict
from .evaluation import Observation
from .queries import ReadLogs

TAIL = 20
AGAIN_S = 3.0
# Just after an end, on a busy node for seconds, the kubelet may have nothing to give yet.
PATIENCE_S = 10.0
# What runs and is not ready for so long is asked what it does, and again so much later.
LONG_S = 25.0
LONG_AGAIN_S = 30.0


def with_last_line(observation: Observation[Any], pod: Obj, verdict: Verdict) -> Verdict:
    """The verdict with the last line of the container that crashed, crashed before and tries again,
    runs but serves no longer, or has not come to its end of starting for long.

    Until that has been read, and for PATIENCE_S after the end, or after the first of requests that all
    were refused, the verdict stays open.
    """
    if verdict.reason == STARTING:
        return _with_what_it_does(observation, pod, verdict)
    container = _container_of(pod, verdict)
    if container is None:
        return verdict
    # One that runs on says now what is wrong with it, not at its last end.
    end = {} if verdict.reason == NO_LONGER_READY else last_end(container)
    line, refused_since = last_line(str(end.get("message") or "")), None
    if not line:
        line, refused_since = _read(observation, pod, container, end)
    if line:
        return replace(verdict, message=f"{verdict.message}: {line}")
    ended = seconds(end.get("finishedAt")) or verdict.since
    moments = (readable_by(moment, observation.now) for moment in (ended, refused_since))
    return replace(verdict, open_until=max(moments))


def _with_what_it_does(observation: Observation[Any], pod: Obj, verdict: Verdict) -> Verdict:
    """The verdict with the last line of a container that runs and is not ready for long: no line is
    waited for."""
    container = starting_container(pod)
    began = seconds(part(container or {}, "state", "running").get("startedAt"))
    if container is None or began is None:
        return verdict
    if observation.now < began + LONG_S:
        observation.wake_at(began + LONG_S)
        return verdict
    metadata, name = pod["metadata"], str(container.get("name"))
    question = ReadLogs(metadata["namespace"], metadata["name"], metadata["uid"], name, TAIL)
    answer = observation.query(question, LONG_AGAIN_S)
    line = last_line(str(answer.value)) if answer is not None and not answer.error else ""
    return replace(verdict, message=f"{verdict.message}: {line}") if line else verdict


def readable_by(ended: float | None, now: float) -> float:
    """Until when a log that is not there yet may still come, after an end at a moment; 0 where it is
    not known, or the node's clock is ahead of ours. All in seconds since the epoch."""
    return 0.0 if ended is None or ended > now else ended + PATIENCE_S


def _container_of(pod: Obj, verdict: Verdict) -> Obj | None:
    """The container whose log tells why; None where none does."""
    if verdict.reason == NO_LONGER_READY:
        return unready_container(pod)
    container = crashed_container(pod)
    if container is None or verdict.outcome is Outcome.TROUBLE:
        return container
    return container if verdict.reason == RESTARTED and keeps_ending(container) else None


def _read(
    observation: Observation[Any], pod: Obj, container: Obj, end: Obj
) -> tuple[str, float | None]:
    """The last line, "" until the log has been read, and since when the kubelet refuses to give it. Each
    end has a log of its own; without one, the log is that of the container as it runs."""
    metadata = pod["metadata"]
    question = ReadLogs(
        metadata["namespace"],
        metadata["name"],
        metadata["uid"],
        str(container.get("name")),
        TAIL,
        previous=bool(end) and not has_ended(container),
        end=str(end.get("finishedAt") or ""),
    )
    answer = observation.query(question)
    if answer is None:
        return "", None
    line = "" if answer.error else last_line(str(answer.value))
    if not line:
        observation.query(question, AGAIN_S)
    return line, answer.refused_since or None
