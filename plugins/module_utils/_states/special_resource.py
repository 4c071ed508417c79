# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cores of special_resource and special_resource_info: the cluster's own record of what is
enabled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Literal, Optional

from .._cluster.api_client.client import Client, connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._cluster.api_client.rights import CLUSTER, Right
from .._cluster.api_objects.changes import Change
from .._cluster.api_objects.labels import BUILD_LABEL, PART_OF_LABEL, RECIPE_LABEL, VALIDATION_LABEL
from .._cluster.api_objects.objects import ObjectKey, key_of
from .._cluster.executing import execute
from .._cluster.removal import delete_and_wait
from .._errors import EnablementError, InvalidInput
from .._json import Obj, part
from .._runs.context import RunContext
from .._runs.guard import Guard
from .._runs.task import Task
from .._runs.wait_progress import WaitProgress
from .cleanup.prune import DEFINITION
from .cleanup.removal_report import KeepReason, brought_definitions, find_kept, report_removal
from .on_nodes.leftovers import clear_marks, find_marked
from .preparation.prepare import Prepared, prepare
from .preparation.recipe_request import RecipeRequest
from .priority_classes import owned_classes
from .record import adopted, record_spec, record_store
from .record.crd import API_VERSION, KIND, NAME, RECORD
from .record_writer import write_report

_OF_RUNS = (
    ("batch/v1", "Job", BUILD_LABEL),
    ("build.openshift.io/v1", "BuildConfig", BUILD_LABEL),
    ("v1", "ConfigMap", BUILD_LABEL),
    ("v1", "Pod", VALIDATION_LABEL),
)


# What builds have left, in whatever namespace, when a resource is removed.
RIGHTS = (
    Right("batch", ("jobs",), ("list",), CLUSTER),
    Right("build.openshift.io", ("buildconfigs",), ("list",), CLUSTER),
    Right("", ("configmaps",), ("list",), CLUSTER),
)


@dataclass(frozen=True, kw_only=True)
class SpecialResourceRequest:
    """report: the result of state_validate that the record is to tell. delete_crd,
    delete_definitions: remove also the record's CRD, and those that the recipe brought.
    wait_timeout: seconds until removed objects have to be gone."""

    connection: ConnectionRequest
    given: RecipeRequest
    run_id: Optional[str] = None
    state: Literal["present", "absent"] = "present"
    report: Optional[Mapping[str, Any]] = None
    delete_crd: bool = False
    delete_definitions: bool = False
    wait_timeout: int = 300


@dataclass(frozen=True)
class SpecialResourceInfoRequest:
    """name: of one record; None for all."""

    connection: ConnectionRequest
    name: Optional[str] = None


def run(request: SpecialResourceRequest, context: RunContext) -> Obj:
    """special_resource: write the record from a validation report, or remove it and what is left of
    the resource."""
    client = connect(request.connection)
    present = request.state == "present"
    prepared = prepare(request.given, context, client, complete=present)
    if not present:
        return _remove(client, prepared, request, context)
    report = request.report
    if not report or "states" not in report:
        raise InvalidInput(
            "the record cannot be written",
            why="report is not a result of state_validate",
            todo="register one and pass it",
        )
    return write_report(client, prepared, prepared.record, report, context)


@dataclass(frozen=True)
class ResourceRemoval:
    """What is left of a special resource once its states are gone.

    marked: the nodes that carry its marks. restored: what becomes again what it was before. stages:
    what is deleted, one after another. kept: what stays, and why.
    """

    marked: Sequence[Obj]
    restored: Sequence[Change]
    stages: Sequence[Sequence[ObjectKey]]
    kept: Sequence[KeepReason]

    @property
    def going(self) -> list[ObjectKey]:
        """All that is deleted."""
        return [key for keys in self.stages for key in keys]

    @property
    def given_back(self) -> list[ObjectKey]:
        """All that becomes again what it was."""
        return [change.key for change in self.restored]


def _remove(
    client: Client, prepared: Prepared, request: SpecialResourceRequest, context: RunContext
) -> Obj:
    """Labels and annotations off the nodes, what was taken over given back, what is left of runs
    and the namespaces that enabling made, then the record, and the CRD on request."""
    name, write = prepared.recipe.name, not context.check_mode
    removal = _plan_removal(client, prepared, request)
    guard = Guard(client, name, context)
    nodes = sorted(clear_marks(client, name, removal.marked, guard.before_write, write=write))
    if write:
        execute(client, removal.restored, guard=guard.before_write)
        timeout_s, say = float(request.wait_timeout), WaitProgress(context)
        for keys in filter(None, removal.stages):
            delete_and_wait(client, keys, timeout=timeout_s, guard=guard.before_write, say=say)
    lines = report_removal(
        removal.going,
        removal.given_back,
        nodes,
        removal.kept,
        would=not write,
        named=context.verbosity > 0,
    )
    return {
        "changed": bool(lines),
        "removed": [*(f"marks of node {node}" for node in nodes), *map(str, removal.going)],
        "restored": [str(key) for key in removal.given_back],
        "kept": [
            {"object": str(entry.key), "reason": entry.reason, "todo": entry.todo}
            for entry in removal.kept
        ],
        **(context.tell("\n".join(lines)) if lines else {}),
    }


