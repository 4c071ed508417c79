# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Another kernel release in what uname(2) says, for a process and all its children, down to the
containers.

A seccomp filter hands every uname call to the parent of the process, which answers it as the kernel
would but for the release. Nothing else tells a program the kernel of its node, except /proc/version
and /proc/sys/kernel/osrelease.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct

# machine -> (AUDIT_ARCH, number of uname, number of seccomp)
_NUMBERS = {"x86_64": (0xC000003E, 63, 317), "aarch64": (0xC00000B7, 160, 277)}
_SET_MODE_FILTER = 1
_NEW_LISTENER = 8
_USER_NOTIF = 0x7FC00000
_ALLOW = 0x7FFF0000
# ioctl numbers of linux/seccomp.h and the layouts of what they read and write
_RECEIVE, _SEND, _IS_VALID = 0xC0502100, 0xC0182101, 0x40082102
_NOTIFICATION = struct.Struct("=QIIiIQ6Q")
_ANSWER = struct.Struct("=QqiI")
_FIELD = 65

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def intercept() -> int:
    """Hand the uname calls of this process and its future children over; the descriptor on which
    they are answered."""
    architecture, uname, seccomp = _NUMBERS[os.uname().machine]
    load, equal, answer = 0x20, 0x15, 0x06
    # Of the call's data the number is at offset 0, the architecture at 4.
    steps = [
        (load, 0, 0, 4),
        (equal, 0, 3, architecture),
        (load, 0, 0, 0),
        (equal, 0, 1, uname),
        (answer, 0, 0, _USER_NOTIF),
        (answer, 0, 0, _ALLOW),
    ]
    program = _Program(len(steps), b"".join(struct.pack("=HBBI", *step) for step in steps))
    listener = int(_libc.syscall(seccomp, _SET_MODE_FILTER, _NEW_LISTENER, ctypes.byref(program)))
    if listener < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")
    return listener


def answer(listener: int, release: str, processes: int) -> None:
    """Answer one call. `processes` is a descriptor of a /proc in which the caller is to be seen."""
    request = bytearray(_NOTIFICATION.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, request)
    except OSError:
        return  # the caller was killed meanwhile
    identity, pid, _flags, _number, _arch, _pointer, address, *_rest = _NOTIFICATION.unpack(request)
    error = 0
    try:
        _write(pid, address, release, processes)
        fcntl.ioctl(listener, _IS_VALID, struct.pack("=Q", identity))
    except OSError as problem:
        error = -(problem.errno or 1)
    try:
        fcntl.ioctl(listener, _SEND, _ANSWER.pack(identity, 0, error, 0))
    except OSError:
        return  # likewise


def _write(pid: int, address: int, release: str, processes: int) -> None:
    """Write the caller's struct utsname: its own host name, the given release."""
    namespace = os.open(f"{pid}/ns/uts", os.O_RDONLY | os.O_CLOEXEC, dir_fd=processes)
    try:
        # The host name is that of the caller's pod.
        if _libc.setns(namespace, 0) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(namespace)
    true = os.uname()
    fields = (true.sysname, true.nodename, release, true.version, true.machine, "(none)")
    memory = os.open(f"{pid}/mem", os.O_WRONLY | os.O_CLOEXEC, dir_fd=processes)
    try:
        os.pwrite(
            memory,
            b"".join(field.encode()[: _FIELD - 1].ljust(_FIELD, b"\0") for field in fields),
            address,
        )
    finally:
        os.close(memory)
