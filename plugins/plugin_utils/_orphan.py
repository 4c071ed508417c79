# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A worker whose ansible-playbook was killed ends, so that nobody goes on writing to the cluster."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections import defaultdict
from functools import cache
from pathlib import Path

PARENT_CHECK_S = 0.5


def parent() -> int:
    """The process that forked this one, also when it is dead and another has adopted this one."""
    forker = multiprocessing.parent_process()
    return forker.pid if forker and forker.pid else os.getppid()


@cache
def end_with_parent() -> None:
    """Watch the parent from now on, and when it dies end what this process has started, and this
    process.

    Where it is dead already this does not return. Once in a process: a loop has one for all its
    items.
    """
    forker = parent()
    if os.getppid() != forker:
        os._exit(1)

    def watch() -> None:
        while os.getppid() == forker:
            time.sleep(PARENT_CHECK_S)
        for pid in descendants(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()


def descendants(ancestor: int) -> list[int]:
    """The processes below one, children first; none where the system has no /proc."""
    children: dict[int, list[int]] = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        # A process may end while it is looked at.
        with contextlib.suppress(OSError, IndexError, ValueError):
            children[int(_after_name(stat)[1])].append(int(stat.parent.name))
    found = []
    todo = [ancestor]
    while todo:
        below = children[todo.pop(0)]
        found += below
        todo += below
    return found


def started(pid: int) -> str:
    """When a process started, in clock ticks since boot where the system tells; tells a reused pid
    apart."""
    try:
        return _after_name(Path(f"/proc/{pid}/stat"))[19]
    except (OSError, IndexError):
        return "unknown"


def age_s(pid: int) -> float | None:
    """For how many seconds a process has been there, None where the system does not tell."""
    try:
        uptime = float(Path("/proc/uptime").read_text(encoding="utf-8").split()[0])
        return uptime - int(started(pid)) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return None


def _after_name(stat: Path) -> list[str]:
    """The fields of /proc/PID/stat after the program's name, which may hold anything: state,
    parent, ..."""
    return stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
