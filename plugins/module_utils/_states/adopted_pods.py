# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods that a DaemonSet keeps when it is taken over: they get the labels by which ours are found."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .._cluster.changes import Change
from .._cluster.client import Client
from .._cluster.labels import OWNERSHIP
from .._cluster.objects import updates_on_delete
from .._json import Obj
from .._nodes.selectors import label_selector


def label_pods(client: Client, changes: Iterable[Change], guard: Callable[[], None]) -> None:
    """Label the pods of DaemonSets that are about to be taken over, and replace none of their pods.

    Before the DaemonSet itself: a run that was killed in between finds it to be adopted still.
    """
    pods = client.kind("v1", "Pod")
    for change in changes:
        labels = _labels(change)
        if not labels:
            continue
        chosen = label_selector((change.before or {})["spec"]["selector"].get("matchLabels") or {})
        for pod in client.list(pods, namespace=change.key.namespace, labels=chosen).items:
            if labels.items() <= (pod["metadata"].get("labels") or {}).items():
                continue
            guard()
            body = {"metadata": {"labels": labels}}
            client.patch(pods, pod["metadata"]["name"], change.key.namespace, body)


def _labels(change: Change) -> Obj:
    """Our labels of the pods that it will make; none where it is not such a DaemonSet."""
    after = change.after or {}
    if not (change.adopted and change.key.kind == "DaemonSet" and updates_on_delete(after)):
        return {}
    labels = after["spec"]["template"]["metadata"].get("labels") or {}
    return {name: value for name, value in labels.items() if name in OWNERSHIP}
