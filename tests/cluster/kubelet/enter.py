# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.cluster.kubelet.enter [--kernel RELEASE] PID COMMAND ...`: run a command in a
machine.

PID is the machine's first process. With --kernel the command and its children see that release in
uname(2).
"""

from __future__ import annotations

import argparse
import os
import select
import signal
import socket
import sys

from tests.cluster.kubelet import namespaces as ns
from tests.cluster.kubelet import uname
from tests.cluster.kubelet.supervise import exit_like, pass_signals_to

KINDS = ("ipc", "uts", "pid", "mnt")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def main() -> None:
    """Enter the machine, start the command and stand for it: its signals, its exit code, its death
    with ours."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.kubelet.enter")
    parser.add_argument("--kernel", default="")
    parser.add_argument("pid", type=int)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    # Behind the mount namespace /proc does not show the machine's processes under the numbers that
    # we know.
    processes = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    ns.join(options.pid, KINDS)
    here, there = socket.socketpair()
    child = os.fork()
    if child == 0:
        here.close()
        if options.kernel:
            socket.send_fds(there, [b"1"], [uname.intercept()])
        there.close()
        _execute(options.command)
    there.close()
    pass_signals_to(child)
    if options.kernel:
        _message, listeners, _flags, _address = socket.recv_fds(here, 1, 1)
        if listeners:
            _answer_all(listeners[0], options.kernel, processes)
    exit_like(child)


def _execute(command: list[str]) -> None:
    ns.die_with_parent(signal.SIGKILL)
    os.setpgid(0, 0)
    # Ignored signals are inherited: containerd, started under nohup, would never be restarted by
    # SIGHUP.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    environment = {**os.environ, "PATH": PATH, "HOME": "/root", "TMPDIR": "/tmp"}  # noqa: S108 - the machine's own
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606 - no shell is wanted
    except OSError as error:
        print(f"{command[0]} does not start in the machine: {error.strerror}", file=sys.stderr)
        os._exit(127)


def _answer_all(listener: int, kernel: str, processes: int) -> None:
    """Answer until the last process with the filter is gone, which hangs the descriptor up."""
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    while not poll.poll()[0][1] & select.POLLHUP:
        uname.answer(listener, kernel, processes)


if __name__ == "__main__":
    main()
