# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of promises fits the code, and who breaks them tells what is noticed from what is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.gates.place import Place
from tests.mutations.rules import REPO, Rule, RuleError, load
from tests.mutations.tree import Copy
from tests.mutations.trial import judge, judge_all

RULES = load()
PRUNE = Rule(
    area="a",
    promise="CRDs stay",
    file="plugins/module_utils/_states/cleanup/prune.py",
    text=" and key.kind not in NEVER",
    instead="",
    tests=("tests/unit/plugins/module_utils/states/test_prune.py",),
)


def test_there_are_at_least_40_and_each_is_there_once() -> None:
    promises = [rule.promise for rule in RULES]
    assert len(promises) >= 40
    assert len(set(promises)) == len(promises)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.promise)
def test_the_list_fits_the_code(rule: Rule) -> None:
    source = (REPO / rule.file).read_text()
    assert rule.broken(source) != source
    assert [test for test in rule.tests if not (REPO / test).is_file()] == []


def test_what_cannot_be_broken_is_said() -> None:
    source = (REPO / PRUNE.file).read_text()
    with pytest.raises(RuleError, match="has the text 0 times instead of once"):
        replace(PRUNE, text="is not there").broken(source)
    with pytest.raises(RuleError, match="no Python any more"):
        replace(PRUNE, instead=" and").broken(source)


def test_only_a_test_that_fails_has_noticed(tmp_path: Path) -> None:
    copy = Copy(tmp_path, Place())
    files = {path: path.read_bytes() for path in (REPO / PRUNE.file, copy.path / PRUNE.file)}
    harmless = replace(PRUNE, text="Namespaces and CRDs aside.", instead="All of them.")
    broken = replace(PRUNE, text="def candidates(", instead="def nothing(")
    verdicts = {verdict.rule: verdict for verdict in judge_all([PRUNE, harmless, broken], [copy])}
    assert verdicts[PRUNE].noticed.startswith(f"{PRUNE.tests[0]}::test_")
    assert verdicts[PRUNE].problem == ""
    assert verdicts[harmless].problem == f"no test of {PRUNE.tests[0]} notices"
    assert verdicts[broken].problem.startswith("the tests do not run: ")
    assert {path: path.read_bytes() for path in files} == files
    assert judge(PRUNE, copy).noticed
