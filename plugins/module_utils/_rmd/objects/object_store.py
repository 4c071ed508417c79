# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API server's side: read what is declared, write what was found. One list for each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._cluster.api_errors import AlreadyExists, ApiError, Conflict, Invalid, NotFound
from ..._cluster.client import Client
from ..._cluster.kinds import Kind
from ..._json import Obj
from .operator_names import CONFIG, CONFIG_NAME, FINALIZER, HOME_NAMESPACE, NODE_STATE, WORKLOAD
from .workload_spec import Name

NODE = Kind("", "v1", "Node", "nodes", namespaced=False)
WORKERS = 8
_ATTEMPTS = 4


@dataclass(frozen=True)
class RmdObjects:
    """The cluster's objects: RmdWorkloads; nodes and node states by node; the RmdConfig, {} for
    none."""

    workloads: list[Obj]
    nodes: Mapping[str, Obj]
    node_states: Mapping[str, Obj]
    config: Obj

    @property
    def selector(self) -> Mapping[str, str]:
        """The RmdConfig's labels of nodes."""
        found: Mapping[str, str] = (self.config.get("spec") or {}).get("rmdNodeSelector") or {}
        return found

    def labels(self) -> dict[str, dict[str, str]]:
        """The labels of all nodes, by name."""
        return {name: node["metadata"].get("labels") or {} for name, node in self.nodes.items()}


def observe(client: Client) -> RmdObjects:
    """Read everything; kinds that are not there yet have no objects."""
    states = _list(client, NODE_STATE, HOME_NAMESPACE)
    return RmdObjects(
        workloads=_list(client, WORKLOAD, None),
        nodes={node["metadata"]["name"]: node for node in client.list(NODE).items},
        node_states={(state.get("spec") or {}).get("node", ""): state for state in states},
        config=client.get(CONFIG, CONFIG_NAME, HOME_NAMESPACE) or {},
    )


def add_finalizers(client: Client, objects: Sequence[Obj]) -> set[Name]:
    """Put our finalizer on objects; returns those that have it then, without what was deleted or
    changed meanwhile."""
    return _set_finalizers(client, objects, lambda held: [*held, FINALIZER])


def remove_finalizers(client: Client, objects: Sequence[Obj]) -> set[Name]:
    """Take our finalizer off objects, which lets those go that were deleted; returns those that are
    without it."""
    return _set_finalizers(
        client, objects, lambda held: [name for name in held if name != FINALIZER]
    )


def write_statuses(client: Client, kind: Kind, statuses: Sequence[tuple[Obj, Obj]]) -> None:
    """Replace the status of objects of a kind; one that went meanwhile needs none."""

    def call(obj: Obj, status: Obj) -> Callable[[], Any]:
        metadata = obj["metadata"]
        body = [{"op": "add", "path": "/status", "value": status}]
        return lambda: client.patch(
            kind, metadata["name"], metadata["namespace"], body, subresource="status"
        )

    _all(client, [call(obj, status) for obj, status in statuses])


def create_node_states(client: Client, skeletons: Sequence[Obj]) -> dict[str, Obj]:
    """Create RmdNodeStates; returns them by their node."""

    def call(obj: Obj) -> Callable[[], Obj]:
        def create() -> Obj:
            try:
                return client.create(obj)
            except AlreadyExists:
                # Another run was faster.
                metadata = obj["metadata"]
                return client.get(NODE_STATE, metadata["name"], metadata["namespace"]) or obj

        return create

    return {
        state["spec"]["node"]: state for state in _all(client, [call(obj) for obj in skeletons])
    }


def annotate(
    client: Client, kind: Kind, annotations: Sequence[tuple[Obj, Mapping[str, str | None]]]
) -> None:
    """Merge annotations into objects of a kind; None removes one."""

    def call(obj: Obj, wanted: Mapping[str, str | None]) -> Callable[[], Any]:
        metadata = obj["metadata"]
        body = {"metadata": {"annotations": dict(wanted)}}
        return lambda: client.patch(kind, metadata["name"], metadata.get("namespace"), body)

    _all(client, [call(obj, wanted) for obj, wanted in annotations])


def patch_node_statuses(client: Client, patches: Mapping[str, Obj]) -> None:
    """One merge patch of the status of each node."""

    def call(name: str, body: Obj) -> Callable[[], Any]:
        return lambda: client.patch(NODE, name, None, body, subresource="status")

    _all(client, [call(name, body) for name, body in patches.items()])


def name_of(obj: Mapping[str, Any]) -> Name:
    """The name of an RmdWorkload."""
    return Name(obj["metadata"]["namespace"], obj["metadata"]["name"])


def _list(client: Client, kind: Kind, namespace: str | None) -> list[Obj]:
    try:
        return client.list(kind, namespace=namespace).items
    except NotFound:
        return []


def _set_finalizers(
    client: Client, objects: Sequence[Obj], wanted: Callable[[list[str]], list[str]]
) -> set[Name]:
    def call(obj: Obj) -> Callable[[], Name | None]:
        return lambda: _set_finalizer(client, obj, wanted)

    return {name for name in _all(client, [call(obj) for obj in objects]) if name is not None}


def _set_finalizer(
    client: Client, obj: Obj, wanted: Callable[[list[str]], list[str]]
) -> Name | None:
    metadata, first = obj["metadata"], _edition(obj)
    for _attempt in range(_ATTEMPTS):
        # The version guards finalizers of others, since a list is replaced as a whole.
        finalizers = wanted(list(metadata.get("finalizers") or []))
        body = {
            "metadata": {"finalizers": finalizers, "resourceVersion": metadata["resourceVersion"]}
        }
        try:
            client.patch(WORKLOAD, metadata["name"], metadata["namespace"], body)
            return name_of(obj)
        except (Conflict, Invalid) as error:
            # Somebody else has written, or has deleted it: then the API server takes no new
            # finalizer.
            found = client.get(WORKLOAD, metadata["name"], metadata["namespace"])
            if found is None or _edition(found) != first:
                return None
            if isinstance(error, Invalid):
                raise
            metadata = found["metadata"]
    return None


def _edition(obj: Mapping[str, Any]) -> tuple[Any, ...]:
    """What tells that an object is still the one that was looked at, and asks for the same."""
    metadata = obj["metadata"]
    return metadata["uid"], metadata.get("generation"), "deletionTimestamp" in metadata


def _all(client: Client, calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """The answers; what is not there any more has none. Raises the first other error after all were
    sent."""
    answers = client.parallel(calls, workers=WORKERS)
    for answer in answers:
        if isinstance(answer, ApiError) and not isinstance(answer, NotFound):
            raise answer
    return [answer for answer in answers if not isinstance(answer, ApiError)]
