# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The states of a recipe as a graph, drawn from recipe.yml itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from docs.pictures.svg import BLUE, GREEN, GREY, WHITE, Box, Drawing

WIDTH, HEIGHT, GAP_X, GAP_Y, EDGE, TOP = 310, 66, 24, 44, 24, 62
SHADOW = 5


def draw(recipe: Path) -> Drawing:
    """A row for each depth of requirements; states that nothing is required by or of stand beside
    the last one."""
    content = yaml.safe_load(recipe.read_text(encoding="utf-8"))
    states: Mapping[str, Mapping[str, Any]] = content["states"]
    rows: dict[int, list[str]] = defaultdict(list)
    for name in states:
        rows[_depth(states, name)].append(name)
    last = max(rows)
    for name in [name for name in rows[0] if not _joined(states, name)]:
        rows[0].remove(name)
        rows[last].append(name)
    width = EDGE * 2 + max(len(row) for row in rows.values()) * (WIDTH + GAP_X) - GAP_X + SHADOW
    picture = Drawing(
        width,
        TOP + (last + 1) * (HEIGHT + GAP_Y) - GAP_Y + EDGE,
        f"The states of the recipe {content['name']}",
    )
    places = {
        name: Box(
            _left(width, len(row)) + column * (WIDTH + GAP_X),
            TOP + depth * (HEIGHT + GAP_Y),
            WIDTH,
            HEIGHT,
        )
        for depth, row in rows.items()
        for column, name in enumerate(row)
    }
    _legend(picture)
    for name, state in states.items():
        for required in state.get("requires", ()):
            _edge(picture, places[required], places[name])
        _state(picture, places[name], name, state)
    return picture


def _depth(states: Mapping[str, Mapping[str, Any]], name: str) -> int:
    required = states[name].get("requires", ())
    return 1 + max(_depth(states, other) for other in required) if required else 0


def _joined(states: Mapping[str, Mapping[str, Any]], name: str) -> bool:
    return bool(states[name].get("requires")) or any(
        name in state.get("requires", ()) for state in states.values()
    )


def _left(width: int, count: int) -> float:
    return (width - count * (WIDTH + GAP_X) + GAP_X - SHADOW) / 2


def _edge(picture: Drawing, above: Box, below: Box) -> None:
    bend = below.y - GAP_Y / 2
    picture.arrow(
        [
            (above.middle, above.bottom),
            (above.middle, bend),
            (below.middle, bend),
            (below.middle, below.y - 1),
        ]
    )


def _state(picture: Drawing, box: Box, name: str, state: Mapping[str, Any]) -> None:
    fill = BLUE if state.get("assets") else GREEN
    if "kernel" in state.get("per", ()):
        picture.box(Box(box.x + SHADOW, box.y + SHADOW, box.width, box.height), fill)
    proofs = ", ".join(_proof(proof) for proof in state.get("validate", ()))
    lines = [f"proof: {proofs}" if proofs else "no proof of its own"]
    if state.get("image"):
        lines.insert(0, "finds the image")
    if state.get("enabled"):
        lines.append("where " + state["enabled"].strip("{} ").replace("options.", ""))
    picture.labelled(box, name, lines, fill)


def _proof(proof: Mapping[str, Any]) -> str:
    ((kind, settings),) = proof.items()
    if kind == "workload":
        return "test pod with a device" if (settings or {}).get("resource") else "test pod"
    return str(kind).replace("_", " ")


def _legend(picture: Drawing) -> None:
    x = float(EDGE)
    for fill, words, double in (
        (BLUE, "deploys objects", False),
        (GREEN, "only proves", False),
        (WHITE, "one per kernel", True),
    ):
        if double:
            picture.box(Box(x + 3, 21, 22, 14), fill)
        picture.box(Box(x, 18, 22, 14), fill)
        picture.text(x + 32, 30, words, 12, colour=GREY, anchor="start")
        x += 150
    picture.text(
        x,
        30,
        "arrow: what is below waits, node by node, for what is above",
        12,
        colour=GREY,
        anchor="start",
    )
