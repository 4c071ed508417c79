# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel lets a user have of the things that a cluster needs many of."""

from __future__ import annotations

import os
from pathlib import Path

from tests.cluster.errors import ClusterError

_SETTING = "fs.inotify.max_user_instances"
# Counted: 15 by a control plane, 8 more by the kubelet and the containerd of each real node.
_OF_CONTROL_PLANE, _OF_NODE = 15, 8


def check_inotify(kubelets: int, proc: Path = Path("/proc")) -> None:
    """Raise ClusterError where too few inotify instances are left; without them daemons fail, and
    say it in no words that tell what to do."""
    limit = int((proc / "sys/fs/inotify/max_user_instances").read_text())
    needed, used = _OF_CONTROL_PLANE + _OF_NODE * kubelets, _used(proc)
    if used + needed > limit:
        raise ClusterError(
            f"The cluster needs {needed} inotify instances, and {used} of your {limit} are in use: run "
            f"`sysctl -w {_SETTING}=1024` as root, or take other clusters down."
        )


def _used(proc: Path) -> int:
    """How many this user's processes have."""
    count = 0
    for process in proc.glob("[0-9]*"):
        try:
            if process.stat().st_uid == os.geteuid():
                count += sum(
                    file.readlink().name == "anon_inode:inotify"
                    for file in (process / "fd").iterdir()
                )
        except OSError:
            # It has ended, or closed a file.
            continue
    return count
