# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Break what is promised, rule by rule, in copies of the working tree: exit code 1 where no test notices."""

from __future__ import annotations

import argparse
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

from tests.gates.place import Place
from tests.mutations.rules import Rule, load
from tests.mutations.tree import PASSED, PATIENCE_S, Copy
from tests.mutations.trial import Verdict, judge_all


def main() -> int:
    """Exit code 0 only if the tests pass as they are, and one of them fails for each rule."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument(
        "-k", dest="words", default="", help="only promises, areas and files that contain this"
    )
    parser.add_argument("-j", dest="jobs", type=int, default=2, help="how many at a time")
    parser.add_argument(
        "--junit-xml", type=Path, help="where to write a report with a test for each rule"
    )
    options = parser.parse_args()
    words = options.words.lower()
    rules = [rule for rule in load() if words in f"{rule.area} {rule.promise} {rule.file}".lower()]
    with tempfile.TemporaryDirectory(prefix="he-mutations-") as folder:
        copies = [Copy(Path(folder) / str(number), Place()) for number in range(options.jobs)]
        return _run(rules, copies, options.junit_xml)


def _run(rules: Sequence[Rule], copies: Sequence[Copy], report: Path | None) -> int:
    tests = sorted({file for rule in rules for file in rule.tests})
    print(f"{len(rules)} rules; their {len(tests)} test files without any mutation", flush=True)
    sound = copies[0].run(tests, "-n", str(len(copies)), patience_s=5 * PATIENCE_S)
    if sound.code != PASSED:
        print(f"{sound.output}\nthe tests have to pass before anything is broken")
        return 1
    verdicts: dict[Rule, Verdict] = {}
    for verdict in judge_all(rules, copies):
        verdicts[verdict.rule] = verdict
        said = f"!!! {verdict.problem}" if verdict.problem else "noticed"
        line = f"{len(verdicts):>3}/{len(rules)} {verdict.seconds:>5.1f} s  {verdict.rule.promise}: {said}"
        print(line, flush=True)
    found = [verdicts[rule] for rule in rules]
    if report:
        _write(report, found)
    print(f"\n{_table(found)}\n")
    bad = sum(bool(verdict.problem) for verdict in found)
    print(f"{len(found) - bad} rules noticed, {bad} not")
    return 1 if bad else 0


def _table(verdicts: Sequence[Verdict]) -> str:
    width = max((len(verdict.rule.promise) for verdict in verdicts), default=0)
    rows = [f"{'rule':<{width}}  seconds  noticed by"]
    for verdict in verdicts:
        noticed = verdict.noticed.rpartition("/")[2] or f"!!! {verdict.problem}"
        rows.append(f"{verdict.rule.promise:<{width}}  {verdict.seconds:>7.1f}  {noticed}")
    return "\n".join(rows)


def _write(report: Path, verdicts: Sequence[Verdict]) -> None:
    """As JUnit writes it, for the gates' count."""
    bad = [verdict for verdict in verdicts if verdict.problem]
    suite = ET.Element(
        "testsuite", name="mutations", tests=str(len(verdicts)), failures=str(len(bad))
    )
    for verdict in verdicts:
        case = ET.SubElement(
            suite, "testcase", classname=verdict.rule.file, name=verdict.rule.promise
        )
        case.set("time", f"{verdict.seconds:.1f}")
        if verdict.problem:
            ET.SubElement(case, "failure", message=verdict.problem)
    report.parent.mkdir(parents=True, exist_ok=True)
    ET.ElementTree(suite).write(report, encoding="utf-8", xml_declaration=True)


if __name__ == "__main__":
    sys.exit(main())
