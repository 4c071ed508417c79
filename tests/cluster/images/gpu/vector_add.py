# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CUDA sample vectorAdd: fails, with the words of the real one, where driver, runtime hook or
device is missing."""

from __future__ import annotations

import errno
import os

from tests.cluster.images.gpu import gpus
from tests.cluster.images.gpu.gpus import Gpus

NO_DRIVER = "CUDA driver version is insufficient for CUDA runtime version"
NO_DEVICE = "no CUDA-capable device is detected"
NOT_ALLOWED = "OS call failed or operation not supported on this OS"


def main() -> int:
    """Add, or say why not."""
    print("[Vector addition of 50000 elements]")
    problem = find_problem()
    if problem:
        print(f"Failed to allocate device vector A (error code {problem})!", flush=True)
        return 1
    print("Test PASSED\nDone", flush=True)
    return 0


def find_problem() -> str:
    """What CUDA would say, "" where nothing is missing."""
    try:
        found = gpus.read(gpus.LIBRARY)
    except OSError:
        return NO_DRIVER
    numbers = usable(found)
    if not numbers or not gpus.is_device(gpus.CONTROL, gpus.CONTROL_MINOR):
        return NO_DEVICE
    if not all(is_allowed(number) for number in numbers):
        return NOT_ALLOWED
    return found.fault


def usable(found: Gpus) -> list[int]:
    """Numbers of the GPUs whose device nodes this container has got."""
    return [number for number in range(found.count) if gpus.is_device(gpus.device(number), number)]


def is_allowed(number: int) -> bool:
    """Whether this container may use the device: its cgroup is asked before the kernel finds no
    driver behind it."""
    try:
        os.close(os.open(gpus.device(number), os.O_RDWR))
    except OSError as error:
        return error.errno == errno.ENXIO
    return True
