# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel module nvidia of a machine: it outlives the container that loaded it, and nobody
unloads it while some process has a device open.

No kernel stands behind the devices here, so processes open them with O_PATH, and who has one open
is read from /proc, which is what the real driver's installer shows of a module that is in use.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

UNLOADS_S = 1.0
DEVICES = Path("/dev/nvidia")


class KernelModule:
    """The module of the machine whose files are under `machine`; a reboot empties its /run."""

    def __init__(self, machine: Path, processes: Path) -> None:
        self._loaded = machine / "run" / "stand-in-nvidia-module"
        self._processes = processes

    @property
    def configuration(self) -> str | None:
        """What it was loaded with, None while it is not loaded."""
        return self._loaded.read_text() if self._loaded.exists() else None

    def load(self, configuration: str) -> None:
        """As if by modprobe."""
        self._loaded.write_text(configuration)

    def unload(self) -> bool:
        """Takes its time; False where it is in use."""
        if self.configuration is None:
            return True
        if any(self.users()):
            return False
        time.sleep(UNLOADS_S)
        self._loaded.unlink(missing_ok=True)
        return True

    def users(self) -> Iterator[int]:
        """Processes that have a device open."""
        for file in self._processes.glob("[0-9]*/fd/*"):
            try:
                path = str(file.readlink())
            except OSError:
                continue
            if path.startswith(str(DEVICES)):
                yield int(file.parts[-3])


def open_devices() -> None:
    """Have all devices open that this process can see, until it ends."""
    for path in DEVICES.parent.glob(f"{DEVICES.name}*"):
        if path.is_char_device():
            os.open(path, os.O_PATH)
