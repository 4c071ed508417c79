# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python packages for the Python of a Debian root file system."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.errors import ClusterError
from tests.cluster.paths import REPO

REQUIREMENTS = REPO / "requirements"


def install_wheels(names: Sequence[str], constraints: str, root: Path) -> None:
    """Install the packages, in the versions that a file of requirements/ pins, for root's own
    /usr/bin/python3; their programs are in /usr/local/bin."""
    python = (root / "usr/bin/python3").readlink().name
    target = root / "usr/local/lib" / python / "dist-packages"
    machine = platform.machine()
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-compile",
    ]
    command += [
        "--target",
        str(target),
        "--python-version",
        python.removeprefix("python"),
        "--only-binary=:all:",
    ]
    command += [
        f"--platform={tag}_{machine}"
        for tag in ("manylinux2014", "manylinux_2_17", "manylinux_2_28")
    ]
    command += ["--constraint", str(REQUIREMENTS / constraints), *names]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        last = (result.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise ClusterError(f"Could not install {', '.join(names)} into an image: {last}")
    for program in (target / "bin").glob("*"):
        _shebang, _end, rest = program.read_text().partition("\n")
        moved = root / "usr/local/bin" / program.name
        moved.parent.mkdir(parents=True, exist_ok=True)
        # pip names the Python that it runs under.
        moved.write_text(f"#!/usr/bin/python3\n{rest}")
        moved.chmod(0o755)
        program.unlink()
