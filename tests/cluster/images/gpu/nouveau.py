# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's own driver of the GPUs, which a machine that has it loads whenever it boots."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.images.gpu import gpus


def is_loaded(machine: Path) -> bool:
    """Whether it has the GPUs of the machine whose files are there."""
    hardware = machine / gpus.HARDWARE.relative_to("/")
    return gpus.read(hardware).nouveau and not _unloaded(machine).exists()


def unload(machine: Path) -> None:
    """As if by rmmod; a reboot empties /run."""
    _unloaded(machine).touch()


def _unloaded(machine: Path) -> Path:
    return machine / "run" / "stand-in-nouveau-unloaded"
