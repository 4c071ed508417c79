# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small static programs in Go, since Go is here anyway."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.cluster.errors import ClusterError
from tests.cluster.toolchain import find_go, go_environment


def build_program(source: Path, target: Path, say: Callable[[str], None]) -> None:
    """Compile one file that needs nothing but Go's own packages."""
    target.parent.mkdir(parents=True, exist_ok=True)
    command = [find_go(say), "build", "-trimpath", "-ldflags=-s -w", "-o", str(target), str(source)]
    environment = {**go_environment(), "GO111MODULE": "off"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise ClusterError(f"Could not build {source}: {result.stderr.strip()}")
