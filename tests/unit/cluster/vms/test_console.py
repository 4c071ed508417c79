# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The console of a virtual machine, with a real shell behind its socket."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.errors import ClusterError
from tests.cluster.vms.console import Console


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Console]:
    """A shell for each connection, which says something of its own before it takes commands, as a
    terminal that echoes does."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "console"))
        server.listen()

        def serve() -> None:
            while True:
                try:
                    connection, _address = server.accept()
                except OSError:
                    return
                with connection, connection.makefile("rwb", buffering=0) as stream:
                    line = stream.readline()
                    stream.write(b"left over\n" + line)
                    subprocess.run(["sh"], input=line, stdout=stream.fileno(), check=False)

        threading.Thread(target=serve, daemon=True).start()
        yield Console("vm-1", tmp_path / "console")
        server.shutdown(socket.SHUT_RDWR)


def test_a_command_gives_what_it_prints_and_nothing_else(console: Console) -> None:
    assert console.answers()
    assert console.run("echo 'a  b'; echo c >&2; printf d") == "a  b\nc\nd"


def test_one_that_fails_says_what_and_where(console: Console) -> None:
    with pytest.raises(ClusterError, match=r"false failed on vm-1 \(1\)"):
        console.run("false")
    with pytest.raises(ClusterError, match=r"\(3\): why"):
        console.run("echo why; exit 3")


def test_one_that_does_not_end_is_not_waited_for(console: Console) -> None:
    with pytest.raises(
        ClusterError, match=r"did not end on vm-1 within 0 s; so far it said: begun$"
    ):
        console.run("echo begun; sleep 2", timeout=0.4)


def test_a_machine_that_is_off_does_not_answer(tmp_path: Path) -> None:
    assert not Console("vm-1", tmp_path / "console").answers()
