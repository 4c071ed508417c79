# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables for the terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A title, columns, rows of text (the first column names the row), and sentences below."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def text(self) -> str:
        """For a terminal: first column to the left, figures to the right."""
        lines = [self.columns, *self.rows]
        widths = [max(len(line[index]) for line in lines) for index in range(len(self.columns))]
        rendered = [
            "  ".join(_cell(cell, widths, index) for index, cell in enumerate(line)).rstrip()
            for line in lines
        ]
        rule = "  ".join("-" * width for width in widths)
        return "\n".join(["", self.title, "", rendered[0], rule, *rendered[1:], "", *self.notes])

    def markdown(self) -> str:
        """A section of a document."""
        aligned = [":--", *("--:" for _round in self.columns[1:])]
        lines = [f"| {' | '.join(line)} |" for line in (self.columns, aligned, *self.rows)]
        notes = [f"{note}\n" for note in self.notes]
        return "\n".join([f"## {self.title}", "", *lines, "", *notes])


def seconds(value: float) -> str:
    """Seconds with as many decimals as mean something."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def _cell(cell: str, widths: Sequence[int], index: int) -> str:
    return cell.ljust(widths[index]) if index == 0 else cell.rjust(widths[index])
