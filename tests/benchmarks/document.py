# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document of what was measured: a section for each table, with its own day and load. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tests.benchmarks.tables import Table

_SECTION = re.compile(r"(?m)^## (.*)\n")


def sections_of(text: str) -> dict[str, str]:
    """Title -> section, in the order in which they stand."""
    _head, *found = _SECTION.split(text)
    return {
        title: f"## {title}\n{rest.rstrip()}"
        for title, rest in zip(found[::2], found[1::2], strict=True)
    }


def section(table: Table, day: str, load: str) -> str:
    """A table, and when and beside what it was measured. day: as in ISO 8601; load: averages of the
    machine's load, before and after."""
    return f"{table.markdown()}\nMeasured on {day}, load {load}."


def document(about: Sequence[str], sections: Mapping[str, str]) -> str:
    """All of it. about: sentences that hold for every table."""
    how = (
        "Measured by `make bench` (`python -m tests.benchmarks --write`; with `--only NAME` that"
        " table alone is measured again); do not edit by hand."
    )
    head = ["# Benchmarks", "", how, "", *(f"- {line}" for line in about), ""]
    return "\n".join(head) + "\n" + "\n\n".join(sections.values()) + "\n"
