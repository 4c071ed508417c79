# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the page of RMD's examples says that commands print: compared with what they print, or, with
HE_WRITE_EXAMPLES set, written from it."""

from __future__ import annotations

import re
import shlex
from typing import Protocol

from tests.cluster import Cluster
from tests.integration.guides import shown_on_page

PAGE = "admin/rmd-examples.md"
_AGE = re.compile(r"\d+[smh](\d+[smh])?")
_OTHER_EACH_TIME = re.compile(
    r" *(Last Transition Time|Last Seen|Boot ID|Node UID|Observed Generation): .*\n| *Message: *\n"
)
_ABOUT_THE_OBJECT = re.compile(
    r"^(Labels|Annotations|Metadata|Events):.*\n(?: .*\n)*", re.MULTILINE
)


class Shown(Protocol):
    """A cluster, and who divides the cache of its nodes, as the page calls it."""

    cluster: Cluster
    backend: str


def prints_what_the_page_says(bed: Shown, command: str) -> None:
    """command: of kubectl, as a user types it."""
    printed = _kept(bed.cluster.kubectl(*shlex.split(command)))
    shown = shown_on_page(PAGE, f"{bed.backend}: kubectl {command}", printed)
    assert shown == printed, f"{bed.backend} prints otherwise: kubectl {command}"


def _kept(printed: str) -> str:
    """Without what is another one each time, and what is about any object."""
    if printed.startswith("NAME "):
        return _table(printed)
    return _OTHER_EACH_TIME.sub("", _ABOUT_THE_OBJECT.sub("", printed)).rstrip() + "\n"


def _table(printed: str) -> str:
    rows = [re.split(r" {2,}", line.strip()) for line in printed.splitlines()]
    rows = [["5s" if _AGE.fullmatch(cell) else cell for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)
