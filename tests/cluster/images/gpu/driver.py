# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`nvidia-driver init`: drives the machine's GPUs until it is told to end.

What the real one leaves behind: the module in /sys (shown in this container only, since /sys is
everybody's), device nodes and libraries in a tree that is mounted for the host under
/run/nvidia/driver. What it refuses: to end, or to load another configuration, while a process has a
device open; to load while nouveau has the GPUs; to start without what it needs of the host.
"""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

from tests.cluster.images.gpu import gpus, nouveau
from tests.cluster.images.gpu.gpus import MACHINE, Gpus
from tests.cluster.images.gpu.kernel_module import KernelModule

HARDWARE = MACHINE / gpus.HARDWARE.relative_to("/")
TREE = Path("/opt/driver")
MOUNTED = Path("/run/nvidia/driver")
# In the real one's root, too. The next pod's volume is that folder: where it had to be made in the tree
# of a container that is gone, the kubelet could not, and the pod would be created for ever.
FIRMWARE = Path("/lib/firmware")
LOOK_EVERY_S = 1.0
# What the real one writes for the host, reads of it, or has the kernel read.
NEEDS = ("/dev/log", "/host-etc/os-release", "/lib/firmware", "/run/nvidia", "/var/log")
# The words of the real one.
IN_USE = "Could not unload NVIDIA driver kernel modules, driver is in use"


def main() -> int:
    """Load, wait, unload."""
    if sys.argv[1:] != ["init"]:
        print(f"usage: nvidia-driver init, not {sys.argv[1:]}", file=sys.stderr)
        return 2
    missing = [path for path in NEEDS if not os.path.ismount(path)]
    if missing:
        print(f"not of the host: {', '.join(missing)}", file=sys.stderr)
        return 1
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    try:
        found = gpus.read(HARDWARE)
    except OSError:
        print("No NVIDIA GPU found on this machine", file=sys.stderr)
        return 1
    if nouveau.is_loaded(MACHINE):
        print("modprobe: ERROR: could not insert 'nvidia': No such device", file=sys.stderr)
        return 1
    module, mine = KernelModule(MACHINE, Path("/proc")), os.environ["DRIVER_CONFIG_DIGEST"]
    if module.configuration == mine:
        print("The module is loaded with this configuration already", flush=True)
    elif not module.unload():
        print(IN_USE, file=sys.stderr)
        return 1
    remove_files()
    module.load(mine)
    install_files(found)
    print(
        f"Driver for {found.count} {found.product} is loaded on kernel {os.uname().release}",
        flush=True,
    )
    while not told.wait(LOOK_EVERY_S):
        current = gpus.read(HARDWARE)
        if current != found:
            found = current
            gpus.write(found, inside(gpus.LIBRARY))
    if not module.unload():
        print(IN_USE, file=sys.stderr)
        return 1
    remove_files()
    print("Driver is unloaded", flush=True)
    return 0


def install_files(found: Gpus) -> None:
    """Make the tree and show it."""
    minors = {
        gpus.CONTROL: gpus.CONTROL_MINOR,
        **{gpus.device(number): number for number in range(found.count)},
    }
    for path, minor in minors.items():
        for target in (path, inside(path)):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            os.mknod(target, stat.S_IFCHR | 0o666, os.makedev(gpus.MAJOR, minor))
            target.chmod(0o666)
    gpus.write(found, inside(gpus.LIBRARY))
    gpus.LIBRARY.unlink(missing_ok=True)
    gpus.LIBRARY.symlink_to(inside(gpus.LIBRARY))
    inside(gpus.SMI).parent.mkdir(parents=True, exist_ok=True)
    inside(gpus.SMI).write_bytes(gpus.SMI.read_bytes())
    inside(gpus.SMI).chmod(0o755)
    inside(FIRMWARE).mkdir(parents=True, exist_ok=True)
    MOUNTED.mkdir(parents=True, exist_ok=True)
    run("mount", "--bind", str(TREE), str(MOUNTED))
    run("mount", "-t", "tmpfs", "modules", "/sys/module")
    module = Path("/sys/module/nvidia")
    module.mkdir()
    (module / "refcnt").write_text("0\n")


def remove_files() -> None:
    """Take away what is there, also of a container that was killed."""
    while MOUNTED.is_mount():
        run("umount", "--lazy", str(MOUNTED))
    if Path("/sys/module/nvidia").exists():
        run("umount", "--lazy", "/sys/module")


def inside(path: Path) -> Path:
    """Where a path of a machine with this driver is in the tree."""
    return TREE / path.relative_to("/")


def run(*command: str) -> None:
    """Run a program; CalledProcessError if it fails."""
    subprocess.run(command, check=True)
