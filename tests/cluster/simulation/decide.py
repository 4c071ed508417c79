# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens next to a pod. Pure: the pod, its behaviour, what its node lacks and the time in; one
step out.

A pod is in one mode at a time (`memory.mode`), since `memory.since`; a step is due some seconds
after the mode began. So every decision can be taken again at any time from the present state:
nothing is lost when an event is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import status
from .model import Behaviour, Obj, Pod
from .operands import fits_kernel
from .status import Place

# Seconds from a mode's begin: a crash, the first and second report of a failed pull, the report
# "waits for init".
CRASH_AFTER, PULL_AFTER, PULL_BACK_OFF_AFTER, HELD_BACK_AFTER, RUNS_AFTER = 0.5, 0.3, 2.0, 5.0, 0.2
LONGEST_BACK_OFF = 16  # times the first one


@dataclass
class Memory:
    """What the simulation remembers of a pod beside its status."""

    mode: str = ""
    since: float = 0.0
    rebooted: bool = False
    next_crash: float | None = None
    last_log: str = ""  # of the run that failed last


@dataclass(frozen=True)
class Event:
    type: str
    reason: str
    message: str


@dataclass(frozen=True)
class Decision:
    """What to do now (parts of the `status` to write, or `delete`), else when to ask again (`due`).

    due None: only after a change.
    """

    status: Obj | None = None
    delete: bool = False
    event: Event | None = None
    due: float | None = None


NOTHING = Decision()
DELETE = Decision(delete=True)


def decide(
    pod: Pod,
    behaviour: Behaviour,
    missing: Sequence[str],
    short: str,
    kernel: str,
    memory: Memory,
    place: Place,
    now: float,
) -> Decision:
    """The pod's next step.

    missing: sentences, one per role that the pod needs and its node lacks. short: why the kubelet
    would not admit a new pod, "" = it would. kernel: the node's. now: seconds of a monotonic clock.
    """
    if pod.deleting:
        return DELETE if pod.grace else NOTHING
    if pod.finished:
        return NOTHING
    if memory.rebooted and _containers(pod) != "new":
        return _reboot(pod, memory, place)
    if (
        behaviour.name != "image-pull"
        and pod.operand.kernel_in_image
        and not fits_kernel(pod.image, kernel)
    ):
        text = f"Could not load the kernel modules: image {pod.image} has none for kernel {kernel}"
        behaviour = Behaviour(name="crash", message=text, restart_seconds=behaviour.restart_seconds)
    if short and _containers(pod) == "new":
        return Decision(status=status.rejected(place, *short.split(": ", 1)))
    if pod.restart_policy == "Always":
        return _serve(pod, behaviour, missing, memory, place, now)
    return _run_once(pod, behaviour, missing, memory, place, now)


def _serve(
    pod: Pod, behaviour: Behaviour, missing: Sequence[str], memory: Memory, place: Place, now: float
) -> Decision:
    """A pod that is to stay up: DaemonSets, Deployments."""
    mode = _enter(memory, _serving_mode(pod, behaviour, missing), now)
    if pod.serves and not pod.ready and pod.open_gates:
        return NOTHING
    if pod.serves and not pod.ready and mode in ("start", "slow", "blocked"):
        return Decision(status=status.running(pod, place, ready=True))  # the kubelet is back
    age = now - memory.since
    state = _containers(pod)
    if mode == "pull":
        return _pull(pod, behaviour, memory, place, now)
    if mode == "crash":
        return _crash(pod, behaviour, memory, place, now)
    if mode == "up":
        return _up(pod, behaviour, memory, place, now)
    if mode == "dead":
        if state != "new":
            return NOTHING
        memory.last_log = behaviour.message or "the process does not answer"
        return _after(RUNS_AFTER, memory, now, status.running(pod, place, ready=False))
    if mode == "blocked":
        if state != "new":
            return NOTHING
        return _after(HELD_BACK_AFTER, memory, now, status.held_back(pod, place))
    if mode == "slow" and state == "new":
        return _after(RUNS_AFTER, memory, now, status.running(pod, place, ready=False))
    wait = max(behaviour.seconds, pod.operand.seconds) if mode == "slow" else pod.operand.seconds
    if age >= wait:
        memory.last_log = ""
    return _after(wait, memory, now, status.running(pod, place, ready=True))


def _up(pod: Pod, behaviour: Behaviour, memory: Memory, place: Place, now: float) -> Decision:
    """A ready pod: stays so, unless its behaviour says that it fails later."""
    if behaviour.name not in ("later-crash", "dead"):
        return NOTHING
    due = memory.since + behaviour.seconds
    if now < due:
        return Decision(due=due)
    if behaviour.name == "later-crash":
        _enter(memory, "crash", now)
        return _crash(pod, behaviour, memory, place, now)
    memory.last_log = behaviour.message or "the process does not answer any more"
    unhealthy = Event(
        "Warning",
        "Unhealthy",
        behaviour.message or "Readiness probe failed: the process does not answer",
    )
    return Decision(status=status.running(pod, place, ready=False), event=unhealthy)


def _serving_mode(pod: Pod, behaviour: Behaviour, missing: Sequence[str]) -> str:
    state = _containers(pod)
    if behaviour.name == "image-pull" and state in ("new", "init", "pull"):
        return "pull"
    if behaviour.name in ("crash", "fail") or (
        behaviour.name == "later-crash" and state == "crash"
    ):
        return "crash"
    if pod.ready:
        return "up"
    if behaviour.name == "dead" and (state == "running" or behaviour.seconds == 0):
        return "dead"
    if missing:
        return "blocked"
    return "slow" if behaviour.name == "slow" else "start"


