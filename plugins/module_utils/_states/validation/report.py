# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From results to what a person, a playbook and the SpecialResource record read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Any

from ..._cluster.api_objects.change_report import name_some
from ..._nodes.groups import NodeGroup
from ..._proofs.kinds.rollout import NOT_WANTED
from ..._times import timestamp
from .causes import EXAMPLES, Results, causes, place, problems, worst
from .phases import Phase, Result, StatePlan

EMPTY = "empty"


def summarize(
    plans: Sequence[StatePlan],
    results: Results,
    groups: Sequence[NodeGroup],
    node_groups: Mapping[str, str],
    *,
    all_nodes: bool,
    left: Sequence[str] = (),
) -> dict[str, Any]:
    """The result of state_validate: phase, one sentence, a row per state, the causes and the
    problems, worst first.

    results may hold more states than plans: what these require. all_nodes adds each node (its group,
    phase, since when, and the phase of each state on it), which is left out otherwise since it grows
    with the cluster, and the graph: state -> those that it requires. left: the nodes
    that left during the run, which count nowhere; nor do those that are leaving, unless all are.
    """
    names = {plan.name for plan in plans}
    rows = problems(results, names)
    found = causes(rows, results)
    every = {key: result for key, result in results.items() if key[1] in names}
    phases = _phases(every, sorted(node_groups))
    leaving = _in_phase(phases, Phase.LEAVING)
    nodes = sorted(phases.keys() - leaving) or leaving
    results = _without(every, phases.keys() - nodes)
    overall = worst(results.values()).value if nodes else EMPTY
    report: dict[str, Any] = {
        "phase": overall,
        "ready": bool(nodes) and overall == Phase.READY.value,
        "acceptable": not nodes or all(_acceptable(result) for result in results.values()),
        "nodes_total": len(nodes),
        "nodes_ready": len(_in_phase(phases, Phase.READY)),
        "kernels": sorted({group.system.kernel for group in groups if group.nodes}),
        "states": _state_rows(plans, results),
        "causes": found,
        "problems": rows,
        "restarts_pending": _restarts(results),
        "unwanted": _unwanted(results),
        "left": list(left),
        "leaving": leaving,
        "unfinished": [],
        "rivals": [],
        "upgrades": [],
        "allocation": [],
        "drift": [],
        "outdated": {},
    }
    report["message"] = _sentence(report)
    if all_nodes:
        report["nodes"] = _node_rows(phases, plans, every, _titles(groups, node_groups))
        report["graph"] = _graph(plans)
    return report


def _titles(groups: Sequence[NodeGroup], node_groups: Mapping[str, str]) -> dict[str, str]:
    """Node -> its group's title."""
    titles = {group.id: title for group, title in _titled(groups)}
    return {node: titles.get(group, "") for node, group in node_groups.items()}


def _graph(plans: Sequence[StatePlan]) -> dict[str, list[str]]:
    return {plan.name: list(plan.requires) for plan in plans}


def _in_phase(phases: Mapping[str, Phase], wanted: Phase) -> list[str]:
    """The nodes of a phase."""
    return sorted(node for node, phase in phases.items() if phase is wanted)


def _without(results: Results, nodes: Set[str]) -> Results:
    """The results of the other nodes, and of the cluster."""
    return {key: result for key, result in results.items() if key[0] not in nodes}


def _restarts(results: Results) -> list[str]:
    """The nodes on which a pod still runs the version before."""
    return sorted({node for (node, _state), result in results.items() if result.restart_pending})


def _unwanted(results: Results) -> list[dict[str, Any]]:
    """What is ready on nodes although a DaemonSet of it is not for them: by state and reason, on how
    many of the nodes."""
    found = Counter(
        (result.state, result.message)
        for (node, _state), result in results.items()
        if node and result.phase is Phase.READY and result.message and not result.restart_pending
    )
    totals = Counter(state for node, state in results if node)
    return [
        {"state": state, "nodes": count, "total": totals[state], "message": message}
        for (state, message), count in sorted(found.items())
    ]


def _node_rows(
    phases: Mapping[str, Phase],
    plans: Sequence[StatePlan],
    results: Results,
    groups: Mapping[str, str],
) -> dict[str, dict[str, Any]]:
    """Each node's phase, and that of each state on it. groups: node -> its group's title."""
    return {
        node: {"group": groups.get(node, ""), **_node_row(node, phase, plans, results)}
        for node, phase in phases.items()
    }


