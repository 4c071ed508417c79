# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the pods of this node ask for, before any run has declared it. Pure.

A container asks by a limit of intel.com/l3_cache_ways, by annotations that begin with its name, or
both. The workload has the uuid that a run gives it, so that it is the same one then. What cannot be read
is left to the run, which tells the pod why."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cpusets import parse
from declared import Entry

_WAYS = "intel.com/l3_cache_ways"
_LONGEST_NAME = 253
# A workload of an object in this namespace has the object's name alone for a uuid.
_HOME = "default"
# These are RMD's.
_NOT_OURS = ("policy", "pstate_ratio", "pstate_monitoring")
_MBA = ("mba_percentage", "mba_mbps")
# RMD's DaemonSet, and the ServiceAccount of its pods.
_DAEMON = "intel-rmd"
Obj = Mapping[str, Any]


def alive(pods: Sequence[Obj]) -> set[str]:
    """The uids of the pods that have not ended."""
    return {
        str(pod["metadata"]["uid"])
        for pod in pods
        if (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
    }


def has_daemon(pods: Sequence[Obj], namespace: str) -> bool:
    """Whether RMD is on this node, also where it is about to end. namespace: that of the recipe."""
    living = alive(pods)
    return any(pod["metadata"]["uid"] in living and _is_daemon(pod, namespace) for pod in pods)


def _is_daemon(pod: Obj, namespace: str) -> bool:
    """By who made it: anybody may write a pod's labels, and all groups go where RMD is."""
    metadata, account = pod["metadata"], (pod.get("spec") or {}).get("serviceAccountName")
    return (metadata.get("namespace"), account) == (namespace, _DAEMON) and any(
        owner.get("controller")
        and (owner.get("apiVersion"), owner.get("kind"), owner.get("name"))
        == ("apps/v1", "DaemonSet", _DAEMON)
        for owner in metadata.get("ownerReferences") or []
    )


def claims(pods: Sequence[Obj], known: Sequence[Entry], report: Obj) -> list[Entry]:
    """Entries of containers that have none yet, those of the oldest pod first.

    known: those that are declared. report: what this agent reads: cpu_manager, cgroups.
    """
    there = {(entry.pod, entry.uuid) for entry in known}
    found = []
    for pod in sorted(pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp"))):
        metadata, status = pod["metadata"], pod.get("status") or {}
        if status.get("phase") != "Running" or "deletionTimestamp" in metadata:
            continue
        for first, container in _asking(pod):
            names = _uuids(metadata, container["name"], first=first)
            if any((metadata["uid"], name) in there for name in names):
                continue
            entry = _entry(names[0], pod, container, report)
            found += [entry] if entry is not None else []
    uuids = {entry.uuid for entry in known}
    return [entry for entry in found if entry.uuid not in uuids]


def _asking(pod: Obj) -> Iterator[tuple[bool, Obj]]:
    """The containers that ask for something, and whether it is the first that asks for cache."""
    spec, first = pod.get("spec") or {}, True
    annotations = pod["metadata"].get("annotations") or {}
    for container in [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]:
        if _whole(_limits(container).get(_WAYS)):
            yield first, container
            first = False
        elif any(annotations.get(f"{container['name']}_{suffix}") for suffix in _MBA):
            yield False, container


def _entry(uuid: str, pod: Obj, container: Obj, report: Obj) -> Entry | None:
    name, annotations = container["name"], pod["metadata"].get("annotations") or {}
    status = pod.get("status") or {}
    if status.get("qosClass") != "Guaranteed" or _has_ended(status, name):
        return None
    if any(annotations.get(f"{name}_{suffix}") for suffix in _NOT_OURS):
        return None
    texts = {suffix: annotations.get(f"{name}_{suffix}") for suffix in ("cache_min", *_MBA)}
    numbers = {suffix: _whole(text) for suffix, text in texts.items() if text not in (None, "")}
    most = _whole(_limits(container).get(_WAYS)) or None
    least = numbers.get("cache_min", most) if most else None
    cores = _cores(pod, container, report)
    if cores is None or None in numbers.values() or (most and not 0 < (least or 0) <= most):
        return None
    percentage, mbps = (numbers.get(suffix) or None for suffix in _MBA)
    if (percentage and mbps) or not (most or percentage or mbps):
        return None
    uid = str(pod["metadata"]["uid"])
    return Entry(uuid, cores, most, least, percentage, mbps, uid, is_claimed=True)


def _cores(pod: Obj, container: Obj, report: Obj) -> frozenset[int] | None:
    """The CPUs that are this container's alone; None where there are none."""
    count = _whole(_limits(container).get("cpu"))
    if not count:
        return None
    uid, name = pod["metadata"]["uid"], container["name"]
    manager = report.get("cpu_manager")
    if manager is not None:
        text = ((manager.get("entries") or {}).get(uid) or {}).get(name)
    else:
        text = ((report.get("cgroups") or {}).get(uid) or {}).get(_id(pod, name))
    try:
        cores = parse(text or "")
    except ValueError:
        return None
    return cores if cores and (manager is not None or len(cores) == count) else None


def _id(pod: Obj, name: str) -> str:
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    ids = [str(entry.get("containerID") or "") for entry in statuses if entry.get("name") == name]
    return ids[0].rpartition("://")[2] if ids else ""


def _has_ended(status: Obj, name: str) -> bool:
    entries = [
        *(status.get("initContainerStatuses") or []),
        *(status.get("containerStatuses") or []),
    ]
    return any(
        entry.get("name") == name and "terminated" in (entry.get("state") or {})
        for entry in entries
    )


def _uuids(metadata: Obj, container: str, *, first: bool) -> list[str]:
    """The uuids that a run may give, its newer form first."""
    long = f"{metadata['name']}-rmd-workload-{container}"
    if len(long) > _LONGEST_NAME:
        digest = hashlib.sha256(long.encode()).hexdigest()[:8]
        long = f"{long[: _LONGEST_NAME - len(digest) - 1]}-{digest}"
    names = [long, f"rmd-workload-{metadata['name']}"] if first else [long]
    home = metadata["namespace"] == _HOME
    return names if home else [f"{metadata['namespace']}.{name}" for name in names]


def _limits(container: Obj) -> Obj:
    return (container.get("resources") or {}).get("limits") or {}


def _whole(quantity: object) -> int | None:
    """A quantity that is a whole number ("3", "3000m"), else None."""
    text = str(quantity or "")
    number, unit = (text[:-1], 1000) if text.endswith("m") else (text, 1)
    if not number.isascii() or not number.isdigit() or int(number) % unit:
        return None
    return int(number) // unit
