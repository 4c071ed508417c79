# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods that a DaemonSet keeps when it is taken over: they get the labels by which ours are found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from ..._cluster.api_client.api_errors import ApiError
from ..._cluster.api_client.client import Client
from ..._cluster.api_objects.changes import Change
from ..._cluster.api_objects.controller_references import is_made_by
from ..._cluster.api_objects.labels import OWNERSHIP
from ..._cluster.api_objects.objects import updates_on_delete
from ..._json import Obj, part
from ..._nodes.selectors import label_selector

WORKERS = 8


def label_pods(client: Client, changes: Iterable[Change], guard: Callable[[], None]) -> None:
    """Label the pods of DaemonSets that are about to be taken over, so that ours keep them and none
    is replaced.

    This comes before the DaemonSets change: a run that is killed in between finds them still to be
    adopted.
    """
    kind = client.kind("v1", "Pod")
    for change in changes:
        labels = _labels(change)
        if not labels:
            continue
        daemonset = change.before or {}
        chosen = label_selector(part(daemonset["spec"]["selector"], "matchLabels"))
        pods = client.list(
            kind, namespace=change.key.namespace, labels=chosen, metadata_only=True
        ).items
        own = [pod for pod in pods if is_made_by(pod, daemonset)]
        put_labels(client, ((pod, labels) for pod in own), guard)


def put_labels(
    client: Client,
    pods: Iterable[tuple[Obj, Mapping[str, str]]],
    guard: Callable[[], None] = lambda: None,
) -> None:
    """Give each of these pods its labels where it lacks any, and no other pod of its name. Raises
    the first ApiError after all have been asked for."""
    kind = client.kind("v1", "Pod")

    def put(metadata: Obj, labels: Mapping[str, str]) -> None:
        # The whole pod comes back; a thousand of them would be more than all else in memory.
        body = {"metadata": {"uid": metadata["uid"], "labels": dict(labels)}}
        client.patch(kind, metadata["name"], metadata["namespace"], body)

    calls = [
        partial(put, pod["metadata"], labels)
        for pod, labels in pods
        if not labels.items() <= part(pod["metadata"], "labels").items()
    ]
    if calls:
        guard()
    for answer in client.parallel(calls, workers=WORKERS):
        if isinstance(answer, ApiError):
            raise answer


def _labels(change: Change) -> Obj:
    """Our labels of the pods that it will make; none where it is not such a DaemonSet."""
    after = change.after or {}
    if not (change.adopted and change.key.kind == "DaemonSet" and updates_on_delete(after)):
        return {}
    labels = part(after["spec"]["template"]["metadata"], "labels")
    return {name: value for name, value in labels.items() if name in OWNERSHIP}
