# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Daemons: started in a session of their own, recognised beyond doubt later on, and stopped in
order.

A process is recognised by its pid together with the moment it started, so that a pid which the
kernel has given to somebody else meanwhile is never mistaken for ours. Each daemon also carries the
cluster's folder in its environment: that finds what was started in the instant before the tool was
killed and could not be written down any more.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

MARKER = "HE_CLUSTER_FOLDER"
CPU_FILE = "HE_CLUSTER_CPU"
_PROC = Path("/proc")
# Nice value of a session that takes about nine tenths of a processor from one other.
_FAVOURED = -10

# Popen objects of daemons that this very process started: polling them reaps the zombies.
_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True)
class Process:
    """One daemon. `start` is the kernel's start time in clock ticks since boot, `boot` the id of
    that boot."""

    program: str
    pid: int
    start: int
    boot: str
    port: int | None = None

    @property
    def alive(self) -> bool:
        """True while this process (not another one with its pid) runs."""
        child = _children.get(self.pid)
        if child is not None and child.poll() is not None:
            del _children[self.pid]
        return self.boot == boot_id() and start_time(self.pid) == self.start

    @property
    def memory(self) -> int:
        """Resident memory in bytes; 0 when it is gone."""
        try:
            pages = (_PROC / str(self.pid) / "statm").read_text().split()[1]
        except OSError:
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    @property
    def cpu_seconds(self) -> float:
        """User and system time, also of children that it has waited for; 0 when it is gone."""
        return cpu_seconds(self.pid)

    def favour(self) -> None:
        """Give it processor time before others, all its threads too, where the kernel shares time by
        session (sched(7)) and we may."""
        with suppress(OSError):
            (_PROC / str(self.pid) / "autogroup").write_text(f"{_FAVOURED}")

    def send(self, signal_number: int) -> None:
        """Send a signal, if the process is still there."""
        if self.alive:
            try:
                os.kill(self.pid, signal_number)
            except ProcessLookupError:
                return


def cpu_seconds(pid: int) -> float:
    """User and system time, also of children that it has waited for; 0 when it is gone."""
    fields = _stat(pid)
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def boot_id() -> str:
    """Changes with every boot of this machine."""
    return (_PROC / "sys/kernel/random/boot_id").read_text().strip()


def start_time(pid: int) -> int | None:
    """Start of a running process in clock ticks since boot; None if there is none or only its
    zombie."""
    fields = _stat(pid)
    return None if not fields or fields[0] in ("Z", "X") else int(fields[19])


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the program's name, from the state on; none if it is
    gone."""
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return []
    # The second field is the program's name in brackets and may itself hold blanks and brackets.
    return text.rpartition(")")[2].split()


def start(
    program: str,
    command: Sequence[str],
    *,
    folder: Path,
    port: int | None = None,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> Process:
    """Start a daemon that outlives us, log to FOLDER/logs/PROGRAM.log, and note it in
    FOLDER/run/PROGRAM.json."""
    inherited = {
        name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ
    }
    logs = folder / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    with (logs / f"{program}.log").open("ab") as log:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=directory or folder,
            env={**inherited, **(environment or {}), MARKER: str(folder)},
        )
    _children[child.pid] = child
    process = Process(program, child.pid, start_time(child.pid) or 0, boot_id(), port)
    note = _note(folder, program)
    note.parent.mkdir(exist_ok=True)
    partial = note.with_suffix(".tmp")
    partial.write_text(json.dumps(asdict(process)))
    partial.rename(note)
    return process


def noted(folder: Path) -> list[Process]:
    """The daemons that FOLDER/run tells of, alive or not."""
    return [
        Process(**json.loads(file.read_text())) for file in sorted((folder / "run").glob("*.json"))
    ]


def forget(folder: Path, program: str) -> None:
    """Tell no more of a daemon that was stopped for good."""
    _note(folder, program).unlink(missing_ok=True)


def marked(folder: Path) -> list[Process]:
    """Every live process that carries this cluster's folder in its environment (our daemons and
    their children)."""
    wanted = f"{MARKER}={folder}".encode()
    found = []
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        pid = int(entry.name)
        try:
            environment = (entry / "environ").read_bytes()
            name = (entry / "comm").read_text().strip()
        except OSError:
            continue
        began = start_time(pid)
        if began is not None and wanted in environment.split(b"\0"):
            found.append(Process(name, pid, began, boot_id()))
    return found


def stop(processes: Iterable[Process], *, patience: float) -> None:
    """Ask them all to end, wait at most `patience` seconds, then kill what is left and wait until
    it is gone."""
    left = [process for process in processes if process.alive]
    _note_cpu(left)
    for process in left:
        process.send(signal.SIGTERM)
    left = _wait(left, patience)
    for process in left:
        process.send(signal.SIGKILL)
    _wait(left, 10)


def _note_cpu(processes: Iterable[Process]) -> None:
    for process in processes:
        note_cost(process.program, process.cpu_seconds)


def note_cost(program: str, seconds: float) -> None:
    """Write what a daemon has cost, in seconds of CPU, to the file that the gates name: it outlives
    who started it, so nobody else counts it."""
    if file := os.environ.get(CPU_FILE):
        with Path(file).open("a") as lines:
            lines.write(f"{json.dumps({'program': program, 'seconds': seconds})}\n")


def _note(folder: Path, program: str) -> Path:
    return folder / "run" / f"{program}.json"


def _wait(processes: list[Process], seconds: float) -> list[Process]:
    deadline = time.monotonic() + seconds
    left = processes
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = [process for process in left if process.alive]
    return left
