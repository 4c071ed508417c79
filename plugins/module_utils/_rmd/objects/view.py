# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One node while the objects are made true: what was seen, what is wanted there, what became of it,
and so how each object stands. Pure.

The operator called a workload by its object's name, whatever the namespace, so that objects of two
namespaces could be one to RMD. Here only those in the namespace default have their name as uuid;
what the operator has left is adopted.

What outlives a run is in the node's RmdNodeState: the uuids that were put there for objects,
written before the first POST, and which boot of the node that was in."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Optional

from ..._cluster.api_objects.labels import DOMAIN
from ..._json import Obj, parse_json, part
from ..nodes.actions import Action, posted_by, removed_by
from ..nodes.node_machine import Dialect
from ..nodes.node_results import WITHHELD, NodeJob, NodeReport, WorkloadWrite
from ..nodes.node_snapshot import NodeSnapshot
from ..rmd_errors import Refusal
from ..workloads import RunningWorkload, Workload
from .workload_spec import Declared, Name
from .workload_state import OnNode, WorkloadOutcome


@dataclass(frozen=True)
class WantedWorkloads(NodeJob):
    """One node's share, present in the order of the objects' age, so that an older one gets its
    cores.

    objects: by uuid, whose workload it is. orphans: those of absent that belong to no object any
    more.
    """

    objects: Mapping[str, Name] = field(default_factory=dict)
    orphans: frozenset[str] = frozenset()


def refuse_collisions(declared: Iterable[Declared]) -> list[Declared]:
    """The same in the order of their names, those whose uuid an older one has with a problem."""
    holders: dict[str, Name] = {}
    found: list[Declared] = []
    for entry in sorted(declared, key=lambda entry: entry.age):
        holder = holders.setdefault(entry.uuid, entry.name)
        why = f"RMD would know it as {entry.uuid}, as it does the older RmdWorkload {holder}; give it another name"
        found.append(entry if holder == entry.name else replace(entry, problem=why, rival=holder))
    return sorted(found, key=lambda entry: entry.name)


def wanted_on(
    node: str,
    declared: Sequence[Declared],
    targets: Mapping[Name, Collection[str]],
    *,
    running: Sequence[RunningWorkload],
    cores: Collection[int],
    owned: Collection[str],
    is_fresh: bool = False,
) -> WantedWorkloads:
    """What should and should not run on a node.

    declared: all objects, judged. targets: the nodes of each. running: what the node runs. cores:
    all of the node's, for allCores. owned: uuids that earlier runs have put there for objects.
    is_fresh: as of NodeJob.

    A workload whose uuid is an object's is that object's, whoever made it. An object with a problem
    stays as it is.
    """
    objects = {entry.uuid: entry.name for entry in declared if entry.rival is None}
    here = [entry for entry in _sendable(declared) if node in targets[entry.name]]
    present = {entry.name: entry.workload(cores) for entry in here}
    adopted = _adopt(node, declared, running, present, objects)
    leaving = _leaving(declared, present)
    absent = {found.uuid for found in running if objects.get(found.uuid) in leaving}
    orphans = _orphans(running, owned, objects, declared)
    return WantedWorkloads(
        present=tuple(present.values()),
        absent=frozenset(absent | orphans),
        adopted=adopted,
        is_fresh=is_fresh,
        objects=objects,
        orphans=orphans,
    )


def _sendable(declared: Iterable[Declared]) -> list[Declared]:
    """The objects that are to run somewhere, the oldest first."""
    found = [entry for entry in declared if not entry.problem and not entry.is_deleted]
    return sorted(found, key=lambda entry: entry.age)


def _leaving(declared: Iterable[Declared], present: Collection[Name]) -> set[Name]:
    """The objects whose workloads leave the node. present: those whose workloads are wanted there."""
    return {
        entry.name
        for entry in declared
        if entry.is_deleted or not (entry.problem or entry.name in present)
    }


def _orphans(
    running: Iterable[RunningWorkload],
    owned: Collection[str],
    objects: Collection[str],
    declared: Iterable[Declared],
) -> frozenset[str]:
    """The uuids that earlier runs have put there, and that are no object's any more."""
    # What might be the operator's of an object that cannot be read is nobody's orphan.
    unsure = {entry.name.name for entry in declared if entry.problem}
    return frozenset({found.uuid for found in running} & set(owned) - set(objects) - unsure)


def _adopt(
    node: str,
    declared: Sequence[Declared],
    running: Sequence[RunningWorkload],
    present: Mapping[Name, Workload],
    objects: dict[str, Name],
) -> dict[str, list[str]]:
    """The operator's own workloads that are objects' by now, by uuid; adds them to objects."""
    adopted: dict[str, list[str]] = {}
    for found in running:
        if found.uuid and found.uuid not in objects:
            owner = _legacy_owner(found, node, declared, present)
            if owner is not None:
                objects[found.uuid] = owner
                adopted.setdefault(owner.uuid, []).append(found.uuid)
    return adopted


