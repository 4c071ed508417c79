# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`nvidia-smi -L`. It is mounted into containers of any image with a Python, so it needs nothing
but that."""

from __future__ import annotations

import json
import sys
from pathlib import Path

LIBRARY, CONTROL = Path("/usr/lib/libcuda.so.1"), Path("/dev/nvidiactl")
NOT_LOADED = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
    "Make sure that the latest NVIDIA driver is installed and running."
)

if __name__ == "__main__":
    if sys.argv[1:] != ["-L"]:
        sys.exit(f"usage: nvidia-smi -L, not {sys.argv[1:]}")
    if not LIBRARY.exists() or not CONTROL.is_char_device():
        print(NOT_LOADED)
        sys.exit(9)
    found = json.loads(LIBRARY.read_text())
    for number, identity in enumerate(found["uuids"]):
        if Path(f"/dev/nvidia{number}").is_char_device():
            print(f"GPU {number}: {found['product']} (UUID: {identity})")
