# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How an RmdWorkload stands on each node, after what was seen and done there. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Optional

from ..nodes.node_snapshot import NodeSnapshot
from ..workloads import RunningWorkload
from .view import View
from .workload_spec import Declared
from .workload_state import OnNode, WorkloadOutcome

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
