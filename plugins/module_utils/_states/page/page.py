# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page about clusters, from its data: one file of HTML with nothing beside it. All that it says is
escaped, since much of it is what clusters say. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._json import Obj
from ..._times import seconds
from ..validation.causes import SEVERITY, place
from ..validation.table import OLDER_TODO, duration, older
from . import graph_layout
from .page_template import PAGE, STYLE

try:
    import jinja2
except ImportError:
    jinja2 = None  # type: ignore[assignment]

SHOWN_CAUSES, SHOWN_NODES, _LATEST = 20, 30, 5
_APART_S = 10
# What is younger was seen just now for the first time, and may have been so for long.
_LASTING_S = 2
_SHORT = 26
# The class by which a phase, or a severity, is drawn.
_SIGNS = {
    "ready": "r",
    "info": "l",
    "leaving": "l",
    "vanished": "v",
    "drifted": "v",
    "failed": "f",
    "degraded": "f",
    "error": "f",
    "blocked": "b",
    "waiting": "w",
    "starting": "w",
    "warning": "w",
}
_GLYPHS = {"r": "✓", "f": "✕", "b": "⊘", "w": "…", "v": "≠", "l": "→"}
_WORST_FIRST = ("error", *(phase.value for phase in SEVERITY[:-1]), "drifted", "empty", "ready")
# Up to how many nodes a cell has which size.
_SIZES = ((150, ""), (1000, "m"))


@dataclass(frozen=True)
class _Group:
    title: str
    nodes: Sequence[tuple[str, Obj]]

    @property
    def ready(self) -> int:
        return sum(node["phase"] == "ready" for _name, node in self.nodes)


def render(data: Mapping[str, Any]) -> str:
    """The page as HTML; data: as docs/admin/report.schema.json says."""
    made = seconds(data["made"]) or 0.0

    def age(moment: str) -> float:
        return max(made - (seconds(moment) or made), 0)

    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "as_json": lambda value: json.dumps(value, ensure_ascii=False),
        "counted": _counted,
        "glyph": lambda phase: _GLYPHS.get(_sign(phase), "?"),
        "grouped": _grouped,
        "lasting": lambda moment: duration(age(moment)),
        "lay_out": graph_layout.lay_out,
        "moment": lambda moment: moment.replace("T", " ").replace("Z", " UTC"),
        "older": lambda found: older(found, age),
        "place": place,
        "ready_last": _ready_last,
        "row_of_node": _row_of_node,
        "said": _said,
        "short": lambda name: name if len(name) <= _SHORT else f"{name[: _SHORT - 1]}…",
        "sign": _sign,
        "size": lambda count: next((size for most, size in _SIZES if count <= most), "s"),
    }
    environment.tests["lasting"] = lambda moment: age(moment) >= _LASTING_S
    return environment.from_string(PAGE.lstrip().replace("STYLE", STYLE.replace("\n", ""))).render(
        data=data,
        title=_title(data["clusters"]),
        box_width=graph_layout.BOX_WIDTH,
        box_height=graph_layout.BOX_HEIGHT,
        older_todo=OLDER_TODO,
        shown_causes=SHOWN_CAUSES,
        shown_nodes=SHOWN_NODES,
    )


def _title(clusters: Sequence[Mapping[str, Any]]) -> str:
    """How all stand, in a few words: what a tab of a browser, or a screen reader, says first."""
    phases = Counter(each["phase"] for cluster in clusters for each in cluster["resources"])
    phases["error"] = sum(bool(cluster["error"]) for cluster in clusters)
    said = [f"{phases[phase]} {phase}" for phase in _WORST_FIRST if phases[phase]]
    return f"Special resources: {', '.join(said) or 'nothing is enabled'}"


def _sign(phase: str) -> str:
    return _SIGNS.get(phase, "u")


def _counted(nodes: Mapping[str, Obj]) -> list[tuple[str, int]]:
    """Phases and how many nodes have each, the most first."""
    return Counter(node["phase"] for node in nodes.values()).most_common()


def _grouped(nodes: Mapping[str, Obj]) -> list[_Group]:
    titles = sorted({node["group"] for node in nodes.values()})
    return [
        _Group(title, [each for each in nodes.items() if each[1]["group"] == title])
        for title in titles
    ]


def _row_of_node(problems: Sequence[Mapping[str, Any]], shown: int) -> dict[str, str]:
    """Where in the table of problems a node is: the id of its first row."""
    rows: dict[str, str] = {}
    for index, row in enumerate(problems[:shown]):
        rows.setdefault(row["node"], f"n{index}")
    return rows


def _said(node: Mapping[str, Any]) -> str:
    """A node in words: "failed, driver failed, plugin blocked"."""
    states = [f"{name} {phase}" for name, phase in node["states"].items() if phase != "ready"]
    return ", ".join([node["phase"], *states])


def _ready_last(nodes: Mapping[str, Obj]) -> list[tuple[str, str]]:
    found = [
        (name, node["since"])
        for name, node in nodes.items()
        if node["phase"] == "ready" and node["since"]
    ]
    latest = sorted(found, key=lambda each: each[1], reverse=True)
    # Who merely looks has seen all of them at once, and knows nothing of who was slow.
    apart = latest and (seconds(latest[0][1]) or 0) - (seconds(latest[-1][1]) or 0) > _APART_S
    return latest[:_LATEST] if apart else []
