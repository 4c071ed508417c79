# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The newest report in the end of an agent's log."""

from __future__ import annotations

import json
from typing import Any

import pytest

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


ODD: list[dict[str, Any]] = [
    {"l3": {"0": "0-99999999"}},
    {"l3": ["0-3"]},
    {"resctrl": {"cbm_mask": "fff\u0660"}},
    {"resctrl": {"cbm_mask": "f" * 5000}},
    {"resctrl": {"groups": {"COS1": {"schemata": {"L3": {"0": "0x7"}}}}}},
    {"resctrl": {"groups": {"COS1": {"schemata": {"MB": {"0": "many"}}}}}},
    {"resctrl": "no"},
    {"pools": {"guaranteed": 10**12}},
    {"pools": {"guaranteed": -1}},
    {"pools": {"os_cpus": "all"}},
    {"interval": "soon"},
    {"interval": 1e300},
    {"declared": {"a": "b"}},
    {"problems": [{}]},
    {"cpu_manager": {"entries": {"uid": ["0"]}}},
    {"cgroups": {"uid": {"container": 7}}},
]


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_a_report_whose_fields_are_odd_is_none(odd: dict[str, Any]) -> None:
    text = json.dumps({"schema": 3, "node": "n1", **odd})
    assert parse_report(f"{OLD}\n{text}\n") == {"schema": 3, "node": "old"}


@pytest.mark.parametrize("line", ["[" * 10_000, '{"schema": 3, "interval": NaN}', "9" * 5000])
def test_a_line_that_no_parser_takes_is_no_report(line: str) -> None:
    assert parse_report(f"{OLD}\n{line}\n") == {"schema": 3, "node": "old"}


def test_null_is_nothing() -> None:
    nulls = {"schema": 3, "cpu_manager": None, "pools": None, "resctrl": None, "cgroups": {}}
    assert parse_report(json.dumps(nulls)) == nulls
