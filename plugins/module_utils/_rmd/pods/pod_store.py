# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done to pods whose cache workload fails: the reason as an Event, and what the failure
policy says.

Every request names the pod's uid: another pod that has its name by now is left alone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..._cluster.api_errors import AlreadyExists, ApiError, Conflict, NotFound
from ..._cluster.client import Client
from ..._cluster.kinds import Kind
from ..._cluster.labels import DOMAIN
from ..._json import Obj
from ..._times import timestamp
from ..objects.object_store import WORKERS

POD = Kind("", "v1", "Pod", "pods", namespaced=True)
EVENT = Kind("", "v1", "Event", "events", namespaced=True)
REASON = "CacheWorkloadFailed"
# On a pod with the failure policy "annotate"; its value is the reason.
FAILURE_ANNOTATION = f"{DOMAIN}/rmd-failure"

_LONGEST_MESSAGE = 1000
_LONGEST_NAME = 230


def running_pods(client: Client) -> list[Obj]:
    """All pods that run. The API server cannot select by what they ask for."""
    return client.list(POD, fields="status.phase=Running").items


def read_pod(client: Client, namespace: str, name: str) -> Obj | None:
    """A pod, or None."""
    return client.get(POD, name, namespace)


def event(pod: Mapping[str, Any], message: str, now: float) -> Obj:
    """The Event that tells why a pod gets no cache. It has one name for one reason, so that it is
    not repeated."""
    metadata, shown = pod["metadata"], message[:_LONGEST_MESSAGE]
    digest = hashlib.sha256(f"{metadata['uid']} {shown}".encode()).hexdigest()[:12]
    moment = timestamp(now)
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{metadata['name'][:_LONGEST_NAME]}.{digest}",
            "namespace": metadata["namespace"],
        },
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "uid": metadata["uid"],
        },
        "type": "Warning",
        "reason": REASON,
        "message": shown,
        "source": {"component": DOMAIN},
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
    }


def missing_events(client: Client, events: Sequence[Obj]) -> list[Obj]:
    """Those that the cluster does not have (any more)."""

    def call(obj: Obj) -> Callable[[], bool]:
        return lambda: (
            client.get(EVENT, obj["metadata"]["name"], obj["metadata"]["namespace"]) is None
        )

    found = _done(client.parallel([call(obj) for obj in events], workers=WORKERS))
    return [obj for obj, missing in zip(events, found, strict=True) if missing]


def write_events(client: Client, events: Sequence[Obj]) -> None:
    """Create Events; one that somebody else was faster with is there."""

    def call(obj: Obj) -> Callable[[], Any]:
        return lambda: client.create(obj)

    _done(client.parallel([call(obj) for obj in events], workers=WORKERS))


def annotate_pods(client: Client, wanted: Sequence[tuple[Obj, str | None]]) -> None:
    """Set the failure annotation of pods, or remove it (None)."""

    def call(pod: Obj, why: str | None) -> Callable[[], Any]:
        metadata = pod["metadata"]
        body = {"metadata": {"uid": metadata["uid"], "annotations": {FAILURE_ANNOTATION: why}}}
        return lambda: client.patch(POD, metadata["name"], metadata["namespace"], body)

    _done(client.parallel([call(pod, why) for pod, why in wanted], workers=WORKERS))


def evict(client: Client, pod: Mapping[str, Any]) -> bool:
    """Ask for a pod's eviction, which its disruption budgets may refuse (ApiError); False where it
    is gone."""
    metadata = pod["metadata"]
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "deleteOptions": {"preconditions": {"uid": metadata["uid"]}},
    }
    try:
        client.create_subresource(POD, metadata["name"], metadata["namespace"], "eviction", body)
    except (NotFound, Conflict):
        return False
    return True


def _done(answers: Sequence[Any]) -> list[Any]:
    """Raises the first error; a pod that went, or was replaced, meanwhile is none."""
    for answer in answers:
        if isinstance(answer, ApiError) and not isinstance(
            answer, (NotFound, AlreadyExists, Conflict)
        ):
            raise answer
    return list(answers)
