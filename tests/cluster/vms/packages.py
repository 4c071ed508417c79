# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What virtual machines need of this machine: Debian packages, installed where they are missing."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

from tests.cluster.errors import ClusterError, last_words
from tests.cluster.programs import Say
from tests.cluster.vms.secure_boot import CODE

# program, or the path of a file -> the Debian package that has it
_PACKAGES = {
    "qemu-system-x86_64": "qemu-system-x86",
    "depmod": "kmod",
    "busybox": "busybox-static",
    "cpio": "cpio",
    "xz": "xz-utils",
    "mkfs.ext4": "e2fsprogs",
    "qemu-img": "qemu-utils",
    str(CODE): "ovmf",
}
_ARCHITECTURE = "x86_64"


def ensure_packages(say: Say) -> None:
    """Install what is missing; ClusterError where that cannot be done."""
    if platform.machine() != _ARCHITECTURE:
        raise ClusterError(
            f"Virtual machines are of {_ARCHITECTURE}, and this machine is {platform.machine()}: "
            "run it elsewhere, or take real nodes without kernels of their own (--kubelets)."
        )
    missing = missing_packages()
    if not missing:
        return
    names = " ".join(missing)
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise ClusterError(
            f"Virtual machines need {names}: install these Debian packages as root, or run this as root."
        )
    say(f"installing {names}, for virtual machines ...")
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *missing]):
        _apt(command, names)


def missing_packages() -> list[str]:
    """Debian packages whose program or file is not there."""
    return sorted(
        package
        for name, package in _PACKAGES.items()
        if not (Path(name).is_file() if name.startswith("/") else shutil.which(name))
    )


def _apt(command: list[str], names: str) -> None:
    result = subprocess.run(
        ["apt-get", "-qq", *command],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        last = last_words(result.stderr, result.stdout)
        raise ClusterError(
            f"{names}, which virtual machines need, cannot be installed: `apt-get {command[0]}` said: "
            f"{last}; is a Debian mirror reachable?"
        )
