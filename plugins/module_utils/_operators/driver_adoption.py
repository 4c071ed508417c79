# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a driver over without a restart: its pods get the labels by which our DaemonSet finds its own,
lose the DaemonSet that they had, and become ours when we make ours.

A DaemonSet's controller adopts what its selector matches and nobody owns. A pod that it has not made
counts as of its newest version where pod-template-generation says so; both begin with 1, so that label
is changed, too: the pods wait for a restart, which is upgrade's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from .._cluster.api_client.client import Client
from .._cluster.api_objects.controller_references import controller_of
from .._cluster.api_objects.kinds import Kind
from .._cluster.api_objects.labels import TAKEN_OVER_LABEL
from .._cluster.api_objects.objects import key_of, updates_on_delete
from .._cluster.removal import wait_until_gone
from .._json import Obj
from .._states.desired import Desired
from .._states.on_nodes.adopted_pods import put_labels

_GENERATION = "pod-template-generation"
_OF_NOBODY = "0"
# How long what was deleted, or scaled to nothing, may take to go.
PATIENCE_S = 120.0


def labels_on(desired: Desired) -> dict[str, dict[str, str]]:
    """Node -> the labels of the pod that our driver's DaemonSet has there; nodes without one are left
    out."""
    templates = {
        key_of(item.manifest): item.manifest["spec"]["template"]["metadata"]["labels"]
        for state in desired.rendered.values()
        for item in state.objects
        if item.manifest["kind"] == "DaemonSet" and updates_on_delete(item.manifest)
    }
    return {
        node: dict(templates[key])
        for node, group in desired.discovery.group_of.items()
        for plan in desired.plans
        for key in plan.daemonsets_for(group)
        if key in templates
    }


def adopt_pods(
    client: Client, pods: Mapping[str, Obj], labels: Mapping[str, Mapping[str, str]]
) -> None:
    """Give drivers' pods (by node) the labels of ours. Raises EnablementError."""
    changed = [
        (pod, {**labels[node], _GENERATION: _OF_NOBODY})
        for node, pod in pods.items()
        if node in labels
    ]
    put_labels(client, changed)


def mark_operands(client: Client, pods: Sequence[Obj], recipe: str) -> None:
    """Mark pods that go when it is their node's turn, and whose DaemonSet goes before."""
    put_labels(client, ((pod, {TAKEN_OVER_LABEL: recipe}) for pod in pods))


def orphan(client: Client, daemonset: Obj, say: Callable[[str], None]) -> None:
    """Delete a DaemonSet and leave its pods; the versions that it kept go with it. say: gets what is
    waited for, and why."""
    key = key_of({**daemonset, "apiVersion": "apps/v1", "kind": "DaemonSet"})
    kind = client.kind("apps/v1", "DaemonSet")
    revisions = client.kind("apps/v1", "ControllerRevision")
    uid = str(daemonset["metadata"]["uid"])
    kept = [
        each
        for each in client.list(revisions, namespace=key.namespace).items
        if controller_of(each).get("uid") == uid
    ]
    client.delete(kind, key.name, key.namespace, uid=uid, propagation="Orphan")
    wait_until_gone(
        client, partial(still_there, client, kind, daemonset["metadata"]), PATIENCE_S, say=say
    )
    for each in kept:
        client.delete(
            revisions, each["metadata"]["name"], key.namespace, uid=each["metadata"]["uid"]
        )


def still_there(client: Client, kind: Kind, metadata: Mapping[str, Any]) -> list[Obj]:
    """An object as it is now, by its name, namespace and uid; nothing where it is gone."""
    live = client.get(kind, metadata["name"], metadata.get("namespace"))
    return [live] if live is not None and live["metadata"]["uid"] == metadata["uid"] else []
