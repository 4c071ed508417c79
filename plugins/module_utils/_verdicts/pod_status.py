# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading one pod: is it ready, and if not, what is wrong with it, in the words of the kubelet or
the scheduler."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Optional

from .._json import Obj, elements, part
from .._times import seconds
from .conditions import condition
from .reasons import UNDER_WAY, Reason
from .verdict import Outcome, Verdict
from .wait_causes import deletion_cause

# Reasons after which a container does not start without somebody's help; blips are told apart by
# failure_grace.
# Source: kubernetes/pkg/kubelet/images/types.go and pkg/kubelet/kuberuntime (reasons of
# ContainerStateWaiting).
TERMINAL_REASONS = frozenset(
    {
        "CrashLoopBackOff",
        "CreateContainerConfigError",
        "CreateContainerError",
        "ErrImageNeverPull",
        "ErrImagePull",
        "ImageInspectError",
        "ImagePullBackOff",
        "InvalidImageName",
        "RunContainerError",
        "SignatureValidationFailed",
    }
)
# What judge() says of a pod. A pod's own words ("Evicted") may come besides.
POD_REASONS = {
    "ContainerCreating": UNDER_WAY,
    "CrashLoopBackOff": Reason(
        "a container ends again and again; exit code and last log line are in the message",
        "read the pod's log (kubectl logs --previous), mend the cause, run again",
    ),
    "CreateContainerConfigError": Reason(
        "the kubelet misses something that the container refers to",
        "look for a missing ConfigMap or Secret in the pod's events",
    ),
    "CreateContainerError": Reason(
        "the container runtime could not make the container",
        "look at the pod's events (kubectl describe), mend the cause, run again",
    ),
    "Error": Reason(
        "a container has ended with an error; exit code and last log line are in the message",
        "read the pod's log (kubectl logs), mend the cause, run again",
    ),
    "Ending": UNDER_WAY,
    "ErrImageNeverPull": Reason(
        "the image is not on the node, and the pod forbids to pull it",
        "put the image on the node, or let the kubelet pull it",
    ),
    "ErrImagePull": Reason(
        "the image could not be pulled",
        "check the image's name, that the node reaches the registry, and image_pull_secrets",
    ),
    "ImageInspectError": Reason(
        "the container runtime cannot read the image",
        "look at the pod's events (kubectl describe), mend the cause, run again",
    ),
    "ImagePullBackOff": Reason(
        "the image could not be pulled several times",
        "check the image's name, that the node reaches the registry, and image_pull_secrets",
    ),
    "InvalidImageName": Reason(
        "the image's name is no valid reference",
        "correct the image's name where it is given: in an option, or in the recipe",
    ),
    "NoLongerReady": Reason(
        "the container runs, but its readiness probe fails since",
        "look at the pod's log and its readiness probe; deleting the pod starts it anew",
    ),
    "NoScheduler": Reason(
        "the scheduler that a pod names has not looked at it",
        "see whether that scheduler runs, or correct schedulerName in the pod's template",
    ),
    "OOMKilled": Reason(
        "a container was killed, since it took more memory than its limit or than the node has",
        "raise the limit in the recipe or chart where that sets one, else free memory on the node, then run again",
    ),
    "OOMKilledByLimitRange": Reason(
        "a container was killed, since it took more memory than the limit that a LimitRange of its namespace gave it",
        "raise the default memory limit of that LimitRange (kubectl get limitrange), and delete the pod, which keeps"
        " the one it has",
    ),
    "Pending": UNDER_WAY,
    "PodInitializing": UNDER_WAY,
    "Restarted": UNDER_WAY,
    "Pulling": UNDER_WAY,
    "RunContainerError": Reason(
        "the container runtime could not start the container",
        "look at the pod's events (kubectl describe), mend the cause, run again",
    ),
    "Running": UNDER_WAY,
    "SignatureValidationFailed": Reason(
        "the node's policy refuses the image's signature",
        "use a signed image, or trust its signer in the node's policy",
    ),
    "Terminating": UNDER_WAY,
    "Unschedulable": Reason(
        "the scheduler finds no place for a pod; its words are in the message",
        "free room on the node or remove what keeps the pod away (a cordon, a quota, a taint that nobody puts there"
        " again), then run again",
    ),
}
NO_POD = Reason(
    "there is no pod where one should be; an event that says why is in the message",
    "look at the events of what makes it (DaemonSet, Deployment, Job) and at the node's labels and taints",
)
IMAGE_REASONS = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}
)
NO_LONGER_READY = "NoLongerReady"
# The phase of a pod whose containers run and are not ready yet.
STARTING = "Running"
PULLING = "Pulling"
# With this condition a pod's volumes, network and sandbox are there: what a container waits for that has
# never been made is its image (kubernetes/pkg/kubelet/kubelet_pods.go, GeneratePodReadyToStartContainersCondition).
_READY_TO_START = "PodReadyToStartContainers"
_NOT_STARTED = frozenset({"ContainerCreating", "PodInitializing"})
# One that comes with the pod may have to be pulled first.
SCHEDULER_PATIENCE_S = 120.0
_DEFAULT_SCHEDULER = "default-scheduler"
_OOM = "OOMKilled"
# What the LimitRanger writes on a pod that it has changed: "LimitRanger plugin set: cpu, memory
# request for container a; cpu, memory limit for container a" (kubernetes/plugin/pkg/admission/limitranger).
_LIMIT_RANGER = "kubernetes.io/limit-ranger"
_LIMITED = re.compile(r"\bmemory(?:, [^;]*)? limit for (?:init )?container (?P<name>[a-z0-9-]+)")
RESTARTED = "Restarted"
CRASH_LOOP = "CrashLoopBackOff"
# What the scheduler adds about pods that it could evict, which explains nothing about this one's
# place.
_PREEMPTION = re.compile(r"[.,]?\s*(no new claims to deallocate,?\s*)?preemption:.*", re.DOTALL)


