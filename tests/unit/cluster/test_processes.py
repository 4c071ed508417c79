# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Daemons are recognised by pid and start time, and what escaped being noted is found all the same."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cluster import processes
from tests.cluster.processes import Process
from tests.unit.patience import PATIENCE_S

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)",
]


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Process]:
    process = processes.start("sleeper", SLEEP, folder=tmp_path, port=4711)
    yield process
    processes.stop([process], patience=5)


def test_it_is_noted_with_all_that_identifies_it(daemon: Process, tmp_path: Path) -> None:
    assert processes.noted(tmp_path) == [daemon]
    assert daemon.port == 4711
    assert daemon.start == processes.start_time(daemon.pid)
    assert daemon.alive
    # In the moment of its start it has none yet.
    deadline = time.monotonic() + PATIENCE_S
    while daemon.memory <= 2**20 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert daemon.memory > 2**20


def test_it_has_a_session_of_its_own(daemon: Process) -> None:
    assert os.getsid(daemon.pid) == daemon.pid


@pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/proc/self/autogroup").exists(),
    reason="time is not shared by session here, or not given away",
)
def test_one_that_others_wait_for_goes_before_them(daemon: Process) -> None:
    daemon.favour()
    assert Path(f"/proc/{daemon.pid}/autogroup").read_text().endswith("nice -10\n")


def test_another_process_with_its_pid_is_not_it(daemon: Process) -> None:
    assert not replace(daemon, start=daemon.start + 1).alive
    assert not replace(daemon, boot="another boot").alive


def test_a_signal_never_reaches_another_process_with_its_pid(daemon: Process) -> None:
    replace(daemon, start=daemon.start + 1).send(9)
    assert daemon.alive


def test_a_stopped_one_is_gone_although_nobody_waited_for_it(daemon: Process) -> None:
    processes.stop([daemon], patience=5)
    assert not daemon.alive
    assert daemon.memory == 0


def test_one_that_ignores_the_request_is_killed(tmp_path: Path) -> None:
    process = processes.start("deaf", STUBBORN, folder=tmp_path)
    log = tmp_path / "logs" / "deaf.log"
    while "deaf" not in log.read_text():
        assert process.alive
    processes.stop([process], patience=0.2)
    assert not process.alive


def test_what_was_started_but_not_noted_is_found(daemon: Process, tmp_path: Path) -> None:
    (tmp_path / "run" / "sleeper.json").unlink()
    # A program that has just begun has no environment to read for a moment.
    deadline = time.monotonic() + PATIENCE_S
    while not (found := processes.marked(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [each.pid for each in found] == [daemon.pid]
    assert processes.marked(tmp_path / "other") == []


def test_a_program_with_blanks_and_brackets_in_its_name(tmp_path: Path) -> None:
    program = tmp_path / "odd) R 1 (name"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([str(program), "60"]) as child:
        try:
            assert processes.start_time(child.pid) == pytest.approx(_uptime_ticks(), abs=500)
        finally:
            child.kill()


def test_no_process() -> None:
    assert processes.start_time(2**22 + 1) is None


def _uptime_ticks() -> float:
    return float(Path("/proc/uptime").read_text().split()[0]) * os.sysconf("SC_CLK_TCK")
