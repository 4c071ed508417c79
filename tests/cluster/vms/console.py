# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The serial console of a virtual machine: a shell that nothing in the cluster has a part in."""

from __future__ import annotations

import base64
import socket
import time
import uuid
from pathlib import Path

from tests.cluster.errors import ClusterError

_CHUNK = 65536


class Console:
    """The shell behind a unix socket; one command at a time."""

    def __init__(self, name: str, file: Path) -> None:
        self._name = name
        self._file = file

    def run(self, script: str, *, timeout: float = 60) -> str:
        """What a script of sh prints, errors included; ClusterError with that if it fails, or takes
        longer than so many seconds."""
        mark = uuid.uuid4().hex
        # In two parts: the machine may echo what comes before its terminal is set up. And before the
        # first mark there may be what a command has said that nobody waited for.
        written = f"{mark[:8]}''{mark[8:]}"
        encoded = base64.b64encode(script.encode()).decode()
        line = (
            f'echo {written}; sh -c "$(echo {encoded} | base64 -d)" < /dev/null 2>&1; '
            f"echo {written} $?\n"
        )
        said = self._exchange(line.encode(), f"{mark} ".encode(), timeout)
        output, ended, code = said.partition(f"{mark}\n")[2].partition(f"{mark} ")
        if not ended:
            raise ClusterError(
                f"{script} did not end on {self._name} within {timeout:.0f} s; so far it said: {output.strip()}"
            )
        if int(code) != 0:
            raise ClusterError(f"{script} failed on {self._name} ({int(code)}): {output.strip()}")
        return output

    def answers(self) -> bool:
        """True once the machine takes commands."""
        try:
            return self.run("echo here", timeout=2).endswith("here\n")
        except (ClusterError, OSError):
            return False

    def _exchange(self, line: bytes, end: bytes, timeout: float) -> str:
        """What comes after the line is sent, until the end with its line, or until time is over."""
        deadline = time.monotonic() + timeout
        received = b""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout)
            connection.connect(str(self._file))
            connection.sendall(line)
            while b"\n" not in received.partition(end)[2]:
                connection.settimeout(max(0.01, deadline - time.monotonic()))
                try:
                    more = connection.recv(_CHUNK)
                except TimeoutError:
                    break
                if not more:
                    break
                received += more
        return received.decode(errors="replace")
