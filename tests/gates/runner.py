# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run steps one after the other, show each one's seconds, and end with one line: N passed, N
failed."""

from __future__ import annotations

import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tests.gates.place import REPO, Place

HEARTBEAT_S = 60
TAIL_LINES = 80


class StepError(Exception):
    """A step cannot go on; the message is one sentence for a person."""


@dataclass(frozen=True)
class Command:
    """One program of a step. `junit` names the report that it writes, to count its tests one by
    one."""

    argv: Sequence[str]
    cwd: Path = REPO
    env: Mapping[str, str] = field(default_factory=dict)
    junit: Path | None = None


@dataclass(frozen=True)
class Step:
    """A gate: `commands` prepares what they need and yields them; the first that fails ends the
    step."""

    name: str
    title: str
    commands: Callable[[Place], Iterator[Command]]


@dataclass
class Outcome:
    """Counts of one step; a step without a test report counts as one test."""

    step: Step
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0


def run(steps: Sequence[Step], place: Place, *, verbose: bool) -> bool:
    """Run all steps, also after a failed one; True if none failed. Verbose: output to the terminal,
    else to a log."""
    place.logs.mkdir(parents=True, exist_ok=True)
    outcomes = [_run_step(step, place, verbose=verbose) for step in steps]
    _report(outcomes)
    return all(outcome.failed == 0 for outcome in outcomes)


def _run_step(step: Step, place: Place, *, verbose: bool) -> Outcome:
    print(f"==> {step.name}: {step.title}", flush=True)
    outcome = Outcome(step)
    started = time.monotonic()
    log_path = place.logs / f"{step.name}.log"
    with log_path.open("w") as log:
        failure = _run_commands(step, place, outcome, None if verbose else log)
    outcome.seconds = time.monotonic() - started
    if failure:
        outcome.failed = max(outcome.failed, 1)
        if not verbose:
            print(_tail(log_path), flush=True)
        print(f"    FAILED after {outcome.seconds:.1f} s: {failure}", flush=True)
    else:
        outcome.passed = outcome.passed or 1
        print(f"    ok, {outcome.seconds:.1f} s", flush=True)
    return outcome


def _run_commands(step: Step, place: Place, outcome: Outcome, log: IO[str] | None) -> str | None:
    """Why the step failed, or None."""
    try:
        for command in step.commands(place):
            code = _execute(command, place, log)
            counted = _count(command.junit, outcome)
            if code:
                program = Path(command.argv[0]).name
                return f"{program} ended with exit code {code}"
            if command.junit and not counted:
                return f"{command.junit.name} was not written, so nothing is known about its tests"
    except StepError as error:
        return str(error)
    return None


def _execute(command: Command, place: Place, log: IO[str] | None) -> int:
    """Exit code. While the output goes to a log, a line now and then shows that the program is
    alive."""
    if command.junit:
        command.junit.unlink(missing_ok=True)
    env = {**place.environment(), **command.env}
    if log:
        env.update(NO_COLOR="1", ANSIBLE_NOCOLOR="1")
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            command.argv, cwd=command.cwd, env=env, stdout=log, stderr=log and subprocess.STDOUT
        )
    except OSError as error:
        raise StepError(f"{command.argv[0]} does not start: {error.strerror}") from None
    with process:
        while True:
            try:
                return process.wait(timeout=HEARTBEAT_S if log else None)
            except subprocess.TimeoutExpired:
                print(
                    f"    ... {Path(command.argv[0]).name}, {time.monotonic() - started:.0f} s",
                    flush=True,
                )
            except KeyboardInterrupt:
                process.wait()
                raise


def _count(junit: Path | None, outcome: Outcome) -> bool:
    """Add the tests of a JUnit report to the outcome; False if there is none."""
    if not junit or not junit.is_file():
        return False
    # The file was written by the step that just ran, not by a stranger.
    suites = list(ET.parse(junit).getroot().iter("testsuite"))  # noqa: S314
    total, bad, skipped = 0, 0, 0
    for suite in suites:
        total += int(suite.get("tests", 0))
        bad += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped += int(suite.get("skipped", 0))
    outcome.passed += total - bad - skipped
    outcome.failed += bad
    outcome.skipped += skipped
    return True


def _tail(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    shown = "\n".join(f"    | {line}" for line in lines[-TAIL_LINES:])
    return f"{shown}\n    the whole output: {log}"


def _report(outcomes: Sequence[Outcome]) -> None:
    print(f"\n{'step':<16} {'seconds':>8} {'passed':>7} {'failed':>7} {'skipped':>8}")
    for outcome in outcomes:
        print(
            f"{outcome.step.name:<16} {outcome.seconds:>8.1f} {outcome.passed:>7} "
            f"{outcome.failed:>7} {outcome.skipped:>8}"
        )
    seconds = sum(outcome.seconds for outcome in outcomes)
    print(f"{'all':<16} {seconds:>8.1f}\n")
    passed, failed, skipped = (
        sum(getattr(o, name) for o in outcomes) for name in ("passed", "failed", "skipped")
    )
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.stdout.flush()