def _run_once(
    pod: Pod, behaviour: Behaviour, missing: Sequence[str], memory: Memory, place: Place, now: float
) -> Decision:
    """A pod that is to come to an end: Jobs, validators. Missing roles make it fail, as the real
    program would."""
    state = _containers(pod)
    if behaviour.name == "image-pull" and state in ("new", "init", "pull"):
        _enter(memory, "pull", now)
        return _pull(pod, behaviour, memory, place, now)
    _enter(memory, "run", now)
    stays = behaviour.name in ("run", "dead")
    takes = behaviour.seconds if behaviour.name in ("slow", "later-crash") else pod.operand.seconds
    if stays or (takes > 2 * RUNS_AFTER and behaviour.name in ("slow", "later-crash")):
        if state != "running":
            return _after(
                RUNS_AFTER, memory, now, status.running(pod, place, ready=behaviour.name != "dead")
            )
        if stays:
            return NOTHING
    fails = behaviour.name in ("fail", "crash", "later-crash")
    if fails:
        exit_code, text = (
            behaviour.exit_code,
            behaviour.message or f"simulated failure, exit code {behaviour.exit_code}",
        )
    else:
        exit_code, text = (1, missing[0]) if missing else (0, "")
    if exit_code and pod.restart_policy == "OnFailure":
        loop = Behaviour(
            name="crash",
            exit_code=exit_code,
            message=text,
            restart_seconds=behaviour.restart_seconds,
        )
        return _crash(pod, loop, memory, place, now)
    if now < memory.since + takes:
        return Decision(due=memory.since + takes)
    memory.last_log = text
    return Decision(status=status.ended(pod, place, exit_code, message=text))


def _crash(pod: Pod, behaviour: Behaviour, memory: Memory, place: Place, now: float) -> Decision:
    """The next round of a crash loop."""
    if _containers(pod) == "crash":
        back_off = behaviour.restart_seconds * min(2 ** max(pod.restarts - 1, 0), LONGEST_BACK_OFF)
        due = memory.next_crash if memory.next_crash is not None else now + back_off
    else:
        due = now if pod.ready else memory.since + CRASH_AFTER
    if now < due:
        memory.next_crash = due if _containers(pod) == "crash" else None
        return Decision(due=due)
    restarts = pod.restarts + 1
    back_off = behaviour.restart_seconds * min(2 ** (restarts - 1), LONGEST_BACK_OFF)
    memory.next_crash = now + back_off
    memory.last_log = behaviour.message or f"simulated crash, exit code {behaviour.exit_code}"
    text = f"Back-off restarting failed container {pod.containers[0].name} in pod {pod.name}"
    return Decision(
        status=status.crashed(pod, place, behaviour.exit_code, restarts, back_off, memory.last_log),
        event=Event("Warning", "BackOff", text),
    )


def _pull(pod: Pod, behaviour: Behaviour, memory: Memory, place: Place, now: float) -> Decision:
    """First ErrImagePull, then ImagePullBackOff, which stays."""
    image = pod.containers[0].image
    if _containers(pod) != "pull":
        text = behaviour.message or f'failed to pull image "{image}": not found'
        failed = Event("Warning", "Failed", f'Failed to pull image "{image}": {text}')
        return _after(
            PULL_AFTER, memory, now, status.image_failed(pod, place, "ErrImagePull", text), failed
        )
    if _waiting(pod) == "ErrImagePull":
        text = f'Back-off pulling image "{image}": {behaviour.message or "not found"}'
        backed = Event("Warning", "BackOff", f'Back-off pulling image "{image}"')
        return _after(
            PULL_BACK_OFF_AFTER,
            memory,
            now,
            status.image_failed(pod, place, "ImagePullBackOff", text),
            backed,
        )
    return NOTHING


def _reboot(pod: Pod, memory: Memory, place: Place) -> Decision:
    memory.rebooted = False
    memory.mode = ""
    memory.next_crash = None
    if pod.restart_policy == "Always":
        return Decision(status=status.restarted(pod, place))
    memory.last_log = "the node was rebooted"
    return Decision(
        status=status.ended(
            pod, place, 137, message=memory.last_log, reason="ContainerStatusUnknown"
        )
    )


def _after(
    seconds: float, memory: Memory, now: float, change: Obj, event: Event | None = None
) -> Decision:
    """The change, once the mode has lasted so long."""
    if now < memory.since + seconds:
        return Decision(due=memory.since + seconds)
    return Decision(status=change, event=event)


def _enter(memory: Memory, mode: str, now: float) -> str:
    if memory.mode != mode:
        memory.mode, memory.since = mode, now
    return mode


def _containers(pod: Pod) -> str:
    """new: never started; init: waits for init containers; pull: no image; crash: backs off;
    running."""
    statuses = pod.status.get("containerStatuses")
    if not statuses:
        return "new"
    reason = _waiting(pod)
    if reason in ("ErrImagePull", "ImagePullBackOff"):
        return "pull"
    if reason == "PodInitializing":
        return "init"
    return "crash" if reason == "CrashLoopBackOff" else "running"


def _waiting(pod: Pod) -> str:
    for item in pod.status.get("containerStatuses") or ():
        if "waiting" in item.get("state", {}):
            return str(item["state"]["waiting"].get("reason", ""))
    return ""
