# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pod statuses as a kubelet writes them. Pure: a pod's view in, the parts of its status that change
out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .model import Container, Obj, Pod


@dataclass(frozen=True)
class Place:
    """Where and when a status is written: RFC 3339 time, the node's address, the address that the
    pod gets."""

    now: str
    host_ip: str
    pod_ip: str


def running(pod: Pod, place: Place, *, ready: bool, restarts: int | None = None) -> Obj:
    """All containers run; they are ready or their probes fail. A pod that crashed or rebooted keeps
    its last state."""
    last = _last_states(pod)
    statuses = [
        _container(
            item,
            {"running": {"startedAt": place.now}},
            _restarts(pod, restarts),
            ready,
            True,
            last.get(item.name),
        )
        for item in pod.containers
    ]
    old = pod.status.get("containerStatuses") or []
    if (
        restarts is None
        and len(old) == len(statuses)
        and all("running" in item["state"] for item in old)
    ):
        # The same containers go on: only their readiness changes.
        statuses = [{**item, "ready": ready, "started": True} for item in old]
    status = _started(pod, place, "Running")
    status["containerStatuses"] = statuses
    status["initContainerStatuses"] = _inits_done(pod, place)
    reason = "" if ready else "ContainersNotReady"
    status["conditions"] = _conditions(pod, place, initialized=True, ready=ready, reason=reason)
    return status


def restarted(pod: Pod, place: Place) -> Obj:
    """After a reboot: every container was lost and starts again, init containers first; one restart
    more."""
    lost = {
        "exitCode": 255,
        "reason": "Unknown",
        "startedAt": _since(pod, place),
        "finishedAt": place.now,
    }
    status = (
        held_back(pod, place)
        if pod.inits
        else running(pod, place, ready=False, restarts=pod.restarts + 1)
    )
    for item in status["containerStatuses"]:
        item["restartCount"] = pod.restarts + 1
        item["lastState"] = {"terminated": lost}
    return status


def ended(
    pod: Pod,
    place: Place,
    exit_code: int,
    *,
    message: str = "",
    reason: str = "",
    started: str | None = None,
) -> Obj:
    """Run to the end: Succeeded for exit code 0, else Failed. `message` is the last log line."""
    terminated: Obj = {
        "exitCode": exit_code,
        "reason": reason or ("Completed" if exit_code == 0 else "Error"),
        "startedAt": started or _since(pod, place),
        "finishedAt": place.now,
    }
    statuses = []
    for item in pod.containers:
        state = (
            dict(terminated, message=message)
            if message and exit_code and item.log_on_error
            else terminated
        )
        statuses.append(
            _container(item, {"terminated": state}, _restarts(pod, None), False, False, None)
        )
    status = _started(pod, place, "Succeeded" if exit_code == 0 else "Failed")
    status["containerStatuses"] = statuses
    status["initContainerStatuses"] = _inits_done(pod, place)
    reason = "PodCompleted" if exit_code == 0 else "PodFailed"
    status["conditions"] = _conditions(pod, place, initialized=True, ready=False, reason=reason)
    return status


def lost_sight(pod: Pod, place: Place) -> Obj:
    """What the node lifecycle controller writes when the node's kubelet is silent: not ready,
    nothing else."""
    conditions = []
    for item in pod.status.get("conditions") or ():
        changed = (
            {"status": "False", "lastTransitionTime": place.now} if item["type"] == "Ready" else {}
        )
        conditions.append({**item, **changed})
    return {"conditions": conditions}


def rejected(place: Place, reason: str, message: str) -> Obj:
    """The kubelet did not admit the pod (OutOfnvidia.com/gpu): Failed without any container."""
    return {"phase": "Failed", "reason": reason, "message": message, "startTime": place.now}


def crashed(
    pod: Pod, place: Place, exit_code: int, restarts: int, back_off: float, message: str
) -> Obj:
    """CrashLoopBackOff after `restarts` restarts; the last state tells the exit code."""
    text = f"back-off {int(back_off) or 1}s restarting failed container={pod.containers[0].name} pod={pod.name}"
    terminated: Obj = {
        "exitCode": exit_code,
        "reason": "Error",
        "startedAt": place.now,
        "finishedAt": place.now,
    }
    statuses = []
    for item in pod.containers:
        last = dict(terminated, message=message) if message and item.log_on_error else terminated
        waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": text}}
        statuses.append(_container(item, waiting, restarts, False, False, {"terminated": last}))
    status = _started(pod, place, "Running")
    status["containerStatuses"] = statuses
    status["initContainerStatuses"] = _inits_done(pod, place)
    status["conditions"] = _conditions(
        pod, place, initialized=True, ready=False, reason="ContainersNotReady"
    )
    return status


