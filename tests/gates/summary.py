# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How steps ended, as a table whose last line is: N passed, N failed."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

TAIL_LINES = 80


@dataclass
class Outcome:
    """Counts of one step; a step without a test report counts as one test.

    `cpu_seconds`: user and system time of all its processes, which other steps beside it disturb
    less; `clusters`: that of its clusters' daemons, by program. `failures`: a line for each failed
    test, its name and what it said. `files`: whether all tests of a file passed; `file_seconds`: how
    long they took. `reused`: what did not run, as it had passed before.
    """

    step: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    clusters: Counter[str] = field(default_factory=Counter)
    remark: str = ""
    failures: list[str] = field(default_factory=list)
    files: dict[str, bool] = field(default_factory=dict)
    file_seconds: dict[str, float] = field(default_factory=dict)
    reused: str = ""


def tell(outcome: Outcome, log: Path | None) -> None:
    """How a step ended, with the end of its log if it failed."""
    name, seconds = outcome.step, f"{outcome.seconds:.1f} s"
    if not outcome.failed:
        print(f"    {name}: ok, {seconds}", flush=True)
        return
    if log:
        for line in log.read_text(errors="replace").splitlines()[-TAIL_LINES:]:
            print(f"    | {line}")
        print(f"    the whole output: {log}")
    print(f"    {name}: FAILED after {seconds}: {outcome.remark}", flush=True)


def report(outcomes: Sequence[Outcome], seconds: float) -> None:
    """Print the table, what failed, and the last line: N passed, N failed."""
    columns = (
        f"{'seconds':>8} {'CPU s':>8} {'clusters':>8} {'passed':>7} {'failed':>7} {'skipped':>8}"
    )
    print(f"\n{'step':<22} {columns}")
    for outcome in outcomes:
        clusters = outcome.clusters.total()
        times = f"{outcome.seconds:>8.1f} {outcome.cpu_seconds:>8.1f} {clusters:>8.1f}"
        counts = f"{outcome.passed:>7} {outcome.failed:>7} {outcome.skipped:>8}"
        remarks = "; ".join(filter(None, (outcome.remark, outcome.reused)))
        print(f"{outcome.step:<22} {times} {counts}  {remarks}".rstrip())
    programs = sum((outcome.clusters for outcome in outcomes), Counter[str]())
    cpu_seconds = sum(outcome.cpu_seconds for outcome in outcomes)
    print(f"{'all':<22} {seconds:>8.1f} {cpu_seconds:>8.1f} {programs.total():>8.1f}\n")
    if programs:
        shares = (f"{name} {cost:.0f}" for name, cost in programs.most_common(6))
        print(f"CPU seconds of clusters by program: {', '.join(shares)}")
    # After the table: who sees only the end of a long output sees which tests failed.
    for failure in (failure for outcome in outcomes for failure in outcome.failures):
        print(f"failed: {failure}")
    passed, failed, skipped = (
        sum(getattr(o, name) for o in outcomes) for name in ("passed", "failed", "skipped")
    )
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.stdout.flush()