def _legacy_owner(
    running: RunningWorkload,
    node: str,
    declared: Iterable[Declared],
    wanted: Mapping[Name, Workload],
) -> Optional[Name]:
    """The object outside of the namespace default whose workload the operator has put on this node
    under the object's name alone, or None.

    It is the one whose status names the workload's id; else the only one of that name that asks for
    the same. wanted: what the objects ask for on this node.
    """
    uuid = running.uuid
    alike = [entry for entry in declared if entry.name.name == uuid and entry.uuid != uuid]
    for entry in alike:
        if running.id and entry.recorded_ids.get(node) == running.id:
            return entry.name
    asking = wanted.keys() & {entry.name for entry in alike}
    same = [name for name in asking if running.workload.is_same_as(wanted[name])]
    return same[0] if len(same) == 1 else None


OWNED_ANNOTATION = f"{DOMAIN}/rmd-owned"


@dataclass
class View:
    """A node. report: what a run has seen and done there; None where it has no daemon. refused: by
    uuid, why workloads are not sent.

    boot: which boot of the node this is.
    """

    node: str
    state: Optional[Obj] = None
    boot: str = ""
    report: Optional[NodeReport] = None
    wanted: Optional[WantedWorkloads] = None
    refused: Mapping[str, Refusal] = field(default_factory=dict)

    @property
    def snapshot(self) -> Optional[NodeSnapshot]:
        """The last one; None where it cannot be looked at."""
        return self.report.seen.after if self.report is not None else None

    @property
    def is_without_rmd(self) -> bool:
        """Whether its agent divides its cache."""
        return self.report is not None and self.report.dialect is Dialect.RESCTRL

    @property
    def is_declared_in_vain(self) -> bool:
        """Whether RMD has taken the node over, and what its agent was to enforce is declared
        still."""
        there = part(self.state or {}, "spec").get("workloads")
        return bool(there) and self.snapshot is not None and not self.is_without_rmd

    @property
    def why(self) -> str:
        """Why it cannot be looked at, or what else went wrong."""
        if self.report is None:
            return f"there is no daemon of RMD on node {self.node}; deploy RMD there, or leave the node out"
        return str(self.report.fate.error or "").rstrip(".")

    @property
    def actions(self) -> tuple[Action, ...]:
        """Those that are sent."""
        return self.report.actions if self.report is not None else ()

    @property
    def writes(self) -> list[WorkloadWrite]:
        """What was done, or would be."""
        return self.report.writes if self.report is not None else []

    @property
    def has_booted(self) -> bool:
        """Whether the node has booted since anything was seen in force there."""
        before = part(self.state or {}, "status").get("bootID")
        return bool(before and self.boot and before != self.boot)

    @property
    def owned(self) -> frozenset[str]:
        """The uuids that runs have put there for objects."""
        annotations = part(self.state or {}, "metadata", "annotations")
        with contextlib.suppress(ValueError, TypeError):
            found = parse_json(annotations.get(OWNED_ANNOTATION) or "[]")
            return frozenset(str(uuid) for uuid in found)
        return frozenset()

    @property
    def ours(self) -> frozenset[str]:
        """The uuids that run there for objects now; those of before where nobody can tell."""
        if self.snapshot is None or self.wanted is None:
            return self.owned
        wanted = {workload.uuid for workload in self.wanted.present}
        known = self.owned | wanted | set(self.wanted.objects)
        return frozenset({found.uuid for found in self.snapshot.running} & known)

    @property
    def added(self) -> frozenset[str]:
        """The uuids that are posted."""
        return frozenset(workload.uuid for workload in posted_by(self.actions))

    @property
    def expected(self) -> Optional[tuple[RunningWorkload, ...]]:
        """What will run when the actions are done, as far as that can be told before."""
        if self.snapshot is None:
            return None
        removed = {old.id for old in removed_by(self.actions)}
        kept = [found for found in self.snapshot.running if found.id not in removed]
        added = posted_by(self.actions)
        return (*kept, *(RunningWorkload.expected(workload) for workload in added))

    def problem_of(self, uuid: str) -> str:
        """Why a workload is not as asked for after the run, "" where the run knows of nothing."""
        if self.report is not None and self.report.fate.outcome == WITHHELD:
            return "nothing was sent, since another node failed"
        said = (write.problem for write in self.writes if write.uuid == uuid)
        return next(filter(None, said), self.why)

    def is_changed(self, uuid: str) -> bool:
        """Whether this run has made the workload."""
        return any(
            write.uuid == uuid and write.action in ("post", "replace") for write in self.writes
        )


