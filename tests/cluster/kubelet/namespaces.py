# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""System calls for namespaces, mounts and parent death signals, which Python 3.10 does not have."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MS_SHARED = 0x100000
MNT_DETACH = 0x2

_PR_SET_PDEATHSIG = 1
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mount.argtypes = [
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_ulong,
    ctypes.c_char_p,
]


def unshare(flags: int) -> None:
    """Leave the namespaces that `flags` (CLONE_NEW...) names for new ones; OSError if the kernel
    refuses."""
    _check(_libc.unshare(flags), "unshare")


def join(pid: int, kinds: tuple[str, ...]) -> None:
    """Enter namespaces of a process, named as in /proc/PID/ns; new children are in its PID
    namespace."""
    # All are opened first: behind the mount namespace /proc shows other processes.
    files = [os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC) for kind in kinds]
    for kind, file in zip(kinds, files, strict=True):
        _check(_libc.setns(file, 0), f"setns {kind} of {pid}")
        os.close(file)


def mount(
    source: str | Path, target: str | Path, kind: str = "", flags: int = 0, data: str = ""
) -> None:
    """mount(2); OSError with both paths if the kernel refuses."""
    arguments = [
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() or None,
        flags,
        data.encode() or None,
    ]
    _check(_libc.mount(*arguments), f"mount {source} on {target}")


def unmount(target: str | Path) -> None:
    """Take a mount away, also one that is in use."""
    _check(_libc.umount2(os.fsencode(target), MNT_DETACH), f"unmount {target}")


def pivot_root(folder: Path) -> None:
    """Make a mounted folder the root of this mount namespace and let the old root go."""
    os.chdir(folder)
    number = _SYS_PIVOT_ROOT[os.uname().machine]
    # Old and new root at the same place: the old one lies on top and is taken away at once
    # (pivot_root(2)).
    _check(_libc.syscall(number, b".", b"."), f"pivot_root {folder}")
    unmount(".")
    os.chdir("/")


def die_with_parent(signal_number: int) -> None:
    """Get this signal when the parent ends, however it ends."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0), "prctl PR_SET_PDEATHSIG")


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
