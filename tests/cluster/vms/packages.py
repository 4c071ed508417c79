# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What virtual machines need of this machine."""

from __future__ import annotations

import platform

from tests.cluster.errors import ClusterError
from tests.cluster.packages import install_missing
from tests.cluster.programs import Say
from tests.cluster.vms.secure_boot import CODE

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
    install_missing(_PACKAGES, "virtual machines", say)
