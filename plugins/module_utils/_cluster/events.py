# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events on objects of the cluster (events.k8s.io/v1). What happens again within an hour or so, the
time that an API server keeps them, becomes a series of the same Event instead of another one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .._json import Obj, part
from .._times import micro_timestamp
from .api_client.api_errors import AlreadyExists, ApiError, NotFound
from .api_client.client import Client
from .api_client.rights import CLUSTER, Right
from .api_objects.kinds import Kind
from .api_objects.labels import DOMAIN

EVENT = Kind("events.k8s.io", "v1", "Event", "events", namespaced=True)
# Where the API server wants Events on objects that are in no namespace.
NAMESPACE = "default"
WORKERS = 8

# The API's own limits, in characters, but for the name's, which leaves room for the digest.
_LONGEST_NOTE = 1024
_LONGEST_INSTANCE = 128
_LONGEST_NAME = 230

# What saying something about an object needs.
RIGHTS = (Right(EVENT.group, (EVENT.plural,), ("get", "create", "patch"), CLUSTER),)


@dataclass(frozen=True)
class Occurrence:
    """Something to say on an object.

    regarding: its apiVersion, kind, name, uid and, if it has one, namespace. reason, action: one
    word each, UpperCamelCase. same: what makes two occurrences with one reason on one object the
    same, so that the second only counts.
    """

    regarding: Mapping[str, str]
    reason: str
    note: str
    same: str = ""
    warning: bool = False
    action: str = "Validate"


def write(
    client: Client, occurrences: Sequence[Occurrence], now: float, instance: str
) -> ApiError | None:
    """Create an Event for each, or count it; several at a time. now: seconds since the epoch.
    instance: who reports.

    Returns the first error, since nothing depends on Events: their reader is a person.
    """
    moment = micro_timestamp(now)

    def call(occurrence: Occurrence) -> Callable[[], None]:
        return lambda: _write(client, make_event(occurrence, moment, instance), moment)

    answers = client.parallel([call(occurrence) for occurrence in occurrences], workers=WORKERS)
    return next((answer for answer in answers if isinstance(answer, ApiError)), None)


def unsaid(client: Client, occurrences: Sequence[Occurrence]) -> list[Occurrence]:
    """Those that the cluster has no Event of (any more)."""

    def call(occurrence: Occurrence) -> Callable[[], bool]:
        metadata = make_event(occurrence, "", "")["metadata"]
        return lambda: client.get(EVENT, metadata["name"], metadata["namespace"]) is None

    found = client.parallel([call(occurrence) for occurrence in occurrences], workers=WORKERS)
    return [each for each, missing in zip(occurrences, found, strict=True) if missing is True]


def make_event(occurrence: Occurrence, moment: str, instance: str) -> Obj:
    """The Event of an occurrence that is the first of its kind. moment: as the API writes a
    MicroTime."""
    regarding = occurrence.regarding
    text = "|".join((regarding["uid"], occurrence.reason, occurrence.same))
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return {
        "apiVersion": EVENT.api_version,
        "kind": EVENT.kind,
        "metadata": {
            "name": f"{regarding['name'][:_LONGEST_NAME]}.{digest}",
            "namespace": regarding.get("namespace", NAMESPACE),
        },
        "eventTime": moment,
        "reportingController": DOMAIN,
        "reportingInstance": (instance or DOMAIN)[:_LONGEST_INSTANCE],
        "action": occurrence.action,
        "reason": occurrence.reason,
        "regarding": dict(regarding),
        "note": occurrence.note[:_LONGEST_NOTE],
        "type": "Warning" if occurrence.warning else "Normal",
    }


def _write(client: Client, event: Obj, moment: str) -> None:
    try:
        client.create(event)
        return
    except AlreadyExists:
        pass
    name, namespace = event["metadata"]["name"], event["metadata"]["namespace"]
    live = client.get(EVENT, name, namespace)
    times = int(part(live or {}, "series").get("count") or 1)
    try:
        client.patch(
            EVENT, name, namespace, {"series": {"count": times + 1, "lastObservedTime": moment}}
        )
    except NotFound:
        # It expired between the two requests.
        client.create(event)