def is_ready(pod: Obj) -> bool:
    """Whether a pod is Ready and not on its way out."""
    ready = condition(pod, "Ready")
    return bool(
        ready and ready.get("status") == "True" and not pod["metadata"].get("deletionTimestamp")
    )


def newest(pods: Iterable[Obj]) -> Obj | None:
    """The pod that was made last; None without any."""
    return max(
        pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp") or ""), default=None
    )


def statuses(pod: Obj) -> list[Obj]:
    """What is said of a pod's containers, the init containers first."""
    status = part(pod, "status")
    return [*elements(status, "initContainerStatuses"), *elements(status, "containerStatuses")]


def crashed_container(pod: Obj) -> Obj | None:
    """What is said of the container that ended with an error or is being restarted, if there is
    one."""
    for status in statuses(pod):
        if _backs_off(status) or last_end(status).get("exitCode"):
            return status
    return None


def has_crashed(pod: Obj) -> bool:
    """Whether a container of a pod that is to go on has ended with an error, and the pod has not been
    ready since."""
    goes_on = part(pod, "status").get("phase") not in ("Succeeded", "Failed")
    is_leaving = bool(pod["metadata"].get("deletionTimestamp"))
    return goes_on and not is_leaving and not is_ready(pod) and crashed_container(pod) is not None


def last_end(container: Obj) -> Obj:
    """How a container ended, now or before it was started again; empty where it never did."""
    return _ended(container) or part(container, "lastState").get("terminated") or {}


def has_ended(container: Obj) -> bool:
    """Whether a container has ended and was not started again yet, as far as the kubelet says."""
    return bool(_ended(container))


def keeps_ending(container: Obj) -> bool:
    """Whether a container was restarted more than once: once is what a node's reboot does."""
    return int(container.get("restartCount", 0)) > 1


def unready_container(pod: Obj) -> Obj | None:
    """What is said of the container that was ready and is so no longer, although it never stopped
    running, if there is one.

    A container that is still starting does not count: its pod has not been ready since the
    container began.
    """
    ready = condition(pod, "Ready") or {}
    lost = seconds(ready.get("lastTransitionTime"))
    if ready.get("status") != "False" or lost is None:
        return None
    for status in elements(pod, "status", "containerStatuses"):
        began = seconds(part(status, "state", "running").get("startedAt"))
        if not status.get("ready") and began is not None and began < lost:
            return dict(status)
    return None


