# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A report as a short table: a row for each state and group of nodes, then each cause, what to do
about it, what it blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

from ..._nodes.upgrade_marks import QUARANTINED, REMEDY
from .causes import place

MAX_CAUSES = 10
# Of nodes on their way: no failure.
_NO_FAILURE = frozenset({"NodeStarts", "NodeLeaves", "StillLeaving"})
NAMED = 3

_GOES_ON = "  -> a run of the playbook {} goes on with it: start one, unless one is under way"

OLDER_TODO = "run the playbook that enables it, which writes what is seen now"

Seconds = Callable[[str], Optional[float]]
Age = Callable[[str], float]


def render(
    recipe: str, report: Mapping[str, Any], now: float, seconds: Seconds, *, brief: bool = False
) -> list[str]:
    """The lines. seconds turns an API timestamp into seconds since the epoch. brief, for who merely
    looks: what is wrong comes first, and states that are ready share a line."""
    head, said = _head(recipe, report), _sentences(report, _ages(now, seconds))
    return [head, *said, *_brief(report)] if brief else [head, *_rows(report["states"]), *said]


def _rows(states: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [row for state in states for row in _state_rows(state)]
    return aligned([("STATE", "GROUP", "NODES", "PHASE", "REASON"), *rows])


def _brief(report: Mapping[str, Any]) -> list[str]:
    others = [state for state in report["states"] if state["phase"] != "ready"]
    names = [state["name"] for state in report["states"] if state["phase"] == "ready"]
    return [
        *(_rows(others) if others else []),
        *([f"  ready: {', '.join(names)}"] if names else []),
    ]


def _sentences(report: Mapping[str, Any], age: Age) -> list[str]:
    """What is wrong, and what else a person should know."""
    nobody = [] if report["nodes_total"] else [f"! {report['message']}"]
    return [
        *nobody,
        *_causes(report["causes"], age),
        *_restarts(report["restarts_pending"]),
        *_allocation(report["allocation"]),
        *_unwanted(report["unwanted"]),
        *_upgrades(report["upgrades"], age),
        *_drift(report["drift"], age),
        *_outdated(report["outdated"], age),
        *(line for name in report["rivals"] for line in _rival(name)),
        *([f"~ {departure(report['left'])}"] if report["left"] else []),
        *(f"! {sentence}" for sentence in report["unfinished"]),
    ]


def _ages(now: float, seconds: Seconds) -> Age:
    """How long ago an API timestamp was, in seconds."""
    return lambda since: max(now - (seconds(since) or now), 0)


def _head(recipe: str, report: Mapping[str, Any]) -> str:
    head = f"{recipe}: {report['phase']}, {report['nodes_ready']}/{report['nodes_total']} nodes"
    count = len(report["kernels"])
    return f"{head}, {count} kernel{'s' if count != 1 else ''}" if count else head


def _state_rows(state: Mapping[str, Any]) -> list[Sequence[str]]:
    """A row for a state; one for each of its groups where only some of these are ready."""
    groups = [group for group in state.get("groups", []) if group["total"]]
    if len({group["ready"] == group["total"] for group in groups}) > 1:
        return [_group_row(state, group) for group in groups]
    on_nodes = state["scope"] == "node"
    nodes = f"{state['ready']}/{state['total']}" if on_nodes else "-"
    return [(state["name"], "all" if on_nodes else "-", nodes, state["phase"], state["reason"])]


def _group_row(state: Mapping[str, Any], group: Mapping[str, Any]) -> Sequence[str]:
    good = group["ready"] == group["total"]
    phase, reason = ("ready", "") if good else (state["phase"], state["reason"])
    return state["name"], group["title"], f"{group['ready']}/{group['total']}", phase, reason


def _causes(causes: Sequence[Mapping[str, Any]], age: Age) -> list[str]:
    lines = [line for cause in causes[:MAX_CAUSES] for line in _cause(cause, age)]
    more = len(causes) - MAX_CAUSES
    return (
        [*lines, f"  and {more} more causes (report: all lists every node)"] if more > 0 else lines
    )


def _restarts(nodes: Sequence[str]) -> list[str]:
    if not nodes:
        return []
    count = f"{len(nodes)} nodes run" if len(nodes) > 1 else "1 node runs"
    return [
        f"~ {count} the driver version before, until the playbook upgrade exchanges it: {_first(nodes)}"
    ]


def _allocation(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What serves the devices of which nodes, where that is not the same for all, or not as it is to
    be."""
    if len(rows) == 1 and rows[0]["way"] == rows[0]["wanted"]:
        return []
    lines = []
    for row in rows:
        nodes = row["nodes"]
        count, them = (f"{len(nodes)} nodes are", "them") if len(nodes) > 1 else ("1 node is", "it")
        until = f", until the playbook upgrade brings {them} to {row['wanted']}"
        until = "" if row["way"] == row["wanted"] else until
        lines.append(f"~ {count} served by {row['way']}{until}: {_first(nodes)}")
    return lines


def _unwanted(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which nodes a DaemonSet's author has kept it off; where that is all of them, nobody may have
    meant it."""
    lines = []
    for row in rows[:MAX_CAUSES]:
        everywhere = row["nodes"] == row["total"]
        count = f"all {row['total']}" if everywhere else f"{row['nodes']} of {row['total']}"
        lines.append(
            f"{'!' if everywhere else '~'} {row['state']}, {count} nodes: {row['message']}"
        )
    more = len(rows) - MAX_CAUSES
    return [*lines, f"  and {more} more (report: all lists every node)"] if more > 0 else lines


def _drift(rows: Sequence[Mapping[str, Any]], age: Age) -> list[str]:
    """What others have done to what is deployed; what they merely added, or what a run puts back, is
    not worth a warning."""
    lines = []
    for row in rows[:MAX_CAUSES]:
        since = f" {duration(age(row['since']))} ago" if row["since"] else ""
        by = f" by {row['by']}{since}" if row["by"] else ""
        more = ", ..." if len(row["fields"]) > NAMED else ""
        fields = f": {', '.join(row['fields'][:NAMED])}{more}" if row["fields"] else ""
        mark = "~" if row["put_back"] or row["drift"] == "extended" else "!"
        lines.append(f"{mark} {row['object']} {row['drift']}{by}{fields}")
        lines.append(f"  -> {row['todo']}")
    more_rows = len(rows) - MAX_CAUSES
    return [*lines, f"  and {more_rows} more objects"] if more_rows > 0 else lines


def outdated(found: Mapping[str, Any], now: float, seconds: Seconds) -> list[str]:
    """That labels of nodes and the record are older than what is seen now; nothing where they are not."""
    return _outdated(found, _ages(now, seconds))


def _outdated(found: Mapping[str, Any], age: Age) -> list[str]:
    return [f"~ {older(found, age)}", f"  -> {OLDER_TODO}"] if found else []


def older(found: Mapping[str, Any], age: Age) -> str:
    """That labels of nodes and the record, which a run alone writes, say something else than is seen: half a
    sentence."""
    nodes, record = found["nodes"], found["record"]
    them = f"{len(nodes)} nodes ({_first(nodes)})" if len(nodes) > 1 else f"node {_first(nodes)}"
    said = [f"the labels of {them}"] if nodes else []
    said += [f"the record, which says {record},"] if record else []
    since = f", of a run {duration(age(found['seen']))} ago" if found["seen"] else ""
    verb = "are" if nodes else "is"
    return f"{' and '.join(said)} {verb} older than this look{since}"


def _rival(name: str) -> tuple[str, str]:
    return (
        f"! {name} serves the same resource: two device plugins take the devices from each other",
        "  -> remove it, or set hardware_enablement_adopt",
    )


def _upgrades(rows: Sequence[Mapping[str, str]], age: Age) -> list[str]:
    """The nodes that are on their way to another driver, or did not get there. Only a run goes on with
    them; one that was broken off has left them so."""
    lines = []
    for row in rows[:MAX_CAUSES]:
        since = duration(age(row["since"]))
        why = f": {row['message']}" if row["message"] else ""
        if row["phase"] == QUARANTINED:
            lines.append(f"! {row['node']}, in quarantine for {since}{why}")
            lines.append(
                "  -> mend it; the run that finds it proven ends the quarantine, or remedy with remedy_release does"
            )
        elif row["phase"] == REMEDY:
            lines.append(f"~ {row['node']}, a remedy is tried for {since}{why}")
            lines.append(_GOES_ON.format("remedy"))
        else:
            lines.append(f"~ {row['node']}, its driver is exchanged for {since}{why}")
            lines.append(_GOES_ON.format("upgrade"))
    more = len(rows) - MAX_CAUSES
    return [*lines, f"  and {more} more nodes whose driver is exchanged"] if more > 0 else lines


def departure(names: Sequence[str]) -> str:
    """The nodes that left, in words: "left during the run: a, b, c and 2 more"."""
    return f"left during the run: {_first(names)}"


def _first(names: Sequence[str]) -> str:
    """The first names, and how many others there are."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


def sight_before(cause: Mapping[str, Any], now: float, seconds: Seconds) -> str:
    """What the last run saw of a cause where that is something else than is seen now; "" for
    nothing."""
    return _sight_before(cause, _ages(now, seconds))


def _sight_before(cause: Mapping[str, Any], age: Age) -> str:
    before = cause.get("before")
    if not before:
        return ""
    where = "" if place(before) == place(cause) else f" on {place(before)}"
    ago = duration(age(before["seen"]))
    return f"seen {ago} ago by the last run{where}, {before['phase']}: {before['message']}"


def _cause(cause: Mapping[str, Any], age_of: Age) -> list[str]:
    age, seen = age_of(cause["since"]), _sight_before(cause, age_of)
    before = [f"  {seen}"] if seen else []
    # What was seen just now for the first time may have been so for long.
    lasting = f" for {duration(age)}" if age >= 2 else ""
    mark = "~" if cause["reason"] in _NO_FAILURE else "!"
    head = f"{mark} {place(cause)}, {cause['state']} {cause['phase']}{lasting}: {cause['message']}"
    lines = [head, *before, f"  -> {cause['todo']}"]
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
