# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What state_validate returns of a walk over the nodes: its report, and the result around that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Literal

from .._cluster.api_client.api_errors import ApiError
from .._cluster.api_objects.change_report import count_nodes, report_labels
from .._json import Obj, part
from .._nodes.upgrade_marks import upgrade_rows
from .._runs.context import RunContext
from .._times import seconds
from .desired import Desired
from .validation import node_table, table
from .validation.loop import Loop
from .validation.phases import Phase, StatePlan
from .validation.report import summarize

# So many are said of a node.
_EVENTS = 10


def make_report(
    desired: Desired,
    plans: Sequence[StatePlan],
    names: Set[str],
    loop: Loop,
    which: Literal["problems", "all"],
) -> Obj:
    """What is known of the named states on the nodes that are there now."""
    proving = {plan.name for plan in desired.plans}
    chosen = [plan for plan in plans if plan.name in names]
    reported = [plan for plan in chosen if plan.name in proving or _is_open(plan, loop)]
    reported, groups = _as_they_are_now(reported, desired, loop)
    report = summarize(
        reported,
        loop.results,
        groups,
        loop.snapshot.groups,
        all_nodes=which == "all",
        left=loop.left,
    )
    report["causes"] = [desired.record_memory.lasting(cause) for cause in report["causes"]]
    report["kernels"] = sorted({node.system.kernel for node in loop.snapshot.nodes.values()})
    report["allocation"] = desired.discovery.grouping.allocation_rows(loop.snapshot.nodes.values())
    report["upgrades"] = upgrade_rows(loop.snapshot.nodes.values(), desired.recipe.name)
    return report


def _is_open(plan: StatePlan, loop: Loop) -> bool:
    """Whether a state is not as it should be on some node, or on the cluster."""
    return any(
        name == plan.name and result.phase is not Phase.READY
        for (_node, name), result in loop.results.items()
    )


def _as_they_are_now(
    plans: Sequence[StatePlan], desired: Desired, loop: Loop
) -> tuple[list[StatePlan], Any]:
    """The plans with rows for the groups of the nodes that are there now, and these groups."""
    discovery, grouping = desired.discovery, desired.discovery.grouping
    if discovery.group_of == loop.snapshot.groups:
        return list(plans), discovery.node_groups
    finest = grouping.groups(loop.snapshot.nodes.values())
    per = {plan.name: desired.recipe.states[plan.name].per or ("kernel",) for plan in plans}
    return [replace(plan, rows=grouping.coarse(finest, per[plan.name])) for plan in plans], finest


def complete_report(report: Obj, desired: Desired, context: RunContext, *, wait: bool) -> None:
    """Complete the report's message, and draw its table."""
    nodes, nfd = desired.members, desired.discovery.nfd["message"]
    if not report["nodes_total"] and not nodes:
        report["message"] = nfd or report["message"]
    elif not desired.nodes:
        report["message"] = f"{report['message']}; {nfd}"
    if report["rivals"]:
        served = (
            f"{', '.join(desired.recipe.devices.resources)} is served by another device plugin, too"
        )
        report["message"] = f"{report['message']}; {served}: {', '.join(report['rivals'])}"
    if context.check_mode:
        _tell_of_run_before(report, desired, context.clock())
    if context.check_mode and wait and not report["ready"] and nodes:
        report.update(table.would_validate(report))
    else:
        report["table"] = _table(
            report, desired, context.clock(), brief=context.check_mode and not wait
        )


def find_outdated(report: Obj, desired: Desired, patches: Mapping[str, Obj]) -> Obj:
    """What labels and record say that is not so any more, for who merely looks: the nodes whose labels a
    run would change, the record's phase where that is another one, and when a run last looked. Empty
    where both are as new as this look."""
    nodes = sorted(name for name, patch in patches.items() if part(patch, "metadata").get("labels"))
    recorded = str(part(desired.record or {}, "status").get("phase") or "")
    # Drift alone is written by no run.
    record = recorded if report["phase"] not in (recorded, "drifted") else ""
    found = {"nodes": nodes, "record": record, "seen": desired.record_memory.seen}
    return found if nodes or record else {}


def _table(report: Obj, desired: Desired, now: float, *, brief: bool) -> list[str]:
    """brief: for who asked for no run."""
    head, *lines = table.render(desired.recipe.name, report, now, seconds, brief=brief)
    if not report["nodes_total"] or desired.nodes:
        return [head, *lines]
    # No node has the hardware any more; why is the cause of no state.
    nfd = desired.discovery.nfd["message"]
    return [head, *([f"! {nfd}"] if nfd else []), *lines]


def narrow_to_node(
    report: Obj, node: str, desired: Desired, plans: Sequence[StatePlan], loop: Loop, now: float
) -> None:
    """Make the table one of all that is known of a node, if one is named, with its last events as far as
    these may be read."""
    if not node:
        return
    found = [loop.results.get((node, plan.name)) for plan in plans]
    try:
        # Those about nodes are there, whoever writes them.
        events = desired.client.events_about("default", "Node", node)
    except ApiError:
        events = []
    newest = sorted(events, key=node_table.moment_of)[-_EVENTS:]
    results = [result for result in found if result]
    name = desired.recipe.name
    older = report["outdated"] if node in report["outdated"].get("nodes", ()) else {}
    report["table"] = [
        *node_table.render(name, node, results, newest, now, seconds),
        *table.outdated({**older, "nodes": [node]} if older else {}, now, seconds),
    ]


def _tell_of_run_before(report: Obj, desired: Desired, now: float) -> None:
    """Who merely looks learns what the run before has seen of each cause; the message, of the worst."""
    report["causes"] = [desired.record_memory.beside(cause) for cause in report["causes"]]
    seen = table.sight_before(report["causes"][0], now, seconds) if report["causes"] else ""
    report["message"] = "; ".join(filter(None, [report["message"], seen]))


def result_of(
    report: Obj,
    patches: Mapping[str, Obj],
    context: RunContext,
    *,
    require_ready: bool,
    reading: bool = False,
) -> Obj:
    """reading: somebody merely looks how it stands, and asks for no change."""
    result: Obj = {"changed": bool(patches), **report}
    if context.diff:
        result["diff"] = []
    if patches and not reading:
        done = "would change" if context.check_mode else "changed"
        text = f"{done} our labels and annotations of {count_nodes(patches)}"
        details = report_labels(patches) if context.diff else []
        result |= context.tell("\n".join([text, *details]))
    if require_ready and not report["acceptable"] and not context.check_mode:
        result.update(failed=True, msg=report["message"])
    return result
