# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A report as a short table: a row for each state and group of nodes, then each cause, what to do
about it, what it blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._nodes.upgrade_marks import QUARANTINED, REMEDY
from .causes import place

MAX_CAUSES = 10
NAMED = 3


def render(recipe: str, report: Mapping[str, Any], now: float, seconds: Any) -> list[str]:
    """The lines. seconds turns an API timestamp into seconds since the epoch."""
    kernels = report["kernels"]
    head = f"{recipe}: {report['phase']}, {report['nodes_ready']}/{report['nodes_total']} nodes"
    lines = [
        head + (f", {len(kernels)} kernel{'s' if len(kernels) != 1 else ''}" if kernels else "")
    ]
    rows: list[Sequence[str]] = [("STATE", "GROUP", "NODES", "PHASE", "REASON")]
    for state in report["states"]:
        groups = [group for group in state.get("groups", []) if group["total"]]
        differ = len({(group["ready"] == group["total"]) for group in groups}) > 1
        if differ:
            for group in groups:
                good = group["ready"] == group["total"]
                phase, reason = ("ready", "") if good else (state["phase"], state["reason"])
                rows.append(
                    (
                        state["name"],
                        group["title"],
                        f"{group['ready']}/{group['total']}",
                        phase,
                        reason,
                    )
                )
        else:
            nodes = f"{state['ready']}/{state['total']}" if state["scope"] == "node" else "-"
            kernel = "all" if state["scope"] == "node" else "-"
            rows.append((state["name"], kernel, nodes, state["phase"], state["reason"]))
    lines += aligned(rows)
    if not report["nodes_total"]:
        lines.append(f"! {report['message']}")
    for cause in report["causes"][:MAX_CAUSES]:
        lines += _cause(cause, max(now - (seconds(cause["since"]) or now), 0))
    more = len(report["causes"]) - MAX_CAUSES
    if more > 0:
        lines.append(f"  and {more} more causes (report: all lists every node)")
    if report["restarts_pending"]:
        names = ", ".join(report["restarts_pending"][:NAMED])
        count = len(report["restarts_pending"])
        lines.append(
            f"~ {count} nodes run the driver version before, until the playbook upgrade exchanges it: {names}"
        )
    lines += _upgrades(report["upgrades"], now, seconds)
    for name in report["rivals"]:
        lines.append(
            f"! {name} serves the same resource: two device plugins take the devices from each other"
        )
        lines.append("  -> remove it, or set hardware_enablement_adopt")
    if report["left"]:
        lines.append(f"~ {departure(report['left'])}")
    lines += [f"! {sentence}" for sentence in report["unfinished"]]
    return lines


def _upgrades(rows: Sequence[Mapping[str, str]], now: float, seconds: Any) -> list[str]:
    """The nodes that are on their way to another driver, or did not get there."""
    lines = []
    for row in rows[:MAX_CAUSES]:
        since = duration(max(now - (seconds(row["since"]) or now), 0))
        why = f": {row['message']}" if row["message"] else ""
        if row["phase"] == QUARANTINED:
            lines.append(f"! {row['node']}, in quarantine for {since}{why}")
            lines.append(
                "  -> mend it; the run that finds it proven ends the quarantine, or remedy with remedy_release does"
            )
        elif row["phase"] == REMEDY:
            lines.append(f"~ {row['node']}, a remedy is tried for {since}{why}")
        else:
            lines.append(f"~ {row['node']}, its driver is exchanged for {since}{why}")
    more = len(rows) - MAX_CAUSES
    return [*lines, f"  and {more} more nodes whose driver is exchanged"] if more > 0 else lines


def departure(names: Sequence[str]) -> str:
    """The nodes that left, in words: "left during the run: a, b, c and 2 more"."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"left during the run: {', '.join(names[:NAMED])}{more}"


def _cause(cause: Mapping[str, Any], age: float) -> list[str]:
    head = f"! {place(cause)}, {cause['state']} {cause['phase']} for {duration(age)}: {cause['message']}"
    lines = [head, f"  -> {cause['todo']}"]
    if cause["blocked"]:
        most = max(entry["nodes"] for entry in cause["blocked"])
        nodes = f" on {most} nodes" if most > 1 else ""
        lines.append(
            f"  behind it: {', '.join(entry['state'] for entry in cause['blocked'])}{nodes}"
        )
    return lines


def would_validate(report: Mapping[str, Any]) -> dict[str, Any]:
    """message and table for check mode: what comes next is no problem yet."""
    names = [state["name"] for state in report["states"] if state["phase"] != "ready"]
    message = f"would validate {', '.join(names)} on {report['nodes_total']} nodes"
    return {"message": message, "table": [message]}


def duration(seconds: float) -> str:
    """Seconds as a person says them: 42 s, 7 min, 3 h, 2 d."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit}"
    return f"{seconds:.0f} s"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, columns below each other."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
