# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One command: how long it took, the processor time and the memory of all its processes, and what
it asked for."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster import Cluster
from tests.integration.plays import REVIEWS, WRITES

_SAMPLE_EVERY_S = 0.05
# What looks for so long pauses so many times that: the more memory, the longer the kernel counts it.
_SAMPLE_SHARE = 50


@dataclass(frozen=True)
class Requests:
    """What a user asked the API server for: "list nodes", "patch nodes (dry run)" and so on, with
    counts."""

    by_kind: Mapping[str, int]

    @property
    def total(self) -> int:
        """All requests."""
        return sum(self.by_kind.values())

    @property
    def writes(self) -> int:
        """Those that could change something: no reads, no dry runs, no questions about rights."""
        return sum(count for kind, count in self.by_kind.items() if _changes(kind))


def _changes(kind: str) -> bool:
    return kind.split(maxsplit=1)[0] in WRITES and not kind.endswith(
        ("(dry run)", REVIEWS.strip("/"))
    )


@dataclass(frozen=True)
class Sample:
    """One run. cpu_s: user and system time of the process and its descendants; memory_mib: peak of
    all together.

    Memory is the proportional set size, so that pages which forked workers share are counted once.
    """

    seconds: float
    cpu_s: float
    memory_mib: float
    requests: Requests
    output: str = field(repr=False)
    is_good: bool = True


@dataclass(frozen=True)
class Series:
    """Several runs of the same."""

    samples: Sequence[Sample]

    @property
    def median(self) -> float:
        """Seconds."""
        return statistics.median(sample.seconds for sample in self.samples)

    @property
    def minimum(self) -> float:
        """Seconds."""
        return min(sample.seconds for sample in self.samples)

    @property
    def cpu(self) -> float:
        """Median of the processor time in seconds, which other load on the machine disturbs less."""
        return statistics.median(sample.cpu_s for sample in self.samples)

    @property
    def memory(self) -> float:
        """The highest peak in MiB."""
        return max(sample.memory_mib for sample in self.samples)

    @property
    def requests(self) -> Requests:
        """Of the last run."""
        return self.samples[-1].requests


class RunError(Exception):
    """A measured command failed, so its time means nothing."""


def measure(
    command: Sequence[str],
    environment: Mapping[str, str],
    directory: Path,
    *,
    cluster: Cluster,
    user: str,
    may_fail: bool = False,
) -> Sample:
    """Run a command to its end; RunError with its output if it fails, unless it may."""
    mark = cluster.mark()
    with tempfile.TemporaryFile("w+") as output:
        began = time.monotonic()
        process = subprocess.Popen(
            command,
            env=dict(environment),
            cwd=directory,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
        )
        memory = _MemoryWatch(process.pid)
        # wait4 instead of wait(): it also tells what this process and its descendants have used.
        _pid, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        peak = memory.stop()
        output.seek(0)
        text = output.read()
    if process.returncode != 0 and not may_fail:
        raise RunError(f"{' '.join(command)} ended with {process.returncode}:\n{text}")
    return Sample(
        seconds,
        usage.ru_utime + usage.ru_stime,
        peak,
        requests_of(cluster, user, mark),
        text,
        process.returncode == 0,
    )


def requests_of(cluster: Cluster, user: str, since: int) -> Requests:
    """Count a user's requests in the audit log since a mark."""
    kinds: Counter[str] = Counter()
    for event in cluster.audit(user=user, since=since):
        reference = event.get("objectRef") or {}
        resource = "/".join(
            part for part in (reference.get("resource"), reference.get("subresource")) if part
        )
        dry = " (dry run)" if "dryRun=" in event["requestURI"] else ""
        kinds[f"{event['verb']} {resource or 'discovery'}{dry}"] += 1
    return Requests(dict(kinds))


class _MemoryWatch:
    """Looks at a process and its descendants every now and then, in a thread."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak_kib = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, name="memory", daemon=True)
        self._thread.start()

    def stop(self) -> float:
        """The peak in MiB."""
        self._done.set()
        self._thread.join()
        return self._peak_kib / 1024

    def _look(self) -> None:
        pause = _SAMPLE_EVERY_S
        while not self._done.wait(pause):
            began = time.monotonic()
            self._peak_kib = max(self._peak_kib, sum(_pss_kib(pid) for pid in _tree(self._pid)))
            pause = max(_SAMPLE_EVERY_S, _SAMPLE_SHARE * (time.monotonic() - began))


def _tree(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        try:
            for children in Path(f"/proc/{parent}/task").glob("*/children"):
                found.extend(int(child) for child in children.read_text().split())
        except OSError:  # it has just ended
            continue
    return found


def _pss_kib(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