def _node_row(
    node: str, phase: Phase, plans: Sequence[StatePlan], results: Results
) -> dict[str, Any]:
    """since: when the last of its states has come into the node's phase; "" where that is not known."""
    found = [result for plan in plans if (result := results.get((node, plan.name)))]
    since = max((result.since for result in found if result.phase is phase), default=0.0)
    return {
        "phase": phase.value,
        "since": timestamp(since) if since else "",
        "states": {result.state: result.phase.value for result in found},
    }


def _phases(results: Results, nodes: Sequence[str]) -> dict[str, Phase]:
    found: dict[str, list[Result]] = {node: [] for node in nodes}
    for (node, _state), result in results.items():
        if node in found:
            found[node].append(result)
    return {node: worst(entries) for node, entries in found.items()}


def _acceptable(result: Result) -> bool:
    """Ready, or not to be told this time although it was proven before, or not expected any more."""
    if result.phase in (Phase.UNKNOWN, Phase.STARTING):
        return result.proven
    return result.phase in (Phase.READY, Phase.LEAVING)


def _state_rows(plans: Sequence[StatePlan], results: Results) -> list[dict[str, Any]]:
    """A row for each state, by its results."""
    found: dict[str, dict[str, Result]] = {plan.name: {} for plan in plans}
    for (node, state), result in results.items():
        found[state][node] = result
    return [_state_row(plan, found[plan.name]) for plan in plans]


def _state_row(plan: StatePlan, found: Mapping[str, Result]) -> dict[str, Any]:
    """found: the state's results by node, that of a state of the cluster by ""."""
    phase = worst(found.values())
    nobody = plan.per_node and not found
    row: dict[str, Any] = {
        "name": plan.name,
        "phase": EMPTY if nobody else phase.value,
        "scope": "node" if plan.per_node else "cluster",
        "ready": sum(result.phase is Phase.READY for result in found.values()),
        "total": len(found),
        "reason": "",
        "message": "",
    }
    row |= _why(phase, found)
    if plan.per_node:
        row["groups"] = [_group_row(group, title, found) for group, title in _titled(plan.rows)]
    return row


def _why(phase: Phase, found: Mapping[str, Result]) -> dict[str, str]:
    """Why a state is in a phase; of a ready one only that nothing of it is wanted on any node, which
    nobody may have meant."""
    if phase is Phase.READY:
        unwanted = found and all(result.unwanted for result in found.values())
        return {"reason": NOT_WANTED} if unwanted else {}
    first = next(found[node] for node in sorted(found) if found[node].phase is phase)
    return {"reason": first.reason, "message": first.message, "since": timestamp(first.since)}


def _group_row(group: NodeGroup, title: str, found: Mapping[str, Result]) -> dict[str, Any]:
    members = [found[node] for node in group.nodes if node in found]
    ready = sum(result.phase is Phase.READY for result in members)
    return {
        "id": group.id,
        "title": title,
        "kernel": group.system.kernel,
        "ready": ready,
        "total": len(members),
    }


def _titled(groups: Sequence[NodeGroup]) -> list[tuple[NodeGroup, str]]:
    """The groups with their titles; where two have the same (one kernel on two architectures), with
    what differs."""
    counts = Counter(group.title for group in groups)
    return [
        (
            group,
            f"{group.title}, {group.system.os_id} {group.system.os_version} {group.system.arch}"
            if counts[group.title] > 1
            else group.title,
        )
        for group in groups
    ]


def _of_leaving(nodes: Sequence[str]) -> str:
    return (
        f"; {name_some(nodes, EXAMPLES)} {'leave' if len(nodes) > 1 else 'leaves'}" if nodes else ""
    )


def _sentence(report: Mapping[str, Any]) -> str:
    total, ready = report["nodes_total"], report["nodes_ready"]
    if not total:
        return "no node matches the recipe's selector, so there is nothing to enable"
    if report["ready"]:
        return f"all {total} nodes are ready{_of_leaving(report['leaving'])}"
    head = f"{ready} of {total} nodes are ready"
    if not report["causes"]:
        return head
    first, *others = report["causes"]
    more = f" (and {len(others)} more)" if others else ""
    message = first["message"].rstrip(". ")
    return f"{head}; {place(first)}, state {first['state']} {first['phase']}: {message}{more}; {first['todo']}"
