# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove what is left of a special resource once its states are gone: its marks, what its runs have
made, the namespaces and CRDs that it brought unless others have something there, its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from .._cluster.api_client.api_errors import Forbidden
from .._cluster.api_client.client import Client
from .._cluster.api_client.rights import CLUSTER, Right
from .._cluster.api_objects.changes import Change
from .._cluster.api_objects.labels import (
    BUILD_LABEL,
    KEPT_ANNOTATION,
    LOCK_NAMESPACE,
    PART_OF_LABEL,
    RECIPE_LABEL,
    VALIDATION_LABEL,
)
from .._cluster.api_objects.objects import ObjectKey, key_of
from .._cluster.batch import annotate
from .._cluster.executing import execute
from .._cluster.removal import delete_and_wait
from .._errors import EnablementError
from .._json import Obj, part
from .._runs.context import RunContext
from .._runs.guard import Guard
from .._runs.wait_progress import WaitProgress
from .._schema.requests import ParameterGroup
from .cleanup.foreign_objects import (
    ForeignObjects,
    RemovalScope,
    foreign_in_namespaces,
    foreign_of_definition,
)
from .cleanup.ownership import was_kept
from .cleanup.prune import DEFINITION
from .cleanup.removal_report import KeepReason, brought_definitions, find_kept, report_removal
from .on_nodes.leftovers import clear_marks, find_marked
from .preparation.prepare import Prepared
from .priority_classes import owned_classes
from .record import adopted, record_spec
from .record.crd import API_VERSION, KIND, NAME, RECORD

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


@dataclass(frozen=True)
class ResourceRemovalRequest(ParameterGroup):
    """delete_crd, delete_definitions: remove also the record's CRD, and those that the recipe brought.
    delete_others: remove namespaces and CRDs also where what others have made goes with them.
    wait_timeout: seconds until removed objects have to be gone."""

    delete_crd: bool = False
    delete_definitions: bool = False
    delete_others: bool = False
    wait_timeout: int = 300


@dataclass(frozen=True)
class ResourceRemoval:
    """What is left of a special resource once its states are gone.

    marked: the nodes that carry its marks. restored: what becomes again what it was before. left:
    what runs and pods have made, which goes first. namespaces, definitions: those that enabling made
    and brought, which take along what is in them and of their kinds. last: the record, and on request
    its CRD.
    """

    marked: Sequence[Obj]
    restored: Sequence[Change]
    left: Sequence[ObjectKey]
    namespaces: Sequence[Obj]
    definitions: Sequence[Obj]
    last: Sequence[ObjectKey]

    @property
    def given_back(self) -> list[ObjectKey]:
        """All that becomes again what it was."""
        return [change.key for change in self.restored]

    def stages(self, held: Mapping[ObjectKey, ForeignObjects]) -> list[list[ObjectKey]]:
        """What is deleted once what runs have left is gone, one after another, without what is
        held."""
        parts = (self.namespaces, self.definitions)
        stages = [[key for key in map(key_of, part) if key not in held] for part in parts]
        return [*stages, *([key] for key in self.last)]

    @property
    def uids(self) -> dict[ObjectKey, str]:
        """Of what takes other objects along: what was looked into is what goes."""
        found = (*self.namespaces, *self.definitions)
        return {key_of(live): live["metadata"]["uid"] for live in found}


@dataclass(frozen=True)
class RemovalOutcome:
    """What a removal has done, or would do. nodes: those whose marks go. lost: what others had made
    and goes too."""

    nodes: Sequence[str]
    going: Sequence[ObjectKey]
    given_back: Sequence[ObjectKey]
    kept: Sequence[KeepReason]
    lost: Sequence[ObjectKey]

    def to_result(self, context: RunContext) -> Obj:
        """The task's result; says what was removed, and what stays."""
        lines = report_removal(
            self.going,
            self.given_back,
            self.nodes,
            self.kept,
            self.lost,
            would=context.check_mode,
            named=context.verbosity > 0,
        )
        lines = lines or [str(entry) for entry in self.kept]
        return {
            "changed": bool(self.going or self.given_back or self.nodes),
            "removed": [*(f"marks of node {node}" for node in self.nodes), *map(str, self.going)],
            "restored": [str(key) for key in self.given_back],
            "kept": [
                {"object": str(entry.key), "reason": entry.reason, "todo": entry.todo}
                for entry in self.kept
            ],
            **(context.tell("\n".join(lines)) if lines else {}),
        }


def remove_resource(
    client: Client, prepared: Prepared, request: ResourceRemovalRequest, context: RunContext
) -> Obj:
    """Labels and annotations off the nodes, what was taken over given back, what is left of runs
    and the namespaces that enabling made, then the record, and the CRD on request."""
    name, write = prepared.recipe.name, not context.check_mode
    removal = _plan_removal(client, prepared, request)
    guard = Guard(client, name, context)
    nodes = sorted(clear_marks(client, name, removal.marked, guard.before_write, write=write))
    if write:
        execute(client, removal.restored, guard=guard.before_write)
        _delete(client, [removal.left], request, guard, context, {})
    # As late as can be: what comes after this goes along.
    found = _find_foreign(client, prepared, removal)
    held = {} if request.delete_others else found
    stages = removal.stages(held)
    going = [key for keys in (removal.left, *stages) for key in keys]
    lost = [key for place, foreign in found.items() for key in foreign.objects if place not in held]
    outcome = RemovalOutcome(
        nodes, going, removal.given_back, _kept(client, prepared, removal, going, held), lost
    )
    if write:
        _mark_kept(client, name, removal.namespaces, held, guard)
        _delete(client, stages, request, guard, context, removal.uids)
    return outcome.to_result(context)


