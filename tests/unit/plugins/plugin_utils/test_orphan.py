# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A worker does not outlive who forked it, whenever that died."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from ansible_collections.hardware.enablement.plugins.plugin_utils import _orphan as orphan
from tests.unit.patience import PATIENCE_S

PROGRAM = """
import multiprocessing, os, signal, sys, time
from {module} import end_with_parent

def work(ready, forker):
    if {dead_before}:
        ready.send(True)
        while os.getppid() == forker:
            time.sleep(0.01)
    print("began", flush=True)
    end_with_parent()
    if not {dead_before}:
        ready.send(True)
    time.sleep(60)
    print("went on", flush=True)

ours, its = multiprocessing.Pipe()
multiprocessing.get_context("fork").Process(target=work, args=(its, os.getpid())).start()
ours.recv()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("dead_before", [False, True])
def test_a_worker_ends_with_its_parent_also_where_it_begins_after_it(dead_before: bool) -> None:
    program = PROGRAM.format(module=orphan.__name__, dead_before=dead_before)
    # The worker has the same standard output, so this waits for its end.
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": ":".join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ran.stdout == "began\n"


def test_how_long_a_process_has_been_there() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        time.sleep(0.3)
        age = orphan.age_s(process.pid)
        process.kill()
    assert age is not None
    assert 0.2 <= age < 60
    assert orphan.age_s(process.pid) is None
