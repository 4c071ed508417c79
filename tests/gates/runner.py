# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run steps beside each other as far as there are slots, and end with one line: N passed, N
failed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from tests.gates.dependencies import Repository
from tests.gates.place import REPO, Place
from tests.gates.results import Part, Results

HEARTBEAT_S = 60
TAIL_LINES = 80
REASON_CHARACTERS = 700


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


def _never(_step: Step) -> bool:
    """Everything runs."""
    return False


def _here() -> str:
    """Nothing keeps a step from running on this machine."""
    return ""


@dataclass(frozen=True)
class Step:
    """A gate: `commands` prepares what they need and yields them; the first that fails ends the
    step.

    It takes `slots` of those that all steps share: as many as its tests that run at a time.
    `lacking` says what this machine does not have for it; then it is skipped. `parts` gives the
    files that each part's result depends on, by its name: see results.py. A part of tests is a
    file of them.
    """

    name: str
    title: str
    commands: Callable[[Place], Iterator[Command]]
    slots: int = 1
    lacking: Callable[[], str] = _here
    parts: Callable[[Repository], Mapping[str, Iterable[str]]] | None = None


@dataclass
class Outcome:
    """Counts of one step; a step without a test report counts as one test.

    `cpu_seconds`: user and system time of all its processes, which other steps beside it disturb
    less. `failures`: a line for each failed test, its name and what it said. `files`: whether all
    tests of a file passed. `reused`: what did not run, as it had passed before.
    """

    step: Step
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    remark: str = ""
    failures: list[str] = field(default_factory=list)
    files: dict[str, bool] = field(default_factory=dict)
    reused: str = ""


def run(
    steps: Sequence[Step],
    place: Place,
    *,
    slots: int,
    verbose: bool = False,
    results: Results | None = None,
    reuse: Callable[[Step], bool] = _never,
) -> bool:
    """Run all steps, also after a failed one; True if none failed and not all were skipped.

    A step starts as soon as its slots are free, those named first before the others: so the longest
    come first. Verbose: output to the terminal, else to a log for each step. What passes is written
    to `results`; of the steps to `reuse` only the parts run that have not passed as they are now.
    """
    place.logs.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    lacking = {step.name: step.lacking() for step in steps}
    outcomes = {step.name: _not_run(step, lacking[step.name]) for step in steps}
    known = {step.name: _known_of(step, results, reuse=reuse(step)) for step in steps}
    for step in steps:
        outcomes[step.name].reused = known[step.name].remark
    waiting = [step for step in steps if not lacking[step.name] and not known[step.name].whole]
    running: dict[Future[Outcome], Step] = {}
    with ThreadPoolExecutor(len(steps)) as threads:
        while waiting or running:
            for step in waiting[:]:
                if (
                    sum(busy.slots for busy in running.values()) + step.slots <= slots
                    or not running
                ):
                    waiting.remove(step)
                    print(f"==> {step.name}: {step.title}", flush=True)
                    own = replace(place, step=step.name, parts=known[step.name].left)
                    known[step.name].write(own)
                    running[threads.submit(_run_step, step, own, verbose=verbose)] = step
            ended, _others = wait(running, timeout=HEARTBEAT_S, return_when=FIRST_COMPLETED)
            if not ended and not verbose:
                names = ", ".join(step.name for step in running.values())
                print(f"    ... {time.monotonic() - started:.0f} s, running: {names}", flush=True)
            for future in ended:
                step = running.pop(future)
                error = future.exception()
                outcome = Outcome(step, failed=1, remark=repr(error)) if error else future.result()
                outcome.reused = known[step.name].remark
                outcomes[step.name] = outcome
                if results and known[step.name].parts:
                    passed = known[step.name].passed_in(outcome)
                    results.record(step.name, known[step.name].parts, passed)
                _tell(outcome, None if verbose else _log(step, place))
    _report(list(outcomes.values()), time.monotonic() - started)
    return all(outcome.failed == 0 for outcome in outcomes.values()) and any(
        o.passed for o in outcomes.values()
    )


def _not_run(step: Step, lacking: str) -> Outcome:
    return Outcome(step, skipped=1, remark=f"skipped: {lacking}") if lacking else Outcome(step)


@dataclass(frozen=True)
class _Known:
    """What is known of a step's parts before it runs; by the name of those that passed, the run."""

    parts: Mapping[str, Part]
    passed: Mapping[str, str]

    @property
    def left(self) -> tuple[str, ...]:
        """The parts that have to run."""
        return tuple(sorted(set(self.parts) - set(self.passed)))

    @property
    def whole(self) -> bool:
        """Whether nothing of the step has to run."""
        return bool(self.parts) and not self.left

    @property
    def remark(self) -> str:
        """What of the step does not run, and why not."""
        if not self.passed:
            return ""
        runs = ", ".join(sorted(set(self.passed.values())))
        return f"{len(self.passed)} of {len(self.parts)} unchanged since they passed: {runs}"

    def write(self, place: Place) -> None:
        """Write down what the parts depend on, for tests to look whether that is all."""
        if self.parts:
            place.dependencies.parent.mkdir(parents=True, exist_ok=True)
            files = {name: sorted(part.files) for name, part in self.parts.items()}
            place.dependencies.write_text(json.dumps(files))

    def passed_in(self, outcome: Outcome) -> list[str]:
        """The parts that have passed now: file by file where tests were counted."""
        if outcome.files:
            return [name for name in self.left if outcome.files.get(name)]
        return [] if outcome.failed else list(self.left)