def _plan_removal(
    client: Client, prepared: Prepared, request: ResourceRemovalRequest
) -> ResourceRemoval:
    """Find all that is left.

    The record goes last: what a run that is killed on the way leaves to do, the next one knows from
    it alone.
    """
    name, record = prepared.recipe.name, prepared.record
    restored = _taken_over(client, prepared, record)
    marked = find_marked(client, name)
    left = _left_by_runs(client, prepared) + _left_by_pods(client, prepared, marked)
    brought: list[Obj] = []
    if request.delete_definitions:
        brought = _brought(client, prepared, record, {change.key for change in restored})
    last = [] if record is None else [ObjectKey(API_VERSION, KIND, "", name)]
    if request.delete_crd and client.serves(API_VERSION, KIND):
        _refuse_while_others_exist(client, name)
        last.append(ObjectKey(*DEFINITION, "", NAME))
    return ResourceRemoval(
        marked,
        restored,
        [*left, *owned_classes(client, prepared.applyset_id)],
        _made_namespaces(client, prepared, record),
        brought,
        last,
    )


def _find_foreign(
    client: Client, prepared: Prepared, removal: ResourceRemoval
) -> dict[ObjectKey, ForeignObjects]:
    """What others have made and what would go with namespaces and definitions, where there is any."""
    scope = RemovalScope(
        prepared.recipe.name,
        prepared.applyset_id,
        going=frozenset(removal.left),
        given_back=frozenset(adopted.read(prepared.record)),
    )
    # One that is being deleted is lost already, and only waited for.
    standing = [
        key_of(live) for live in removal.namespaces if "deletionTimestamp" not in live["metadata"]
    ]
    by_name = foreign_in_namespaces(client, [key.name for key in standing], scope)
    found = {key: by_name[key.name] for key in standing}
    found |= {
        key_of(live): foreign_of_definition(client, live, scope) for live in removal.definitions
    }
    return {key: foreign for key, foreign in found.items() if foreign}


def _delete(
    client: Client,
    stages: Sequence[Sequence[ObjectKey]],
    request: ResourceRemovalRequest,
    guard: Guard,
    context: RunContext,
    uids: Mapping[ObjectKey, str],
) -> None:
    timeout_s, say = float(request.wait_timeout), WaitProgress(context)
    for keys in filter(None, stages):
        delete_and_wait(client, keys, timeout_s, guard=guard.before_write, say=say, uids=uids)


def _mark_kept(
    client: Client,
    name: str,
    namespaces: Sequence[Obj],
    held: Mapping[ObjectKey, ForeignObjects],
    guard: Guard,
) -> None:
    """Mark the namespaces that are held, so that the next run finds them again, to use or to remove
    them: nothing else remembers."""
    marks = [
        (live, {KEPT_ANNOTATION: name})
        for live in namespaces
        if key_of(live) in held and KEPT_ANNOTATION not in part(live, "metadata", "annotations")
    ]
    if marks:
        guard.before_write()
        annotate(client, client.kind("v1", "Namespace"), marks)


def _kept(
    client: Client,
    prepared: Prepared,
    removal: ResourceRemoval,
    going: Sequence[ObjectKey],
    held: Mapping[ObjectKey, ForeignObjects],
) -> list[KeepReason]:
    """What stays: first what others keep, then, where anything goes, the rest."""
    kept = [_kept_by_others(key, foreign) for key, foreign in held.items()]
    if going or removal.restored or removal.marked:
        rest = {*going, *removal.given_back, *held}
        kept += find_kept(client, prepared, prepared.record, rest)
    return kept


def _kept_by_others(key: ObjectKey, foreign: ForeignObjects) -> KeepReason:
    again = "-e hardware_enablement_delete_others=true"
    if key.kind != "Namespace":
        again = f"-e hardware_enablement_delete_definitions=true {again}"
    return KeepReason(
        key, foreign.reason, f"{foreign.todo}; then run disable again, or at once with {again}"
    )


def _brought(
    client: Client, prepared: Prepared, record: Obj | None, given_back: Set[ObjectKey]
) -> list[Obj]:
    """The CRDs that the recipe brought, but for those that were there before."""
    found = brought_definitions(client, prepared, record)
    return [live for live in found if key_of(live) not in given_back]


def _left_by_pods(client: Client, prepared: Prepared, nodes: Sequence[Obj]) -> list[ObjectKey]:
    """The objects that the recipe's pods made of its nodes."""
    names = {node["metadata"]["name"] for node in nodes}
    return [
        ObjectKey(made.api_version, made.kind, "", live["metadata"]["name"])
        for made in prepared.recipe.removal.node_objects
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


def _made_namespaces(client: Client, prepared: Prepared, record: Obj | None) -> list[Obj]:
    """The namespaces that enabling made, with those that disabling has left before, unless somebody
    has made one of that name anew. That of the locks is nobody's own."""
    made = set(record_spec.made_namespaces(record)) - {LOCK_NAMESPACE}
    kind = client.kind("v1", "Namespace")
    try:
        labels = f"{PART_OF_LABEL}={prepared.applyset_id}"
        found = client.list(kind, labels=labels, metadata_only=True).items
    except Forbidden:
        # Some may look at those that they know alone.
        found = [live for name in sorted(made) if (live := client.get(kind, name)) is not None]
    return [
        live
        for live in found
        if _is_ours(live, prepared)
        and (live["metadata"]["name"] in made or was_kept(live, prepared.applyset_id))
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
