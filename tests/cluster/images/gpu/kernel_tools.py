# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`lsmod` and `rmmod` of a machine whose only other module is nouveau."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.cluster.images.gpu import nouveau
from tests.cluster.images.gpu.gpus import MACHINE


def main() -> int:
    """List, or unload."""
    loaded = nouveau.is_loaded(MACHINE)
    if Path(sys.argv[0]).name == "lsmod":
        print("Module                  Size  Used by")
        if loaded:
            print("nouveau              3096576  0")
        return 0
    if sys.argv[1:] != ["nouveau"] or not loaded:
        print(f"rmmod: ERROR: Module {' '.join(sys.argv[1:])} is not currently loaded")
        return 1
    nouveau.unload(MACHINE)
    return 0
