# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What this machine has for the gates."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

# Tests with clusters wait longer than they compute.
SLOTS_PER_CORE = 2.5
# Of what a slot may need, the most that was seen: two control planes with their nodes.
BYTES_PER_SLOT = 4 * 2**30
# A control plane has 15; real nodes, which take more, take more slots.
INOTIFY_INSTANCES_PER_SLOT = 25


def slots(cores: int | None = None, memory: int | None = None, inotify: int | None = None) -> int:
    """How many tests may run at a time; memory in bytes. What is not given is read from the
    kernel."""
    cores = cores or os.cpu_count() or 1
    memory = memory or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    inotify = inotify or int(Path("/proc/sys/fs/inotify/max_user_instances").read_text())
    return max(
        1,
        min(
            int(SLOTS_PER_CORE * cores),
            memory // BYTES_PER_SLOT,
            inotify // INOTIFY_INSTANCES_PER_SLOT,
        ),
    )


def without_root() -> str:
    """What is lacking for real nodes, which are made of namespaces and mounts."""
    return "" if os.geteuid() == 0 else "it needs root, for namespaces and mounts"


def without_virtual_machines() -> str:
    """What is lacking for nodes with kernels of their own; their packages the level installs itself."""
    if platform.machine() != "x86_64":
        return "it needs an x86_64 machine, which its virtual machines are"
    return without_root()


def without_kind() -> str:
    """What is lacking for a cluster of kind: as root on Debian, the step makes engine and node image
    itself."""
    if os.geteuid() == 0 and platform.freedesktop_os_release().get("ID") == "debian":
        return ""
    for engine in filter(shutil.which, ("docker", "podman")):
        if subprocess.run([engine, "info"], capture_output=True, check=False).returncode == 0:
            return ""
    return (
        "it needs Docker or podman, or root on Debian 12 or newer, where it brings its own Docker"
    )
