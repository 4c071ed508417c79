# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`nvidia-device-plugin`: offers the GPUs that it sees as nvidia.com/gpu, each as a CDI device that
it describes."""

from __future__ import annotations

import os
import sys

from tests.cluster.images.gpu import cdi, gpus
from tests.cluster.images.gpu.device_plugin import Plugin
from tests.cluster.images.gpu.kernel_module import open_devices

RESOURCE, KIND = "nvidia.com/gpu", "k8s.device-plugin.nvidia.com/gpu"


def main() -> int:
    """Serve, if there is a driver."""
    try:
        found = gpus.read(gpus.LIBRARY)
    except OSError:
        print(
            f"{gpus.LIBRARY.name} not found: no driver, or not started by the nvidia runtime",
            file=sys.stderr,
        )
        return 1
    open_devices()
    names = {found.uuid(number): number for number in range(found.count)}
    cdi.write(
        KIND, {name: [number] for name, number in names.items()}, os.environ["NVIDIA_DRIVER_ROOT"]
    )
    Plugin(RESOURCE, {name: f"{KIND}={name}" for name in names}, "nvidia-gpu.sock").run()
    return 0