def _known_of(step: Step, results: Results | None, *, reuse: bool) -> _Known:
    if not results or not step.parts:
        return _Known({}, {})
    parts = {name: results.part(files) for name, files in step.parts(results.repository).items()}
    return _Known(parts, results.passed(step.name, parts) if reuse else {})


def _log(step: Step, place: Place) -> Path:
    return place.logs / f"{step.name}.log"


def _run_step(step: Step, place: Place, *, verbose: bool) -> Outcome:
    outcome = Outcome(step)
    started = time.monotonic()
    with _log(step, place).open("w") as log:
        outcome.remark = _run_commands(step, place, outcome, None if verbose else log)
    outcome.seconds = time.monotonic() - started
    if outcome.remark:
        outcome.failed = max(outcome.failed, 1)
    else:
        outcome.passed = outcome.passed or 1
    return outcome


def _run_commands(step: Step, place: Place, outcome: Outcome, log: IO[str] | None) -> str:
    """Why the step failed, or nothing."""
    try:
        for command in step.commands(place):
            code, cpu_seconds = _execute(command, place, log)
            outcome.cpu_seconds += cpu_seconds
            counted = _count(command.junit, outcome)
            if code:
                program = Path(command.argv[0]).name
                return f"{program} ended with exit code {code}"
            if command.junit and not counted:
                return f"{command.junit.name} was not written, so nothing is known about its tests"
    except StepError as error:
        return str(error)
    return ""


def _execute(command: Command, place: Place, log: IO[str] | None) -> tuple[int, float]:
    """Exit code, and seconds of CPU of the program and of all that it has started and waited for."""
    if command.junit:
        command.junit.unlink(missing_ok=True)
    env = {**place.environment(), **command.env}
    if log:
        env.update(NO_COLOR="1", ANSIBLE_NOCOLOR="1")
    try:
        process = subprocess.Popen(
            command.argv, cwd=command.cwd, env=env, stdout=log, stderr=log and subprocess.STDOUT
        )
    except OSError as error:
        raise StepError(f"{command.argv[0]} does not start: {error.strerror}") from None
    with process:
        _pid, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


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
        outcome.failures += _failures(suite)
        _note_files(suite, outcome.files)
    outcome.passed += total - bad - skipped
    outcome.failed += bad
    outcome.skipped += skipped
    return True


def _note_files(suite: ET.Element, files: dict[str, bool]) -> None:
    for case in suite.iter("testcase"):
        file = f"{case.get('classname', '').replace('.', '/')}.py"
        good = case.find("failure") is None and case.find("error") is None
        files[file] = files.get(file, True) and good


def _failures(suite: ET.Element) -> Iterator[str]:
    for case in suite.iter("testcase"):
        for kind in ("failure", "error"):
            if (found := case.find(kind)) is not None:
                reason = " ".join(found.get("message", "").split())[:REASON_CHARACTERS]
                yield f"{case.get('classname')}::{case.get('name')}: {reason}"


def _tell(outcome: Outcome, log: Path | None) -> None:
    """How a step ended, with the end of its log if it failed."""
    name, seconds = outcome.step.name, f"{outcome.seconds:.1f} s"
    if not outcome.failed:
        print(f"    {name}: ok, {seconds}", flush=True)
        return
    if log:
        for line in log.read_text(errors="replace").splitlines()[-TAIL_LINES:]:
            print(f"    | {line}")
        print(f"    the whole output: {log}")
    print(f"    {name}: FAILED after {seconds}: {outcome.remark}", flush=True)


def _report(outcomes: Sequence[Outcome], seconds: float) -> None:
    print(f"\n{'step':<22} {'seconds':>8} {'CPU s':>8} {'passed':>7} {'failed':>7} {'skipped':>8}")
    for outcome in outcomes:
        times = f"{outcome.seconds:>8.1f} {outcome.cpu_seconds:>8.1f}"
        counts = f"{outcome.passed:>7} {outcome.failed:>7} {outcome.skipped:>8}"
        remarks = "; ".join(filter(None, (outcome.remark, outcome.reused)))
        print(f"{outcome.step.name:<22} {times} {counts}  {remarks}".rstrip())
    print(f"{'all':<22} {seconds:>8.1f} {sum(each.cpu_seconds for each in outcomes):>8.1f}\n")
    # After the table: who sees only the end of a long output sees which tests failed.
    for failure in (failure for outcome in outcomes for failure in outcome.failures):
        print(f"failed: {failure}")
    passed, failed, skipped = (
        sum(getattr(o, name) for o in outcomes) for name in ("passed", "failed", "skipped")
    )
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.stdout.flush()
