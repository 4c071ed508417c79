# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""workload: a pod of the recipe, pinned to the node, runs to the end with exit code 0.

A pod that finds no room says nothing about the hardware (blocked, not failed); one that ran and
failed is tried again until failure_grace is over, since a driver may need some seconds after its
pod is ready."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Annotated

from ..._json import Obj, elements, part
from ..._schema.shapes import Either, Integer, Optional, Text
from ..._schema.terms import RESOURCE_NAME, SECONDS, RecipeFile
from ..._times import seconds
from ..._verdicts.pod_status import (
    IMAGE_REASONS,
    POD_REASONS,
    PULLING,
    judge,
    last_line,
    name,
    statuses,
)
from ..._verdicts.reasons import NEEDS_RUN, UNDER_WAY, Reason
from ..._verdicts.verdict import PASSED, Outcome, Verdict
from ..container_logs import readable_by
from ..declaration import AT_ONCE_AT_LEAST, ProofKind, ProofPod, Scope, Setting
from ..evaluation import Observation
from ..queries import ReadLogs, RemovePod, StartPod
from ..taint_reasons import TAINT_REASONS, untolerated, why_kept_off

# A validation pod that may not be made yet, since so many of other nodes run.
QUEUED = "Queued"
# A node for which another one of its group proves it.
SAMPLED = "Sampled"


@dataclass(frozen=True)
class WorkloadSettings:
    """The pod, and where and how it runs."""

    pod: Annotated[str, Setting(RecipeFile(), "template of a Pod; it is pinned to the node")]
    resource: Annotated[
        str | None,
        Setting(
            Optional(RESOURCE_NAME), "extended resource of which its first container asks for one"
        ),
    ] = None
    sampling: Annotated[
        str | int,
        Setting(
            Either(
                "all, per_group or a number of nodes",
                (
                    (str, Text("all, per_group or a number of nodes", "all|per_group")),
                    (int, Integer(1, 1_000_000)),
                ),
            ),
            "`all`: each node; `per_group`: one of each group, or that many",
        ),
    ] = "all"
    parallel: Annotated[
        int | None,
        Setting(
            Optional(Integer(1, 1000)),
            "how many nodes' pods run at once; without it a tenth of the nodes,"
            f" {AT_ONCE_AT_LEAST} at least",
        ),
    ] = None
    timeout: Annotated[
        int, Setting(SECONDS, "seconds for one pod, from when its image is there")
    ] = 300


REASONS = {
    **POD_REASONS,
    "DevicesBusy": Reason(
        "other pods hold all devices of the node, so the validation pod waits for one; `unknown`",
        "wait for a device to become free, or free one, then run again",
    ),
    "NeedsRun": NEEDS_RUN,
    "NoRoom": Reason(
        "the validation pod finds no place on the node; `unknown`",
        "free cpu, memory or pods on the node, or uncordon it, then run again",
    ),
    **TAINT_REASONS,
    QUEUED: UNDER_WAY,
    SAMPLED: UNDER_WAY,
    "SampleNotProven": Reason(
        "the node that is sampled for its group is not proven, so that nothing is known of the others; `unknown`",
        "mend the node that the message names, and run again",
    ),
    "Starting": UNDER_WAY,
    "ValidationFailed": Reason(
        "the validation pod ran and failed; its last log line is in the message",
        "read the validation pod's log",
    ),
    "ValidationTimeout": Reason(
        "the validation pod has not ended in its time", "read the validation pod's log"
    ),
    "ValidatorRefused": Reason(
        "the API server refused to make or remove the validation pod; `unknown`",
        "look at the namespace's quota and admission rules",
    ),
}

# What the scheduler says of a node whose free devices do not do for a pod's ResourceClaims
# (k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources).
CLAIMS_UNMET = "cannot allocate all claims"
# What it says of a node with taints that a pod does not tolerate (.../plugins/tainttoleration).
UNTOLERATED = "untolerated taint"
RETRY_S = 5.0
# A busy API server tells of a pod a minute after it has made it.
UNSEEN_S = 120.0


