# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report page of the documentation: report.html is what the collection makes of report.json, which
the playbook status has written about 23 simulated nodes; report.png is what Chromium shows of it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

from plugins.module_utils._states.page import page

HERE = Path(__file__).resolve().parent
DATA, PAGE, PICTURE = (HERE / f"report.{ending}" for ending in ("json", "html", "png"))
WIDTH, HEIGHT = 1200, 1120


def read() -> dict[str, Any]:
    """What the page is made of."""
    found: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return found


def draw() -> str:
    """The page."""
    return page.render(read())


def enlarged(count: int) -> str:
    """The page as it would be with so many nodes: those that there are, again and again."""
    data = read()
    (resource,) = data["clusters"][0]["resources"]
    some = resource["nodes"]
    copied = zip(range(count), cycle(some), strict=False)
    originals = {f"{name}-{number}": name for number, name in copied}
    nodes = {name: some[original] for name, original in originals.items()}
    resource |= {
        "nodes": nodes,
        "nodes_total": count,
        "nodes_ready": sum(node["phase"] == "ready" for node in nodes.values()),
        "problems": [
            {**row, "node": name}
            for row in resource["problems"]
            for name, original in originals.items()
            if original == row["node"]
        ],
    }
    for state in resource["states"]:
        _count_state(state, nodes.values())
    for cause in resource["causes"]:
        _count_cause(cause, resource["problems"])
    return page.render(data)


def _count_state(state: dict[str, Any], nodes: Collection[Mapping[str, Any]]) -> None:
    """Correct how many nodes have a state, all and by group; one of the cluster is on none."""
    groups = state.get("groups") or []
    for part in (state, *groups) if groups else ():
        # Of one group are all nodes, whatever it is called.
        phases = [
            node["states"][state["name"]]
            for node in nodes
            if part is state or len(groups) == 1 or part["title"] in node["group"].split(", ")
        ]
        part |= {"ready": phases.count("ready"), "total": len(phases)}


def _count_cause(cause: dict[str, Any], problems: Collection[Mapping[str, Any]]) -> None:
    """Correct on how many nodes a cause is, and what is behind it: on each of them."""
    names = [
        row["node"]
        for row in problems
        if all(row[key] == cause[key] for key in ("state", "phase", "reason"))
    ]
    cause |= {
        "nodes": len(names),
        "examples": names[:3],
        "blocked": [{**each, "nodes": len(names)} for each in cause["blocked"]],
    }


def photograph() -> None:
    """Write what Chromium shows of the page, where there is Chromium. Nothing compares it: each machine's
    fonts make another picture."""
    from tests.gates import browser  # noqa: PLC0415 - its client is a tool of the site

    if program := browser.program():
        with browser.running(program) as tab:
            tab.call("Emulation.setScrollbarsHidden", hidden=True)
            tab.show(PAGE, WIDTH, HEIGHT)
            PICTURE.write_bytes(tab.picture())
