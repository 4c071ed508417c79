# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.cluster.kubelet.boot FOLDER LOWER PROGRAM ...`: a machine, for as long as this
process lives.

It has a root file system of its own (changes in FOLDER on top of LOWER, folders joined by colons),
its own processes, mounts, host name and IPC; the network is this machine's, so that its servers
stay on loopback. Whatever happens in it, also what privileged pods do to /etc, /dev or /run, is
gone with its first process: processes, mounts and network namespaces need no list of things to
clean up. FOLDER/pid holds the first process once the machine is ready.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.kubelet import namespaces as ns
from tests.cluster.kubelet.rootfs import assemble, bind, made
from tests.cluster.kubelet.supervise import exit_like, pass_signals_to

# What the kubelet and containerd write, on the disk itself: an overlay cannot lie on another
# overlay.
DISKS = ("var/lib/kubelet", "var/lib/containerd")
# What the kubelet wants to find, so that it has no reason to change this machine's settings.
_KERNEL_SETTINGS = {
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
}


def main() -> None:
    """Make the namespaces, then stand for the machine's first process."""
    folder = Path(sys.argv[1]).absolute()
    lower = [Path(part).absolute() for part in sys.argv[2].split(":")]
    programs = [Path(argument).absolute() for argument in sys.argv[3:]]
    (folder / "pid").unlink(missing_ok=True)
    ns.unshare(ns.CLONE_NEWPID)
    ready, told = os.pipe()
    child = os.fork()
    if child == 0:
        ns.die_with_parent(signal.SIGKILL)
        os.close(ready)
        _first_process(folder, lower, programs, told)
    os.close(told)
    pass_signals_to(child)
    if os.read(ready, 1):
        partial = folder / "pid.tmp"
        partial.write_text(str(child))
        partial.rename(folder / "pid")
    exit_like(child)


def _first_process(
    folder: Path, lower: Sequence[Path], programs: Sequence[Path], told: int
) -> None:
    """What init is elsewhere: it sets the machine up and takes in orphans; when it ends, the kernel
    kills the rest."""
    # Blocked and waited for: a first process gets no signal that it does not expect, and neither
    # may be missed.
    expected = {signal.SIGCHLD, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, expected)
    ns.unshare(ns.CLONE_NEWNS | ns.CLONE_NEWUTS | ns.CLONE_NEWIPC)
    socket.sethostname(folder.name)
    _set_up(folder, lower, programs)
    os.write(told, b"1")
    os.close(told)
    while signal.sigwait(expected) == signal.SIGCHLD:
        _reap()
    os._exit(0)


def _reap() -> None:
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


def _set_up(folder: Path, lower: Sequence[Path], programs: Sequence[Path]) -> None:
    root = assemble(folder, lower)
    ns.mount("/sys", made(root / "sys"), flags=ns.MS_BIND | ns.MS_REC)
    for disk in DISKS:
        bind(made(folder / disk), root / disk)
    for program in programs:
        bind(program, root / "usr/local/bin" / program.name)
    settings = {**_KERNEL_SETTINGS, "kernel/random/boot_id": str(uuid.uuid4())}
    for name, value in settings.items():
        # Shows the value and takes writes, without touching the kernel's.
        cover = made(folder / "settings") / name.replace("/", ".")
        cover.write_text(f"{value}\n")
        bind(cover, root / "proc/sys" / name)
    ns.pivot_root(root)
    # Bidirectional mount propagation of pods wants a shared root; the group's members are all in
    # here.
    ns.mount("none", "/", flags=ns.MS_REC | ns.MS_SHARED)


if __name__ == "__main__":
    main()
