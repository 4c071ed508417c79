# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of sro_release: the operator ended, and what a run has taken over out of its hands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Optional

from .._cluster.api_client.client import Client, connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._cluster.api_objects.kinds import Kind
from .._cluster.api_objects.labels import APPLYSET_ID_LABEL, PART_OF_LABEL
from .._cluster.api_objects.objects import ObjectKey, key_of
from .._cluster.removal import wait_until_gone
from .._errors import EnablementError
from .._json import Obj, part
from .._nodes.selectors import label_selector
from .._runs.context import RunContext
from .._runs.guard import Guard
from .._runs.task import Task
from .._runs.wait_progress import WaitProgress
from .._states.record import adopted, record_spec, record_store
from .._states.record.crd import RECORD
from .sro_marks import node_patch, object_patch, resource_patch
from .sro_resource import KINDS

# Of OpenShift's, and of the community's releases.
OPERATORS = ("special-resource-controller-manager", "special-resource-operator")
_NODES = Kind("", "v1", "Node", "nodes", namespaced=False)


@dataclass(frozen=True)
class SroReleaseRequest:
    """What sro_release is to do for the recipe of that name. end_operator: whether it may be scaled to
    0; wait_timeout: for its pods to go, in seconds."""

    connection: ConnectionRequest
    run_id: Optional[str]
    name: str
    state: Literal["ended", "released"]
    end_operator: bool
    wait_timeout: int


def run(request: SroReleaseRequest, context: RunContext) -> Obj:
    """sro_release: end the operator, or refuse while it runs; or let go what the record of a recipe
    says is ours."""
    client = connect(request.connection)
    if request.state == "ended":
        return _end(client, request, context)
    return _release(client, request.name, context)


def _end(client: Client, request: SroReleaseRequest, context: RunContext) -> Obj:
    """Scale the operator to 0 and wait for its pods to be gone; refuse where that is not allowed."""
    name, running = request.name, _running_operators(client)
    found = {"changed": bool(running), "adopt": bool(_resources(client, name)), "released": []}
    if not running:
        return found
    names = ", ".join(str(key_of(each)) for each in running)
    if not request.end_operator:
        raise EnablementError(
            "The Special Resource Operator runs in this cluster",
            where=names,
            why="it would undo what is taken over",
            todo="run with -e hardware_enablement_end_operator=true, which scales it to 0, or remove it",
        )
    if context.check_mode:
        return {**found, **context.tell(f"would scale {names} to 0")}
    guard = Guard(client, name, context)
    guard.before_write()
    for each in running:
        client.patch(_deployments(client), *_place(each), {"spec": {"replicas": 0}})
    read = partial(_pods_of, client, running)
    wait_until_gone(client, read, request.wait_timeout, say=WaitProgress(context))
    return {**found, **context.tell(f"scaled {names} to 0")}


def _deployments(client: Client) -> Kind:
    return client.kind("apps/v1", "Deployment")


def _running_operators(client: Client) -> list[Obj]:
    """The operator's Deployments that are not scaled to 0."""
    return [
        each
        for operator in OPERATORS
        for each in client.list(_deployments(client), fields=f"metadata.name={operator}").items
        if part(each, "spec").get("replicas") != 0
    ]


def _pods_of(client: Client, deployments: Sequence[Obj]) -> list[Obj]:
    """The pods that Deployments select."""
    return [
        pod
        for each in deployments
        for pod in client.list(
            client.kind("v1", "Pod"),
            namespace=each["metadata"]["namespace"],
            labels=label_selector(part(each, "spec", "selector", "matchLabels")),
        ).items
    ]


def _place(obj: Mapping[str, Any]) -> tuple[str, str | None]:
    return obj["metadata"]["name"], obj["metadata"].get("namespace")


def _resources(client: Client, name: str) -> list[Obj]:
    """The custom resources of that name, in whatever namespace."""
    return [
        live
        for api_version, kind in KINDS
        if client.serves(api_version, kind)
        for live in client.list(
            client.kind(api_version, kind), fields=f"metadata.name={name}"
        ).items
    ]


def _release(client: Client, name: str, context: RunContext) -> Obj:
    """Objects first, then nodes, then the custom resource: until that is let go, a run that was
    killed is found by it."""
    record = record_store.read(client, name)
    found = [
        *_patches(_owned(client, record), object_patch),
        *_patches(
            client.list(_NODES, metadata_only=True).items, lambda live: node_patch(live, name)
        ),
        *_patches(_resources(client, name), resource_patch),
    ]
    if found and not context.check_mode:
        guard = Guard(client, name, context)
        guard.before_write()
        _keep(client, record, {key for key, _patch in found})
        for key, patch in found:
            kind = client.kind(key.api_version, key.kind)
            client.patch(kind, key.name, key.namespace or None, patch)
    names = [str(key) for key, _patch in found]
    result: Obj = {"changed": bool(found), "adopt": False, "released": names}
    if found:
        verb = "would take" if context.check_mode else "took"
        result |= context.tell(
            "\n".join(
                [
                    f"{verb} out of the hands of the Special Resource Operator:",
                    *(f"  {each}" for each in names),
                ]
            )
        )
    return result


def _keep(client: Client, record: Obj | None, released: set[ObjectKey]) -> None:
    """Nobody is left to whom these objects could be given back: disable removes them."""
    remembered = adopted.read(record)
    left = {key: patch for key, patch in remembered.items() if key not in released}
    if record is not None and left != remembered:
        annotations = {adopted.ANNOTATION: adopted.to_text(left)}
        name = record["metadata"]["name"]
        client.patch(RECORD, name, None, {"metadata": {"annotations": annotations}})


def _patches(objects: list[Obj], patch: Callable[[Obj], Obj | None]) -> list[tuple[ObjectKey, Obj]]:
    return [(key_of(live), found) for live in objects if (found := patch(live)) is not None]


def _owned(client: Client, record: Mapping[str, Any] | None) -> list[Obj]:
    """The objects that are the recipe's by now, and its namespaces, which the operator owned even
    where we do not."""
    applyset = part(record or {}, "metadata").get("labels", {}).get(APPLYSET_ID_LABEL)
    kinds = {kind for found in record_spec.state_kinds(record).values() for kind in found}
    found = []
    for name in sorted(kinds - {"v1/Namespace"}):
        api_version, _slash, kind = name.rpartition("/")
        if client.serves(api_version, kind):
            ours = f"{PART_OF_LABEL}={applyset}"
            found += client.list(client.kind(api_version, kind), labels=ours).items
    namespace = client.kind("v1", "Namespace")
    spaces = [client.get(namespace, space) for space in record_spec.namespaces(record)]
    return [*found, *filter(None, spaces)]


TASK = Task(SroReleaseRequest, run)