def starting_container(pod: Obj) -> Obj | None:
    """What is said of the first container that runs and is not ready, if there is one."""
    for container in elements(pod, "status", "containerStatuses"):
        if not container.get("ready") and part(container, "state").get("running"):
            return dict(container)
    return None


def name(pod: Obj) -> str:
    """A pod as a person names it."""
    metadata = pod["metadata"]
    return f"pod {metadata.get('namespace', 'default')}/{metadata['name']}"


def last_line(text: str) -> str:
    """The last line that says something, at most 300 characters."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def judge(pod: Obj) -> Verdict:
    """Why a pod is not ready yet: pending, or trouble with the reason that the cluster gives. What
    says most comes first."""
    verdict = next(filter(None, (judgement(pod) for judgement in _JUDGEMENTS)), None)
    if verdict:
        return verdict
    phase = part(pod, "status").get("phase") or "Pending"
    return Verdict(Outcome.PENDING, phase, f"{name(pod)} is not ready yet")


def _leaving(pod: Obj) -> Verdict | None:
    """How a pod ends that is deleted, Failed where its init containers were not done, says nothing
    of the one that comes."""
    if not pod["metadata"].get("deletionTimestamp"):
        return None
    text = f"{name(pod)} is being replaced: {deletion_cause(pod).why}"
    return Verdict(Outcome.PENDING, "Terminating", text)


def _unschedulable(pod: Obj) -> Verdict | None:
    scheduled = condition(pod, "PodScheduled") or {}
    if (scheduled.get("status"), scheduled.get("reason")) != ("False", "Unschedulable"):
        return None
    why = _PREEMPTION.sub("", scheduled.get("message") or "") or "no reason given"
    text = f"{name(pod)} finds no place: {why}"
    since = seconds(scheduled.get("lastTransitionTime"))
    return Verdict(Outcome.TROUBLE, "Unschedulable", text, since)


def _unseen(pod: Obj) -> Verdict | None:
    """A pod of another scheduler than the cluster's own, which has said nothing of it: no event, no
    condition."""
    spec = part(pod, "spec")
    scheduler = spec.get("schedulerName") or _DEFAULT_SCHEDULER
    if spec.get("nodeName") or scheduler == _DEFAULT_SCHEDULER or condition(pod, "PodScheduled"):
        return None
    made = seconds(pod["metadata"].get("creationTimestamp"))
    text = f"{name(pod)} waits for the scheduler {scheduler}, which has not looked at it"
    until = (made or 0.0) + SCHEDULER_PATIENCE_S
    return Verdict(Outcome.TROUBLE, "NoScheduler", text, made, open_until=until)


def _stuck(pod: Obj) -> Verdict | None:
    """A container does not start without somebody's help."""
    for container in statuses(pod):
        reason = _waiting(container).get("reason")
        if reason in TERMINAL_REASONS:
            detail = _waiting(container).get("message") or ""
            if _backs_off(container):
                detail = _end_in_words(container)
            reason = _of_memory(pod, container) or reason
            text = f"{name(pod)} container {container.get('name')}: {reason}"
            text = f"{text} ({detail})" if detail else text
            return Verdict(Outcome.TROUBLE, reason, text, _unready_since(pod))
    return None


def _failed(pod: Obj) -> Verdict | None:
    """The pod as a whole has ended, and is not started again."""
    status = part(pod, "status")
    if status.get("phase") != "Failed":
        return None
    why = status.get("reason") or "Failed"
    text = f"{name(pod)} failed: {status.get('message') or why}"
    return Verdict(Outcome.TROUBLE, why, text, _unready_since(pod))


def _ended_with_an_error(pod: Obj) -> Verdict | None:
    """A container has, and was not started again yet."""
    for container in statuses(pod):
        if _ended(container).get("exitCode"):
            return _ending(pod, container) if _starts_once(pod) else _stopped(pod, container)
    return None


def _no_longer_ready(pod: Obj) -> Verdict | None:
    unready = unready_container(pod)
    if unready is None:
        return None
    text = f"{name(pod)} container {unready.get('name')} runs but is no longer ready"
    return Verdict(Outcome.TROUBLE, NO_LONGER_READY, text, _unready_since(pod))


def _unready_since(pod: Obj) -> float | None:
    return seconds((condition(pod, "Ready") or {}).get("lastTransitionTime"))


