# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run steps beside each other as far as there are slots, and end with one line: N passed, N
failed."""

from __future__ import annotations

import json
import os
import subprocess
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import IO

from tests.gates.dependencies import Repository
from tests.gates.place import REPO, Place
from tests.gates.results import Known, Results
from tests.gates.summary import Outcome, report, tell

HEARTBEAT_S = 60
# How many steps that compute run at a time where no other does: each leaves a processor idle now and then.
COMPUTING_ALONE = 2
REASON_CHARACTERS = 2000
# pytest's exit code where all tests have run and some have failed.
TESTS_FAILED = 1


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


def never(_step: Step, _part: str) -> bool:
    """Everything runs."""
    return False


def always(_step: Step, _part: str) -> bool:
    """Nothing runs that has passed as it is."""
    return True


def _here() -> str:
    """Nothing keeps a step from running on this machine."""
    return ""


@dataclass(frozen=True)
class Step:
    """A gate: `commands` prepares what they need and yields them; the first that fails ends the
    step.

    It takes `slots` of those that all steps share: as many as its tests that run at a time.
    What `computes` has no cluster and waits for nothing: one such step at a time, or two where no
    other runs, takes the processor time that the others leave, and no slot.
    `lacking` says what this machine does not have for it; then it is skipped. `parts` gives the
    files that each part's result depends on, by its name: see results.py. A part of tests is a
    file of them.
    """

    name: str
    title: str
    commands: Callable[[Place], Iterator[Command]]
    slots: int = 1
    computes: bool = False
    lacking: Callable[[], str] = _here
    parts: Callable[[Repository], Mapping[str, Iterable[str]]] | None = None


def run(
    steps: Sequence[Step],
    place: Place,
    *,
    slots: int,
    verbose: bool = False,
    results: Results | None = None,
    reuse: Callable[[Step, str], bool] = never,
) -> bool:
    """Run all steps, also after a failed one; True if none failed and not all were skipped.

    A step starts as soon as its slots are free, those named first before the others: so the longest
    come first. Verbose: output to the terminal, else to a log for each step. What passes is written
    to `results`; a part to `reuse` does not run again as long as it is what it was when it passed.
    """
    place.logs.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    lacking = {step.name: step.lacking() for step in steps}
    outcomes = {step.name: _not_run(step, lacking[step.name]) for step in steps}
    known = {step.name: known_of(step, results, reuse) for step in steps}
    for step in steps:
        outcomes[step.name].reused = known[step.name].remark
    waiting = [
        _narrowed(step, known[step.name])
        for step in steps
        if not lacking[step.name] and not known[step.name].whole
    ]
    running: dict[Future[Outcome], Step] = {}
    with ThreadPoolExecutor(len(steps)) as threads:
        while waiting or running:
            for step in waiting[:]:
                if fits(step, running.values(), slots):
                    waiting.remove(step)
                    print(f"==> {step.name}: {step.title}", flush=True)
                    own = replace(place, step=step.name, parts=known[step.name].left)
                    known[step.name].write(own)
                    nice = _is_beside(step, slots)
                    running[threads.submit(_run_step, step, own, verbose=verbose, nice=nice)] = step
            ended, _others = wait(running, timeout=HEARTBEAT_S, return_when=FIRST_COMPLETED)
            if not ended and not verbose:
                names = ", ".join(step.name for step in running.values())
                print(f"    ... {time.monotonic() - started:.0f} s, running: {names}", flush=True)
            for future in ended:
                step = running.pop(future)
                error = future.exception()
                outcome = (
                    Outcome(step.name, failed=1, remark=repr(error)) if error else future.result()
                )
                outcome.reused = known[step.name].remark
                outcomes[step.name] = outcome
                if results and known[step.name].parts:
                    passed = _passed(known[step.name], outcome)
                    results.record(step.name, known[step.name].parts, passed, outcome.file_seconds)
                tell(outcome, None if verbose else _log(step, place))
    report(list(outcomes.values()), time.monotonic() - started)
    return all(outcome.failed == 0 for outcome in outcomes.values()) and any(
        o.passed for o in outcomes.values()
    )


def _narrowed(step: Step, known: Known) -> Step:
    """Of a level with several files of tests one runs in one process."""
    one = len(known.left) == 1 < len(known.parts)
    return replace(step, slots=(step.slots + 1) // 2) if one else step


def _is_beside(step: Step, slots: int) -> bool:
    """Whether it takes what the others leave; where there is one slot, all take turns."""
    return step.computes and slots > 1


def fits(step: Step, running: Collection[Step], slots: int) -> bool:
    """Whether it may start now; a step that wants more slots than there are does so alone."""
    if _is_beside(step, slots):
        others = [busy for busy in running if not busy.computes]
        return len(running) - len(others) < (1 if others else COMPUTING_ALONE)
    busy_slots = sum(busy.slots for busy in running if not _is_beside(busy, slots))
    return busy_slots == 0 or busy_slots + step.slots <= slots


def _not_run(step: Step, lacking: str) -> Outcome:
    return (
        Outcome(step.name, skipped=1, remark=f"skipped: {lacking}")
        if lacking
        else Outcome(step.name)
    )


def _passed(known: Known, outcome: Outcome) -> list[str]:
    """The parts that have passed now: file by file where tests were counted."""
    if outcome.files:
        return [name for name in known.left if outcome.files.get(name)]
    return [] if outcome.failed else list(known.left)


def known_of(step: Step, results: Results | None, reuse: Callable[[Step, str], bool]) -> Known:
    """What is known of a step before it runs; only parts to reuse count as passed."""
    if not results or not step.parts:
        return Known({}, {}, {})
    parts = {name: results.part(files) for name, files in step.parts(results.repository).items()}
    reused = {name: part for name, part in parts.items() if reuse(step, name)}
    return Known(parts, results.passed(step.name, reused), results.seconds(step.name))


def tell_due(steps: Sequence[Step], results: Results, reuse: Callable[[Step, str], bool]) -> None:
    """Print what a run would do now, and how many seconds the tests of each part took last."""
    for step in steps:
        known = known_of(step, results, reuse)
        if not known.parts:
            print(f"{step.name}: always")
        elif known.left:
            seconds = sum(known.seconds.get(name, 0) for name in known.left)
            print(f"{step.name}: {len(known.left)} of {len(known.parts)}, {seconds} s")
            for name in known.left:
                print(f"    {name}, {known.seconds.get(name, '?')} s")


def _log(step: Step, place: Place) -> Path:
    return place.logs / f"{step.name}.log"


def _run_step(step: Step, place: Place, *, verbose: bool, nice: bool) -> Outcome:
    outcome = Outcome(step.name)
    started = time.monotonic()
    place.scratch.mkdir(parents=True, exist_ok=True)
    place.cluster_cpu.unlink(missing_ok=True)
    with _log(step, place).open("w") as log:
        outcome.remark = _run_commands(step, place, outcome, None if verbose else log, nice=nice)
    outcome.seconds = time.monotonic() - started
    outcome.clusters = _cost_of_clusters(place)
    if outcome.remark:
        outcome.failed = max(outcome.failed, 1)
    else:
        outcome.passed = outcome.passed or 1
    return outcome


def _cost_of_clusters(place: Place) -> Counter[str]:
    found: Counter[str] = Counter()
    if place.cluster_cpu.is_file():
        for line in place.cluster_cpu.read_text().splitlines():
            row = json.loads(line)
            found[row["program"]] += row["seconds"]
    return found


def _run_commands(
    step: Step, place: Place, outcome: Outcome, log: IO[str] | None, *, nice: bool
) -> str:
    """Why the step failed, or nothing."""
    try:
        for command in step.commands(place):
            code, cpu_seconds = _execute(command, place, log, nice=nice)
            outcome.cpu_seconds += cpu_seconds
            counted = _count(command.junit, outcome)
            if code not in (0, TESTS_FAILED):
                # It was broken off: of no file it is known that all tests have run.
                outcome.files.clear()
            if code:
                program = Path(command.argv[0]).name
                return f"{program} ended with exit code {code}"
            if command.junit and not counted:
                return f"{command.junit.name} was not written, so nothing is known about its tests"
    except StepError as error:
        return str(error)
    return ""


def _execute(
    command: Command, place: Place, log: IO[str] | None, *, nice: bool
) -> tuple[int, float]:
    """Exit code, and seconds of CPU of the program and of all that it has started and waited for."""
    if command.junit:
        command.junit.unlink(missing_ok=True)
    env = {**place.environment(), **command.env}
    if log:
        env.update(NO_COLOR="1", ANSIBLE_NOCOLOR="1")
    try:
        process = subprocess.Popen(
            [*(["nice"] if nice else []), *command.argv],
            cwd=command.cwd,
            env=env,
            stdout=log,
            stderr=log and subprocess.STDOUT,
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
        _note_files(suite, outcome)
    outcome.passed += total - bad - skipped
    outcome.failed += bad
    outcome.skipped += skipped
    return True


def _note_files(suite: ET.Element, outcome: Outcome) -> None:
    for case in suite.iter("testcase"):
        # After the module's name comes that of a class, where the test is in one.
        parts = case.get("classname", "").split(".")
        file = f"{'/'.join(takewhile(lambda part: not part[:1].isupper(), parts))}.py"
        good = case.find("failure") is None and case.find("error") is None
        outcome.files[file] = outcome.files.get(file, True) and good
        seconds = float(case.get("time", 0))
        outcome.file_seconds[file] = outcome.file_seconds.get(file, 0.0) + seconds


def _failures(suite: ET.Element) -> Iterator[str]:
    for case in suite.iter("testcase"):
        for kind in ("failure", "error"):
            if (found := case.find(kind)) is not None:
                yield f"{case.get('classname')}::{case.get('name')}: {_reason(found)[:REASON_CHARACTERS]}"


def _reason(found: ET.Element) -> str:
    """What a test says of its failure: pytest marks its lines, and shortens them in the message."""
    marked = [line[1:] for line in (found.text or "").splitlines() if line.startswith("E ")]
    return " ".join((" ".join(marked) or found.get("message", "")).split())
