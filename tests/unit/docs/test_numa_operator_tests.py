# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of the NUMA Resources Operator's own tests: each has a test of ours that is there, or a reason."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from docs.reference.tables import NUMA_OPERATOR_TESTS
from tests.integration.numa.placement_cases import CASES

Obj = dict[str, Any]
REPO = Path(__file__).resolve().parents[3]
TABLE: Obj = yaml.safe_load(NUMA_OPERATOR_TESTS.read_text())
ROWS: list[Obj] = [row for rows in TABLE["tests"].values() for row in rows]
# Of the operator, at the commit that the table names; one more id is of a test that it has taken out.
IDS, WITHOUT_IDS = 144, 11


def defined(file: str) -> set[str]:
    """The functions of a file."""
    tree = ast.parse((REPO / file).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_test_of_the_operator_is_there_once() -> None:
    counts = Counter(row["id"] for row in ROWS)
    assert max(counts.values()) == 1
    numbered = [name for name in counts if name.isdigit()]
    assert (len(numbered), len(counts) - len(numbered)) == (IDS, WITHOUT_IDS)


def test_each_has_a_test_here_or_a_reason() -> None:
    for row in ROWS:
        assert ("shown" in row) != ("none" in row), row["id"]
        assert row.keys() <= {"id", "what", "shown", "but", "none"}, row["id"]
        assert not ("but" in row and "none" in row), row["id"]


def test_the_tests_that_it_names_are_there() -> None:
    known = {f"case/{case.name}" for case in CASES}
    for name, file in TABLE["files"].items():
        known |= {f"{name}/{function}" for function in defined(file)}
    named = {name for row in ROWS for name in row.get("shown", ())}
    assert named - known == set()
    assert {name.partition("/")[0] for name in named} == {"case", *TABLE["files"]}