def _stopped(pod: Obj, container: Obj) -> Verdict:
    """A container that has ended with an error and is not started yet. Since when that is trouble
    is not told: with a reboot all containers end, long before they are started again.

    While it backs off, the kubelet says now this, now CrashLoopBackOff: one that keeps ending is
    called by one name, which for memory says more than that it keeps ending.
    """
    reason = CRASH_LOOP if keeps_ending(container) else _ended(container).get("reason") or "Error"
    reason = _of_memory(pod, container) or reason
    text = f"{name(pod)} container {container.get('name')}: {reason} ({_end_in_words(container)})"
    return Verdict(Outcome.TROUBLE, str(reason), text)


def _of_memory(pod: Obj, container: Obj) -> str:
    """The reason where a container ended for the memory that it took, by who set its limit; ""
    otherwise."""
    if last_end(container).get("reason") != _OOM:
        return ""
    said = part(pod["metadata"], "annotations").get(_LIMIT_RANGER) or ""
    limited = {found["name"] for found in _LIMITED.finditer(said)}
    return f"{_OOM}ByLimitRange" if container.get("name") in limited else _OOM


def _starts_once(pod: Obj) -> bool:
    return bool(part(pod, "spec").get("restartPolicy") == "Never")


def _ending(pod: Obj, container: Obj) -> Verdict:
    """The pod is about to be Failed, which the kubelet says when all is cleaned up. What that means
    is for whoever made it to say: a Job may try again."""
    text = f"{name(pod)} container {container.get('name')} has ended ({_end_in_words(container)})"
    return Verdict(Outcome.PENDING, "Ending", text)


def _end_in_words(container: Obj) -> str:
    end = last_end(container)
    why = end.get("reason")
    parts = [str(why)] if why not in (None, "Error", "Completed") else []
    parts.append(f"exit code {end.get('exitCode', 'unknown')}")
    return ", ".join([*parts, f"{container.get('restartCount') or 0} restarts"])


def _pulling(pod: Obj) -> Verdict | None:
    """An image is being pulled. That it makes progress is its runtime's to say, which ends a pull without
    (containerd: image_pull_progress_timeout, 5 minutes; CRI-O: pull_progress_timeout)."""
    sandbox = condition(pod, _READY_TO_START) or {}
    container = _next_container(pod)
    if sandbox.get("status") != "True" or not container or container.get("imageID"):
        return None
    image = container.get("image") or "its image"
    text = f"{name(pod)} container {container.get('name')}: {image} is being pulled"
    return Verdict(Outcome.PENDING, PULLING, text)


def _next_container(pod: Obj) -> Obj | None:
    """The container that the kubelet is about to start: it starts one after the other, and waits for
    each init container's end, but for those that run beside the others."""
    specs = elements(pod, "spec", "initContainers")
    beside = {spec["name"] for spec in specs if spec.get("restartPolicy") == "Always"}
    first = elements(pod, "status", "initContainerStatuses")
    for container in statuses(pod):
        if _waiting(container).get("reason") in _NOT_STARTED:
            return container
        if container in first and container["name"] not in beside and not has_ended(container):
            return None
    return None


def _under_way(pod: Obj) -> Verdict | None:
    """A container waits for something, or has been restarted."""
    for container in statuses(pod):
        text = f"{name(pod)} container {container.get('name')}"
        reason, code = _waiting(container).get("reason"), last_end(container).get("exitCode")
        if reason:
            return Verdict(Outcome.PENDING, str(reason), f"{text}: {reason}")
        if code and not container.get("ready"):
            text = f"{text} was restarted after exit code {code}"
            return Verdict(Outcome.PENDING, RESTARTED, text)
    return None


def _waiting(container: Obj) -> Obj:
    return part(container, "state", "waiting")


def _ended(container: Obj) -> Obj:
    return part(container, "state", "terminated")


def _backs_off(container: Obj) -> bool:
    return bool(_waiting(container).get("reason") == CRASH_LOOP)


# In the order in which they decide.
_JUDGEMENTS: Sequence[Callable[[Obj], Optional[Verdict]]] = (
    _leaving,
    _unschedulable,
    _unseen,
    _stuck,
    _failed,
    _ended_with_an_error,
    _no_longer_ready,
    _pulling,
    _under_way,
)
