# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the gate of one state on one node says, and what moves it."""

from __future__ import annotations

from docs.pictures.svg import GREEN, GREY, RED, WHITE, YELLOW, Box, Drawing


def draw() -> Drawing:
    """Four values, and the events between them."""
    picture = Drawing(860, 392, "The gate of one state on one node")
    none = Box(24, 70, 196, 64)
    ready = Box(345, 70, 170, 64)
    stale = Box(665, 70, 170, 64)
    degraded = Box(345, 268, 170, 64)
    picture.labelled(none, "no gate", ("dependants' pods stay away",), WHITE, dashed=True)
    picture.labelled(ready, "ready", ("proven, and it holds",), GREEN)
    picture.labelled(stale, "stale", ("to be proven again",), YELLOW)
    picture.labelled(degraded, "degraded", ("a proof ran and failed",), RED)

    picture.arrow([(none.right, 92), (ready.x - 1, 92)])
    picture.text(282, 84, "first proof passes", 12, colour=GREY)
    picture.arrow([(ready.right, 88), (stale.x - 1, 88)])
    _words(picture, 590, 44, "what is deployed, the kernel", "or the boot changed")
    picture.arrow([(stale.x, 116), (ready.right + 1, 116)])
    picture.text(590, 134, "proven again", 12, colour=GREY)
    picture.arrow([(405, ready.bottom), (405, degraded.y - 1)])
    _words(picture, 396, 196, "a proof fails for longer", "than failure_grace", anchor="end")
    picture.arrow([(455, degraded.y), (455, ready.bottom + 1)])
    picture.text(464, 204, "proven again", 12, colour=GREY, anchor="start")
    picture.arrow([(750, stale.bottom), (750, 300), (degraded.right + 1, 300)])
    picture.text(742, 262, "the new proof fails", 12, colour=GREY, anchor="end")
    picture.arrow(
        [(degraded.x, 300), (none.middle, 300), (none.middle, none.bottom + 1)], dashed=True
    )
    _words(picture, 230, 318, "on_regress: withdraw, disable,", "or the hardware is gone")
    picture.text(
        430,
        380,
        "Cannot be told (node NotReady, devices busy, API error): nothing is written, the last value stands.",
        12,
    )
    return picture


def _words(
    picture: Drawing, x: float, y: float, first: str, second: str, anchor: str = "middle"
) -> None:
    picture.text(x, y, first, 12, colour=GREY, anchor=anchor)
    picture.text(x, y + 16, second, 12, colour=GREY, anchor=anchor)