def pod_name(observation: Observation[WorkloadSettings]) -> str:
    """The name of the validation pod: the same in every run for the same node, boot and subject, so
    that what a killed run left behind is found again."""
    node, state = observation.node, observation.plan.name
    subject, index = observation.target.subject, str(observation.index)
    key = "|".join([node.name, node.boot_id, subject, state, index])
    stem = f"validate-{state.replace('_', '-')}"
    return f"{stem[:45]}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"


def evaluate(observation: Observation[WorkloadSettings]) -> Verdict:
    """The verdict for one node."""
    node, plan = observation.node.name, observation.plan
    sampled = _sampled(observation, node)
    if sampled is not None:
        return sampled
    wanted = pod_name(observation)
    pod = observation.snapshot.validators.get(wanted)
    if pod is None:
        return _start(observation, StartPod(node, plan.name, observation.index, wanted))
    phase = part(pod, "status").get("phase")
    if phase == "Succeeded":
        return PASSED
    if phase == "Failed":
        return _failed(observation, pod)
    return _unfinished(observation, pod)


def _sampled(observation: Observation[WorkloadSettings], node: str) -> Verdict | None:
    """The verdict of a node that another one stands for, or None for a node that has to prove it
    itself."""
    sampling = observation.settings.sampling
    if sampling == "all":
        return None
    siblings = observation.siblings(1 if sampling == "per_group" else int(sampling))
    chosen = siblings.names
    if node in chosen:
        return None
    if siblings.proven:
        return PASSED
    if chosen and siblings.given_up.issuperset(chosen):
        text = f"{', '.join(chosen)} should prove it for the whole group, and did not"
        return Verdict(Outcome.BLOCKED, "SampleNotProven", text)
    text = f"waits for the proof on {', '.join(chosen) or 'a node of its group'}"
    if not observation.view.acts:
        return Verdict(Outcome.PENDING, "NeedsRun", text)
    return Verdict(Outcome.PENDING, SAMPLED, text)


def _start(observation: Observation[WorkloadSettings], start: StartPod) -> Verdict:
    if not observation.view.acts:
        text = "what is deployed is not proven on the node yet, and no validation pod is there"
        return Verdict(Outcome.PENDING, "NeedsRun", text)
    slots = observation.view.slots.get(observation.plan.name, 0)
    if slots <= 0 and start not in observation.snapshot.answers:
        return Verdict(Outcome.PENDING, QUEUED, "waits for other nodes' validation pods to finish")
    answer = observation.query(start, UNSEEN_S)
    if answer is None or not answer.error:
        return Verdict(Outcome.PENDING, "Starting", "the validation pod is being started")
    return Verdict(
        Outcome.BLOCKED, "ValidatorRefused", f"the validation pod cannot be made: {answer.error}"
    )


def _failed(observation: Observation[WorkloadSettings], pod: Obj) -> Verdict:
    ends = _ends(pod)
    finished = max((seconds(end.get("finishedAt")) or 0.0 for end in ends), default=0.0)
    since = max(observation.view.started, observation.target.runnable_since)
    if observation.view.acts and 0 < finished < since - 1:
        return _clear_away(observation, pod)
    code = next((end["exitCode"] for end in ends if end.get("exitCode")), None)
    text = judge(pod).message if code is None else f"{name(pod)} ended with exit code {code}"
    line = _last_log_line(observation, pod)
    return Verdict(
        Outcome.TROUBLE,
        "ValidationFailed",
        f"{text}: {line}" if line else text,
        finished or None,
        open_until=0.0 if line else readable_by(finished or None, observation.now),
    )


def _containers(pod: Obj) -> list[Obj]:
    """What is said of a pod's containers, without the init containers."""
    return elements(pod, "status", "containerStatuses")


