# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`nvidia-ctk system create-dev-char-symlinks`: links MAJOR:MINOR under /dev/char to the device nodes of
/dev, wherever these are, as the real one does; a link that is there stays."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from tests.cluster.images.gpu import gpus


def main() -> int:
    """Make the links that are missing."""
    parser = argparse.ArgumentParser(prog="nvidia-ctk")
    parser.add_argument("command", nargs=2)
    parser.add_argument("--create-all", action="store_true")
    parser.add_argument("--dev-char-path", type=Path, required=True)
    parser.add_argument(
        "--driver-root", type=Path, default=os.environ.get("NVIDIA_DRIVER_ROOT", "/")
    )
    options = parser.parse_args()
    if options.command != ["system", "create-dev-char-symlinks"]:
        parser.error("only `system create-dev-char-symlinks` is simulated")
    for node in sorted((options.driver_root / "dev").glob("nvidia*")):
        link = options.dev_char_path / f"{gpus.MAJOR}:{os.minor(node.stat().st_rdev)}"
        if not link.is_symlink():
            link.symlink_to(f"/dev/{node.name}")
    return 0
