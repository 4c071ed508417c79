# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The dashboard of all special resources: each panel with what Prometheus answered to its query, drawn
plainly and not by Grafana.

`python -m docs.pictures.dashboard URL`, with a Prometheus that scrapes kube-state-metrics, keeps its
answers in dashboard.json."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import requests

from docs.pictures.svg import GREY, WHITE, Box, Drawing

DATA = Path(__file__).resolve().parent / "dashboard.json"
_WIDTH, _GAP = 1200, 14
_STAT_HEIGHT, _PANEL_HEIGHT, _TOP = 84, 156, 62
_STATS, _ROWS, _ROW = 4, 5, 20
_SPAN_S, _STEP_S = 600, 5
_COLOURS = ("#3274d9", "#c4162a", "#37872d", "#e0752d", "#8f3bb8", "#5f6b7a")
_NO_LABEL = ("__name__", "instance", "job")


def answers(address: str, panels: Sequence[Any]) -> dict[str, Any]:
    """What Prometheus answers now to each panel, of curves about the last minutes."""
    now = int(time.time())
    found = []
    for panel in panels:
        query = {"query": panel.expression.replace("$cluster", ".*")}
        is_curve = panel.type == "timeseries"
        span = {"start": now - _SPAN_S, "end": now, "step": _STEP_S} if is_curve else {"time": now}
        kind = "query_range" if is_curve else "query"
        answer = requests.get(f"{address}/api/v1/{kind}", params={**query, **span}, timeout=10)
        answer.raise_for_status()
        series = [
            {
                "labels": {k: v for k, v in each["metric"].items() if k not in _NO_LABEL},
                "values": [
                    [at, float(value)] for at, value in each.get("values", [each.get("value")])
                ],
            }
            for each in answer.json()["data"]["result"]
        ]
        said = {"title": panel.title, "type": panel.type, "unit": panel.unit}
        found.append({**said, "expression": panel.expression, "series": series})
    return {"asked": now, "panels": found}


def read() -> dict[str, Any]:
    """What was kept."""
    found: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return found


def draw() -> Drawing:
    """All panels in their places: four numbers in a line, then two panels in each."""
    asked = read()
    panels = asked["panels"]
    others = panels[_STATS:]
    height = _TOP + _STAT_HEIGHT + _GAP + (len(others) + 1) // 2 * (_PANEL_HEIGHT + _GAP)
    picture = Drawing(_WIDTH, height, "The dashboard of special resources, from real metrics")
    picture.text(_GAP, 28, "Special resources", 18, bold=True, anchor="start")
    note = (
        "What Prometheus answered over kube-state-metrics on a cluster of simulated nodes; "
        "Grafana draws the same panels."
    )
    picture.text(_GAP, 48, note, 12, colour=GREY, anchor="start")
    width = (_WIDTH - _GAP * (_STATS + 1)) / _STATS
    for at, panel in enumerate(panels[:_STATS]):
        box = Box(_GAP + at * (width + _GAP), _TOP, width, _STAT_HEIGHT)
        _stat(picture, box, panel)
    half, whole = (_WIDTH - 3 * _GAP) / 2, _WIDTH - 2 * _GAP
    for at, panel in enumerate(others):
        y = _TOP + _STAT_HEIGHT + _GAP + at // 2 * (_PANEL_HEIGHT + _GAP)
        is_alone = at % 2 == 0 and panel is others[-1]
        box = Box(_GAP + at % 2 * (half + _GAP), y, whole if is_alone else half, _PANEL_HEIGHT)
        draw_panel = _curves if panel["type"] == "timeseries" else _table
        draw_panel(picture, box, panel, asked["asked"])
    return picture


def _titled(picture: Drawing, box: Box, title: str) -> None:
    picture.box(box, WHITE)
    picture.text(box.x + 10, box.y + 20, title, 13, bold=True, anchor="start")


def _stat(picture: Drawing, box: Box, panel: Mapping[str, Any]) -> None:
    _titled(picture, box, panel["title"])
    values = [each["values"][-1][1] for each in panel["series"]]
    picture.text(
        box.middle, box.bottom - 18, _said(values[0], panel["unit"]) if values else "No data", 28
    )


def _rows(picture: Drawing, box: Box, panel: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The panel's series, below its title; where there are none, that is written there."""
    _titled(picture, box, panel["title"])
    rows: Sequence[Mapping[str, Any]] = panel["series"]
    if not rows:
        picture.text(box.middle, box.centre, "No data", 13, colour=GREY)
    return rows


def _table(picture: Drawing, box: Box, panel: Mapping[str, Any], _asked: int) -> None:
    rows = _rows(picture, box, panel)
    if not rows:
        return
    names = sorted({name for row in rows for name in row["labels"]})
    width = (box.width - 20) / (len(names) + 1)
    for at, name in enumerate([*names, "Value"]):
        x = box.x + 10 + at * width
        picture.text(x, box.y + 44, name, 12, colour=GREY, anchor="start")
        for line, row in enumerate(rows[:_ROWS], start=1):
            cell = (
                row["labels"].get(name, "")
                if name in names
                else _said(row["values"][-1][1], panel["unit"])
            )
            picture.text(x, box.y + 44 + line * _ROW, _short(cell, width), 12, anchor="start")
    picture.line(box.x + 10, box.y + 50, box.right - 10, box.y + 50)


def _curves(picture: Drawing, box: Box, panel: Mapping[str, Any], asked: int) -> None:
    rows = _rows(picture, box, panel)
    if not rows:
        return
    most = max(value for row in rows for _at, value in row["values"]) or 1
    left, right, top, bottom = box.x + 56, box.right - 12, box.y + 34, box.bottom - 44
    for share in (0, 0.5, 1):
        y = bottom - share * (bottom - top)
        picture.line(left, y, right, y)
        picture.text(
            left - 6, y + 4, _said(share * most, panel["unit"]), 11, colour=GREY, anchor="end"
        )
    for at, row in enumerate(rows):
        colour = _COLOURS[at % len(_COLOURS)]
        points = [
            (
                right - (asked - moment) / _SPAN_S * (right - left),
                bottom - value / most * (bottom - top),
            )
            for moment, value in row["values"]
        ]
        picture.curve(points, colour)
    picture.text(left, bottom + 15, f"{_SPAN_S // 60} min ago", 11, colour=GREY, anchor="start")
    picture.text(right, bottom + 15, "now", 11, colour=GREY, anchor="end")
    width = (right - left) / len(rows)
    for at, row in enumerate(rows):
        # The last of its labels in the order of the alphabet tells it from the others.
        name = row["labels"][max(row["labels"])]
        picture.text(
            left + at * width,
            box.bottom - 10,
            _short(name, width),
            11,
            colour=_COLOURS[at % len(_COLOURS)],
            anchor="start",
        )


def _short(text: str, width: float) -> str:
    """As much of a text as a cell of this width has room for."""
    most = int(width / 7.6)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _said(value: float, unit: str) -> str:
    if unit == "percentunit":
        return f"{100 * value:.0f} %"
    if unit == "s":
        return f"{value / 60:.0f} min" if value >= 120 else f"{value:.0f} s"
    return f"{value:g}"


def main() -> int:
    """Ask, and keep the answers."""
    # It needs the collection on Python's path; drawing does not.
    from docs.reference.fleet_dashboard import PANELS  # noqa: PLC0415

    DATA.write_text(json.dumps(answers(sys.argv[1], PANELS), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