def _ends(pod: Obj) -> list[Obj]:
    """How its containers ended; empty for one of which nothing is said."""
    return [part(each, "state", "terminated") for each in _containers(pod)]


def _clear_away(observation: Observation[WorkloadSettings], pod: Obj) -> Verdict:
    """What failed before this run began, or before what it stands on was ready again, says nothing of
    now."""
    removed = observation.query(_removal(pod))
    if removed is not None and removed.error:
        text = f"a validation pod that failed before cannot be removed: {removed.error}"
        return Verdict(Outcome.BLOCKED, "ValidatorRefused", text)
    return Verdict(
        Outcome.PENDING, "Starting", "a validation pod that failed before is being removed"
    )


def _last_log_line(observation: Observation[WorkloadSettings], pod: Obj) -> str:
    """ "" until it has been read. A while later the pod is removed, so that another one may try."""
    metadata = pod["metadata"]
    container = next((str(each["name"]) for each in _containers(pod)), None)
    answer = observation.query(
        ReadLogs(metadata["namespace"], metadata["name"], metadata["uid"], container, 20)
    )
    if answer is None:
        return ""
    if observation.now >= answer.at + RETRY_S:
        observation.query(_removal(pod))
    else:
        observation.wake_at(answer.at + RETRY_S)
    return "" if answer.error else last_line(str(answer.value))


def _removal(pod: Obj) -> RemovePod:
    metadata = pod["metadata"]
    return RemovePod(metadata["namespace"], metadata["name"], metadata["uid"])


def _unfinished(observation: Observation[WorkloadSettings], pod: Obj) -> Verdict:
    verdict = judge(pod)
    if verdict.reason == "Unschedulable":
        resource = observation.settings.resource
        if resource and f"Insufficient {resource}" in verdict.message:
            text = f"all {resource} of the node are in use by other pods, so the validation pod waits for one"
            return Verdict(Outcome.BLOCKED, "DevicesBusy", text, verdict.since)
        if CLAIMS_UNMET in verdict.message:
            text = "no device of the node is free for what the validation pod claims, so it waits for one"
            return Verdict(Outcome.BLOCKED, "DevicesBusy", text, verdict.since)
        repelling = untolerated(observation.node.taints, part(pod, "spec").get("tolerations"))
        if repelling and UNTOLERATED in verdict.message:
            known = observation.view.controller_taints
            reason, text = why_kept_off(name(pod), repelling[0], known)
            return Verdict(Outcome.BLOCKED, reason, text, verdict.since)
        return Verdict(Outcome.BLOCKED, "NoRoom", verdict.message, verdict.since)
    if verdict.outcome is Outcome.TROUBLE:
        ran = verdict.reason not in IMAGE_REASONS
        return Verdict(verdict.outcome, verdict.reason, verdict.message, verdict.since, ran)
    if verdict.reason == PULLING:
        return verdict
    age = observation.now - (_began(pod) or observation.now)
    limit = float(observation.settings.timeout)
    if age > limit:
        return Verdict(
            Outcome.TROUBLE,
            "ValidationTimeout",
            f"{name(pod)} has not finished within {limit:.0f} s",
        )
    observation.wake_at(observation.now + limit - age + 1)
    return verdict


def _began(pod: Obj) -> float | None:
    """Since when it could have done its work: when its first container started, else when it was made."""
    started = (seconds(part(each, "state", "running").get("startedAt")) for each in statuses(pod))
    first = min((moment for moment in started if moment is not None), default=None)
    return first or seconds(pod["metadata"].get("creationTimestamp"))


KIND = ProofKind(
    name="workload",
    holds_when="a pod of the recipe, pinned to the node, ran to the end with exit code 0",
    settings=WorkloadSettings,
    evaluate=evaluate,
    reasons=REASONS,
    observed=False,
    by_node=True,
    scope=lambda _settings: Scope.NODE,
    pod=lambda settings: ProofPod(settings.pod, settings.resource, settings.parallel),
)