def _plan_removal(
    client: Client, prepared: Prepared, request: SpecialResourceRequest
) -> ResourceRemoval:
    """Find all that is left."""
    name = prepared.recipe.name
    served = client.serves(API_VERSION, KIND)
    record = record_store.read(client, name) if served else None
    restored = _taken_over(client, prepared, record)
    marked = find_marked(client, name)
    brought: list[ObjectKey] = []
    if request.delete_definitions:
        brought = _brought(client, prepared, record, {change.key for change in restored})
    stages = _stages(client, prepared, record, marked, brought)
    if request.delete_crd and served:
        _refuse_while_others_exist(client, name)
        stages.append([ObjectKey(*DEFINITION, "", NAME)])
    found = ResourceRemoval(marked, restored, stages, ())
    if not (found.going or restored or marked):
        return found
    kept = find_kept(client, prepared, record, {*found.going, *found.given_back})
    return replace(found, kept=kept)


def _stages(
    client: Client,
    prepared: Prepared,
    record: Obj | None,
    marked: Sequence[Obj],
    brought: list[ObjectKey],
) -> list[list[ObjectKey]]:
    """What is deleted, one after another; brought: the CRDs among it.

    The record goes last: what a run that is killed on the way leaves to do, the next one knows from
    it alone.
    """
    left = _left_by_runs(client, prepared) + _left_by_pods(client, prepared, marked)
    left += owned_classes(client, prepared.applyset_id)
    stages = [left + _made_namespaces(client, prepared, record), brought]
    if record is not None:
        stages.append([ObjectKey(API_VERSION, KIND, "", prepared.recipe.name)])
    return stages


def _brought(
    client: Client, prepared: Prepared, record: Obj | None, given_back: Set[ObjectKey]
) -> list[ObjectKey]:
    """The CRDs that the recipe brought, but for those that were there before."""
    found = [key_of(live) for live in brought_definitions(client, prepared, record)]
    return [key for key in found if key not in given_back]


def _left_by_pods(client: Client, prepared: Prepared, nodes: Sequence[Obj]) -> list[ObjectKey]:
    """The objects that the recipe's pods made of its nodes."""
    names = {node["metadata"]["name"] for node in nodes}
    return [
        ObjectKey(made.api_version, made.kind, "", live["metadata"]["name"])
        for made in prepared.recipe.node_objects
        if client.serves(made.api_version, made.kind)
        for live in client.list(client.kind(made.api_version, made.kind), metadata_only=True).items
        if live["metadata"]["name"] in names
    ]


def _taken_over(client: Client, prepared: Prepared, record: Obj | None) -> list[Change]:
    """What was there before us and carries our labels still: namespaces and CRDs, which states do
    not remove."""
    taken_over, found = adopted.read(record), []
    for key in taken_over:
        live = client.get(client.kind(key.api_version, key.kind), key.name, key.namespace or None)
        if live is not None and _is_ours(live, prepared):
            found.append(adopted.removal(key, live, taken_over))
    return found


def _made_namespaces(client: Client, prepared: Prepared, record: Obj | None) -> list[ObjectKey]:
    """The namespaces that enabling made, unless somebody has made one of that name anew."""
    kind = client.kind("v1", "Namespace")
    found = {name: client.get(kind, name) for name in record_spec.made_namespaces(record)}
    return [
        ObjectKey("v1", "Namespace", "", name)
        for name, live in found.items()
        if live and _is_ours(live, prepared)
    ]


def _is_ours(live: Obj, prepared: Prepared) -> bool:
    return part(live["metadata"], "labels").get(PART_OF_LABEL) == prepared.applyset_id


def _left_by_runs(client: Client, prepared: Prepared) -> list[ObjectKey]:
    """What runs leave behind in namespaces that stay: a failed Job, kept for its log, or a
    validation pod."""
    return [
        ObjectKey(api_version, kind, item["metadata"]["namespace"], item["metadata"]["name"])
        for api_version, kind, label in _OF_RUNS
        if client.serves(api_version, kind)
        for item in client.list(
            client.kind(api_version, kind), labels=f"{RECIPE_LABEL}={prepared.recipe.name},{label}"
        ).items
    ]


def _refuse_while_others_exist(client: Client, name: str) -> None:
    others = sorted({record["metadata"]["name"] for record in client.list(RECORD).items} - {name})
    if others:
        raise EnablementError(
            "the CRD of SpecialResource is not removed",
            why=f"{', '.join(others)} are enabled too",
            todo="disable them first, or leave delete_crd out",
        )


def info(request: SpecialResourceInfoRequest, _context: RunContext) -> Obj:
    """special_resource_info: the records, by name, as the API server has them without its own
    bookkeeping."""
    client = connect(request.connection)
    record = record_store.read(client, request.name) if request.name else None
    records = [record] if record else []
    if not record and client.serves(API_VERSION, KIND):
        everything = client.list(RECORD).items
        records = _found_as(everything, request.name) if request.name else everything
    return {
        "changed": False,
        "resources": [
            {
                "name": record["metadata"]["name"],
                "spec": part(record, "spec"),
                "status": part(record, "status"),
                "created": record["metadata"].get("creationTimestamp"),
            }
            for record in records
        ],
    }


def _found_as(records: Sequence[Obj], name: str) -> list[Obj]:
    """The records of a chart whose folder is called so, and not as the chart is."""
    return [record for record in records if part(record, "spec").get("foundAs") == name]


TASK = Task(SpecialResourceRequest, run)
INFO_TASK = Task(SpecialResourceInfoRequest, info)
