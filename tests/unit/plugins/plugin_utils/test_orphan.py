# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Workers whose ansible-playbook was killed: they end, whether they had begun or not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.plugin_utils import orphan

# A parent forks a worker as ansible does and waits to be killed.
PROGRAM = """
import importlib.util, multiprocessing, pathlib, sys, time

spec = importlib.util.spec_from_file_location("orphan", {module!r})
orphan = importlib.util.module_from_spec(spec)
spec.loader.exec_module(orphan)
folder = pathlib.Path({folder!r})

def wait_for(name):
    while not (folder / name).exists():
        time.sleep(0.02)

def work():
    if {early}:
        orphan.end_with_parent()
    (folder / "forked").touch()
    wait_for("go")
    orphan.end_with_parent()
    time.sleep(2)
    (folder / "wrote").touch()

multiprocessing.get_context("fork").Process(target=work).start()
time.sleep(60)
"""


@pytest.mark.parametrize("early", [True, False])
def test_a_worker_whose_parent_was_killed_ends(tmp_path: Path, early: bool) -> None:
    program = PROGRAM.format(module=orphan.__file__, folder=str(tmp_path), early=early)
    parent = subprocess.Popen([sys.executable, "-c", program])
    _wait_for(tmp_path / "forked")
    (worker,) = orphan.descendants(parent.pid)
    parent.kill()
    parent.wait()
    (tmp_path / "go").touch()
    deadline = time.monotonic() + 20
    while _lives(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _lives(worker)
    assert not (tmp_path / "wrote").exists()


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + 20
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.02)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie that nobody has waited for has ended all the same.
    return ") Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
