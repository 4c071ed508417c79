# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Break all rules, several at a time, each in a copy that nobody else works in."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from tests.mutations.rules import Rule, RuleError
from tests.mutations.tree import FAILED, PASSED, Copy


@dataclass(frozen=True)
class Verdict:
    """What became of a broken rule. noticed: the test that failed, "" for none; then problem says what is wrong."""

    rule: Rule
    noticed: str
    problem: str
    seconds: float


def judge(rule: Rule, copy: Copy) -> Verdict:
    """Break one rule and see whether its tests notice."""
    started = time.monotonic()
    noticed, problem = "", ""
    try:
        with copy.without(rule):
            outcome = copy.run(rule.tests, "-x")
        if outcome.code == PASSED:
            problem = f"no test of {', '.join(rule.tests)} notices"
        elif outcome.code == FAILED and outcome.failed:
            noticed = outcome.failed[0]
        else:
            problem = f"the tests do not run: {outcome.output.strip().splitlines()[-1]}"
    except RuleError as error:
        problem = str(error)
    return Verdict(rule, noticed, problem, time.monotonic() - started)


def judge_all(rules: Sequence[Rule], copies: Sequence[Copy]) -> Iterator[Verdict]:
    """The verdicts as they come, one at a time for each copy."""
    free: queue.SimpleQueue[Copy] = queue.SimpleQueue()
    for copy in copies:
        free.put(copy)

    def work(rule: Rule) -> Verdict:
        copy = free.get()
        try:
            return judge(rule, copy)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        for future in as_completed([pool.submit(work, rule) for rule in rules]):
            yield future.result()
