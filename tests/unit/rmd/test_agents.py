# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The newest report in the end of an agent's log."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.agents import (
    parse_report,
)

OLD, NEW = '{"schema": 3, "node": "old"}', '{"schema": 3, "node": "new"}'


def test_the_last_complete_line() -> None:
    assert parse_report(f"{OLD}\n{NEW}\n") == {"schema": 3, "node": "new"}
    assert parse_report(f'{OLD}\n{{"schema": 3, "no') == {"schema": 3, "node": "old"}


def test_lines_that_are_no_report() -> None:
    assert parse_report(f'{OLD}\n[1]\nTraceback\n{{"schema": 1}}\n') == {"schema": 3, "node": "old"}
    assert parse_report("") is None
