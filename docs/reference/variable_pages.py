# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where variables of playbooks are documented: in tables of the page of their subject."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[1]
# Of what concerns all subjects; the list of the others is there, too.
COMMON = DOCS / "admin" / "variables.md"
_HEAD = re.compile(r"^\| variable \| default \|")


@dataclass(frozen=True)
class VariableRow:
    """A row of such a table. names: one, or a few that belong together. section: the heading that it
    stands below, as links name it."""

    page: Path
    section: str
    names: tuple[str, ...]
    cells: tuple[str, ...]


def pages() -> list[Path]:
    """The pages that may have such tables."""
    return [*sorted((DOCS / "admin").glob("*.md")), DOCS / "recipes" / "writing.md"]


def rows(page: Path) -> Iterator[VariableRow]:
    """All of a page."""
    section, in_table = "", False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            section = re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-")
        in_table = bool(_HEAD.match(line)) or (in_table and line.startswith("|"))
        cells = tuple(cell.strip() for cell in line.strip("|").split("|"))
        names = tuple(re.findall(r"`(\w+)`", cells[0])) if in_table else ()
        if names:
            yield VariableRow(page, section, names, cells)


def index() -> list[str]:
    """The variables of single subjects, by page."""
    lines = ["| subject | variables |", "|---|---|"]
    for page in pages():
        found = [] if page == COMMON else [*rows(page)]
        if found:
            title = page.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
            place = "../recipes/writing.md" if page.parent.name == "recipes" else page.name
            names = ", ".join(f"`{name}`" for row in found for name in row.names)
            lines.append(f"| [{title}]({place}#{found[0].section}) | {names} |")
    return lines
