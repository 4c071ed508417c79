# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was measured is kept until the same is measured again."""

from __future__ import annotations

from tests.benchmarks.document import document, section, sections_of
from tests.benchmarks.tables import Table
from tests.integration.plays import REPO

ABOUT = ["Machine: small."]


def measured(title: str, figure: str, day: str) -> dict[str, str]:
    """One table of one day."""
    table = Table(title, ("what", "s"), [["run", figure]], ["As it came."])
    return {title: section(table, day, "0.1 before and 0.2 after")}


def test_a_table_that_is_measured_again_stands_where_it_stood() -> None:
    first = measured("Runs", "1", "2026-01-01") | measured("Floor", "2", "2026-01-01")
    found = sections_of(document(ABOUT, first)) | measured("Runs", "3", "2026-01-02")
    text = document(ABOUT, found)

    assert "| run | 1 |" not in text
    assert text.index("| run | 3 |") < text.index("2026-01-02") < text.index("| run | 2 |")
    assert text.index("| run | 2 |") < text.index("2026-01-01")


def test_a_new_table_stands_by_itself_behind_the_last_one() -> None:
    found = sections_of(document(ABOUT, measured("Runs", "1", "2026-01-01")))
    text = document(ABOUT, found | measured("Floor", "2", "2026-01-02"))

    assert " after.\n\n## Floor\n" in text


def test_the_document_that_is_there_stays_as_it_is() -> None:
    text = (REPO / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    about = [line[2:] for line in text.partition("\n## ")[0].splitlines() if line.startswith("- ")]

    assert document(about, sections_of(text)) == text
