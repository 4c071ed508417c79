# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays without the start of ansible-playbook, which is most of what a short play costs.

A server imports Ansible and our action plugins once, then forks for each play. A play has its own
arguments, environment, working directory, output and exit code, as a program has. What Ansible
reads as it is imported (its ANSIBLE_* settings) is the server's: plays with other settings are for
the real program.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

# How long a server may take to import everything, on a busy machine.
START_S = 120


@dataclass(frozen=True)
class Ended:
    """How a play ended: its exit code, and what it wrote."""

    code: int
    stdout: str
    stderr: str


class PlayServer:
    """A server at work. It ends with the process that has started it."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self._address = tempfile.mkdtemp(prefix="plays-") + "/socket"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.play_server", self._address],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None, "it has a pipe"
        # Its end of file, too, is an answer.
        ready = select.select([self._process.stdout], [], [], START_S)[0]
        if not (ready and self._process.stdout.readline()):
            raise RuntimeError(f"the server of plays did not start within {START_S} s")

    def close(self) -> None:
        """Let it end, and count its time and that of all plays among what this process has
        started."""
        assert self._process.stdin is not None, "it has a pipe"
        self._process.stdin.close()
        self._process.wait()

    def play(
        self, argv: Sequence[str], environment: Mapping[str, str], folder: Path, timeout: float
    ) -> Ended:
        """Run a command line of ansible-playbook to its end; timeout: seconds."""
        asked = {"argv": list(argv), "environment": dict(environment), "folder": str(folder)}
        with (
            tempfile.TemporaryFile("w+") as stdout,
            tempfile.TemporaryFile("w+") as stderr,
            socket.socket(socket.AF_UNIX) as connection,
        ):
            connection.connect(self._address)
            socket.send_fds(connection, [b"\n"], [stdout.fileno(), stderr.fileno()])
            connection.sendall(json.dumps(asked).encode() + b"\n")
            pid = _number(connection)
            connection.settimeout(timeout)
            try:
                code = _number(connection)
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(list(argv), timeout) from None
            return Ended(code, _text(stdout), _text(stderr))


def _number(connection: socket.socket) -> int:
    """The next line, and nothing of what follows it."""
    line = b""
    while not line.endswith(b"\n"):
        line += connection.recv(1) or b"\n"
    return int(line)


def _text(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def serve(address: str) -> socket.socket | None:
    """Fork for each play that is asked for, and say how each has ended, until standard input ends.

    Returns in the server with nothing, and in each play with the connection that asks for it.
    """
    _import_what_plays_need()
    # What is there stays: a collection in a play looks at nothing of it, and copies no page of it.
    gc.freeze()
    plays: dict[int, socket.socket] = {}
    woken, waker = os.pipe2(os.O_NONBLOCK)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, lambda _signal, _frame: None)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while True:
            ready = select.select([listener, woken, sys.stdin], [], [])[0]
            if sys.stdin in ready:
                break
            if woken in ready:
                os.read(woken, 4096)
                _say_how_ended(plays)
            if listener in ready:
                connection = listener.accept()[0]
                if (pid := os.fork()) == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    return connection
                plays[pid] = connection
    Path(address).unlink()
    Path(address).parent.rmdir()
    return None


def _say_how_ended(plays: dict[int, socket.socket]) -> None:
    for pid in list(plays):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            # Who has asked may be gone.
            with suppress(OSError), plays.pop(pid) as connection:
                connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _import_what_plays_need() -> None:
    from ansible import constants
    from ansible.cli import playbook  # noqa: F401 - for the plays
    from ansible.plugins import loader
    from ansible.utils.collection_loader._collection_finder import _AnsibleCollectionFinder

    loader.init_plugin_loader(constants.COLLECTIONS_PATHS)
    actions = importlib.import_module("ansible_collections.hardware.enablement.plugins.action")
    for action in pkgutil.iter_modules(actions.__path__):
        loader.action_loader.get(f"hardware.enablement.{action.name}", class_only=True)
    # Also what only some recipes need: each task would import it anew, in a process of its own.
    utils = importlib.import_module("ansible_collections.hardware.enablement.plugins.module_utils")
    for module in pkgutil.walk_packages(utils.__path__, f"{utils.__name__}."):
        importlib.import_module(module.name)
    # Each play has its own, and warns where one is there.
    _AnsibleCollectionFinder._remove()


def play(connection: socket.socket) -> NoReturn:
    """Be one run of ansible-playbook, and exit as it does."""
    from ansible import constants
    from ansible.cli.playbook import main
    from ansible.utils.path import cleanup_tmp_file

    files = socket.recv_fds(connection, 1, 2)[1]
    connection.sendall(f"{os.getpid()}\n".encode())
    with connection.makefile() as asked:
        request = json.loads(asked.readline())
    connection.close()
    for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), *files)):
        os.dup2(file, number)
        os.close(file)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    tempfile.tempdir = None
    # Made on import: the server's, which removes it.
    atexit.unregister(cleanup_tmp_file)
    constants.DEFAULT_LOCAL_TMP = tempfile.mkdtemp(prefix="ansible-local-")
    atexit.register(cleanup_tmp_file, constants.DEFAULT_LOCAL_TMP)
    sys.argv = request["argv"]
    try:
        main(sys.argv)
    except SystemExit as ended:
        _end(ended.code)
    _end(0)


def _end(code: object) -> NoReturn:
    """Exit as Python does, but for one thing: to let go of each object would copy most pages that
    the play shares with the server, which is a third of what an empty play costs."""
    if not isinstance(code, int | None):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


if __name__ == "__main__":
    if asking := serve(sys.argv[1]):
        play(asking)