def image_failed(pod: Pod, place: Place, reason: str, message: str) -> Obj:
    """ErrImagePull or ImagePullBackOff of the first image; the pod stays Pending."""
    waiting = {"waiting": {"reason": reason, "message": message}}
    status = _started(pod, place, "Pending")
    status["containerStatuses"] = [
        _container(item, waiting, 0, False, False, None) for item in pod.containers
    ]
    status["initContainerStatuses"] = _inits_done(pod, place)
    status["conditions"] = _conditions(
        pod, place, initialized=True, ready=False, reason="ContainersNotReady"
    )
    return status


def held_back(pod: Pod, place: Place) -> Obj:
    """What it needs is missing: its first init container waits (Init:0/n); without one it runs and
    is not ready."""
    if not pod.inits:
        return running(pod, place, ready=False)
    first, *rest = pod.inits
    initializing = {"waiting": {"reason": "PodInitializing"}}
    status = _started(pod, place, "Pending")
    status["initContainerStatuses"] = [
        _container(first, {"running": {"startedAt": place.now}}, 0, False, True, None),
        *(_container(item, initializing, 0, False, False, None) for item in rest),
    ]
    status["containerStatuses"] = [
        _container(item, initializing, 0, False, False, None) for item in pod.containers
    ]
    status["conditions"] = _conditions(
        pod, place, initialized=False, ready=False, reason="ContainersNotInitialized"
    )
    return status


def _container(
    item: Container, state: Obj, restarts: int, ready: bool, started: bool, last: Obj | None
) -> dict[str, Any]:
    return {
        "name": item.name,
        "image": item.image,
        "imageID": "" if "waiting" in state else item.image,
        "ready": ready,
        "started": started,
        "restartCount": restarts,
        "state": state,
        "lastState": last or {},
    }


def _restarts(pod: Pod, given: int | None) -> int:
    return pod.restarts if given is None else given


def _since(pod: Pod, place: Place) -> str:
    """When the first container began to run, else now."""
    for item in pod.status.get("containerStatuses") or ():
        began = (item.get("state", {}).get("running") or {}).get("startedAt")
        if began:
            return str(began)
    return place.now


def _last_states(pod: Pod) -> dict[str, Obj]:
    """The last state of each container; the present one where it is over."""
    result = {}
    for item in pod.status.get("containerStatuses") or ():
        state = item.get("state", {})
        result[item["name"]] = (
            {"terminated": state["terminated"]} if "terminated" in state else item.get("lastState")
        )
    return result


def _started(pod: Pod, place: Place, phase: str) -> Obj:
    pod_ip = pod.status.get("podIP") or place.pod_ip
    return {
        "phase": phase,
        "startTime": pod.status.get("startTime") or place.now,
        "hostIP": place.host_ip,
        "hostIPs": [{"ip": place.host_ip}],
        "podIP": pod_ip,
        "podIPs": [{"ip": pod_ip}],
    }


def _inits_done(pod: Pod, place: Place) -> Sequence[Obj] | None:
    if not pod.inits:
        return None
    old = {item["name"]: item for item in pod.status.get("initContainerStatuses") or ()}
    done: Obj = {
        "exitCode": 0,
        "reason": "Completed",
        "startedAt": place.now,
        "finishedAt": place.now,
    }
    result = []
    for item in pod.inits:
        known = old.get(item.name, {})
        if known.get("ready"):
            result.append(known)
        elif item.restarts_with_pod:
            result.append(
                _container(item, {"running": {"startedAt": place.now}}, 0, True, True, None)
            )
        else:
            began = (known.get("state", {}).get("running") or {}).get("startedAt", place.now)
            result.append(
                _container(item, {"terminated": dict(done, startedAt=began)}, 0, True, False, None)
            )
    return result


def _conditions(
    pod: Pod, place: Place, *, initialized: bool, ready: bool, reason: str
) -> list[Obj]:
    """All conditions of the pod with ours set; a condition's time moves only when its status does."""
    wanted = {
        "PodReadyToStartContainers": ("True", ""),
        "Initialized": (str(initialized), "" if initialized else reason),
        "ContainersReady": (str(ready), "" if ready else reason),
        "Ready": (str(ready), "" if ready else reason),
    }
    if ready and pod.open_gates:
        wanted["Ready"] = ("False", "ReadinessGatesNotReady")
    if reason == "PodCompleted":
        wanted["Initialized"] = ("True", reason)
    result = []
    for item in pod.status.get("conditions") or ():
        if item["type"] not in wanted:
            result.append(item)
    times = {item["type"]: item for item in pod.status.get("conditions") or ()}
    for kind, (value, why) in wanted.items():
        old = times.get(kind, {})
        moved = (
            place.now if old.get("status") != value else old.get("lastTransitionTime", place.now)
        )
        entry: Obj = {"type": kind, "status": value, "lastTransitionTime": moved}
        if why:
            entry["reason"] = why
        if why == "ContainersNotReady":
            names = " ".join(container.name for container in pod.containers)
            entry["message"] = f"containers with unready status: [{names}]"
        elif why == "ContainersNotInitialized" and kind == "Initialized":
            names = " ".join(container.name for container in pod.inits)
            entry["message"] = f"containers with incomplete status: [{names}]"
        result.append(entry)
    return result
