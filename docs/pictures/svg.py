# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The few shapes that the pictures of the documentation are made of. Lengths are pixels, y grows
downwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
INK, GREY, LINE = "#1f2933", "#5f6b7a", "#8a96a3"
BLUE, GREEN, YELLOW, RED, WHITE = "#dcebfa", "#dff3e4", "#fdf3d0", "#fbe0dd", "#ffffff"


@dataclass(frozen=True)
class Box:
    """A rectangle by its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """x of its vertical middle line."""
        return self.x + self.width / 2

    @property
    def centre(self) -> float:
        """y of its horizontal middle line."""
        return self.y + self.height / 2

    @property
    def right(self) -> float:
        """x of its right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """y of its lower edge."""
        return self.y + self.height


@dataclass
class Drawing:
    """A picture under construction; str() is the SVG. title is what a screen reader says."""

    width: int
    height: int
    title: str
    parts: list[str] = field(default_factory=list)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: int = 13,
        bold: bool = False,
        colour: str = INK,
        anchor: str = "middle",
    ) -> None:
        """One line; y is its baseline, anchor one of start, middle, end."""
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"{weight}>'
            f"{escape(words)}</text>"
        )

    def box(self, box: Box, fill: str = WHITE, dashed: bool = False) -> None:
        """A rectangle with round corners."""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(
            f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" rx="7" fill="{fill}" '
            f'stroke="{LINE}" stroke-width="1.3"{dash}/>'
        )

    def labelled(
        self,
        box: Box,
        name: str,
        lines: Sequence[str] = (),
        fill: str = WHITE,
        dashed: bool = False,
    ) -> None:
        """A box with a bold name and smaller lines below it, as a block in its middle."""
        self.box(box, fill, dashed)
        height = 15 + 16 * len(lines)
        y = box.centre - height / 2 + 12
        self.text(box.middle, y, name, 14, bold=True)
        for number, line in enumerate(lines, 1):
            self.text(box.middle, y + 2 + 16 * number, line, 12, colour=GREY)

    def arrow(self, points: Sequence[tuple[float, float]], dashed: bool = False) -> None:
        """A line through points with a head at its end."""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{GREY}" stroke-width="1.5"{dash} marker-end="url(#head)"/>'
        )

    def curve(self, points: Sequence[tuple[float, float]], colour: str) -> None:
        """A line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """A thin line."""
        self.parts.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="#d5dbe1"/>'
        )

    def __str__(self) -> str:
        head = (
            '<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
            f'orient="auto-start-reverse"><path d="M0,1 L10,5 L0,9 z" fill="{GREY}"/></marker>'
        )
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" role="img" font-family="{FONT}">\n'
            f"<title>{escape(self.title)}</title>\n<defs>{head}</defs>\n"
            f'<rect width="{self.width}" height="{self.height}" rx="10" fill="#ffffff"/>\n{body}\n</svg>\n'
        )