def owned_text(uuids: Collection[str]) -> str | None:
    """The annotation's value; None for no annotation."""
    return json.dumps(sorted(uuids), separators=(",", ":")) if uuids else None


# A run that ended in one of these did not hear from RMD what is wrong with a workload.
_SILENT = frozenset(
    {
        "transport",
        "server_panic",
        "locked",
        "api",
        "auth",
        "not_trusted",
        "no_client_certificate",
        "no_tls",
        "expired",
        "needs_tls",
        "unverified",
    }
)
# What may be otherwise another day; the rest is wrong with the workload itself.
_PASSING = frozenset({"conflict_core", "foreign_origin", "no_cache"})


def states_of(
    entry: Declared, targets: Collection[str], views: Mapping[str, View]
) -> dict[str, OnNode]:
    """By node: where the workload is wanted, and where it is not yet gone from.

    targets: the nodes that it is for. views: all nodes of the cluster; one that is not among them
    has taken its workloads along.
    """
    wanted = set() if entry.is_deleted else set(targets)
    found = {}
    for node in sorted(wanted | set(recorded(entry, views))):
        state = _state(entry, node, views.get(node), is_wanted=node in wanted)
        if state is not None:
            found[node] = state
    return found


def recorded(entry: Declared, views: Mapping[str, View]) -> set[str]:
    """The nodes where the workload was the last time that they were heard of."""
    by_runs = {
        node for node, view in views.items() if entry.rival is None and entry.uuid in view.owned
    }
    seen = {node for node, view in views.items() if _mine(entry, view)}
    return set(entry.recorded_ids) | by_runs | seen


def _state(
    entry: Declared, node: str, view: Optional[View], *, is_wanted: bool
) -> Optional[OnNode]:
    """How it stands on one node; None where it is neither wanted nor there."""
    if view is None:
        return (
            OnNode(WorkloadOutcome.NO_NODE, None, f"there is no node {node}") if is_wanted else None
        )
    if view.snapshot is None:
        return OnNode(WorkloadOutcome.UNREACHABLE, None, view.why)
    mine = _mine(entry, view)
    if entry.problem and not entry.is_deleted:
        return OnNode(WorkloadOutcome.INVALID, mine, entry.problem)
    if not is_wanted:
        return None if mine is None else _not_removed(view, mine)
    if mine is not None and _is_as_wanted(entry, view, mine):
        return _running(view, view.snapshot, mine, entry.uuid)
    return _not_as_wanted(view, mine, entry.uuid)


def _not_removed(view: View, mine: RunningWorkload) -> OnNode:
    why = view.problem_of(mine.uuid) or _refusal(view, mine.uuid) or "it is still there"
    return OnNode(_outcome(view), mine, f"it could not be removed: {why}")


def _running(view: View, snapshot: NodeSnapshot, mine: RunningWorkload, uuid: str) -> OnNode:
    """Of what RMD runs as it is wanted: by the kernel's word."""
    if differs := snapshot.differs(mine.id):
        return OnNode(WorkloadOutcome.NOT_ENFORCED, mine, differs)
    return OnNode(WorkloadOutcome.POSTED if view.is_changed(uuid) else WorkloadOutcome.KEPT, mine)


def _not_as_wanted(view: View, mine: Optional[RunningWorkload], uuid: str) -> OnNode:
    """Of what our rules have refused, or RMD does not run as it is wanted."""
    refused = view.refused.get(uuid)
    if refused is not None:
        passing = refused.kind in _PASSING
        outcome = WorkloadOutcome.REFUSED if passing else WorkloadOutcome.INVALID
        return OnNode(outcome, mine, _refusal(view, uuid))
    why = view.problem_of(uuid) or "RMD does not run it as it is asked for; run again"
    return OnNode(_outcome(view), mine, why)


def _mine(entry: Declared, view: View) -> Optional[RunningWorkload]:
    """What the node runs of the object."""
    if view.wanted is None or view.snapshot is None:
        return None
    objects = view.wanted.objects
    for found in view.snapshot.running:
        if found.uuid and objects.get(found.uuid) == entry.name:
            return found
    return None


def _is_as_wanted(entry: Declared, view: View, mine: RunningWorkload) -> bool:
    """By RMD's own word, whatever became of the requests."""
    present = view.wanted.present if view.wanted is not None else ()
    wanted = next((workload for workload in present if workload.uuid == entry.uuid), None)
    return wanted is not None and mine.is_enforced and mine.workload.is_same_as(wanted)


def _refusal(view: View, uuid: str) -> str:
    refused = view.refused.get(uuid)
    return f"{refused.why}; {refused.todo}" if refused else ""


def _outcome(view: View) -> WorkloadOutcome:
    error = view.report.fate.error if view.report is not None else None
    return (
        WorkloadOutcome.UNREACHABLE
        if error is not None and error.kind in _SILENT
        else WorkloadOutcome.REFUSED
    )
