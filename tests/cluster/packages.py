# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian packages that a part of the local cluster needs of this machine, installed where they are
missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.cluster.errors import ClusterError, last_words
from tests.cluster.programs import Say


def install_missing(packages: Mapping[str, str], purpose: str, say: Say) -> None:
    """Install what is missing; ClusterError where that cannot be done. packages: program, or the path
    of a file -> the package that has it. purpose: who needs them, such as "virtual machines"."""
    missing = missing_packages(packages)
    if not missing:
        return
    names = " ".join(missing)
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise ClusterError(
            f"For {purpose} {names} is missing: install these Debian packages as root, or run this as root."
        )
    say(f"installing {names}, for {purpose} ...")
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *missing]):
        _apt(command, names, purpose)


def missing_packages(packages: Mapping[str, str]) -> list[str]:
    """Those whose program or file is not there."""
    return sorted(
        {
            package
            for name, package in packages.items()
            if not (Path(name).is_file() if name.startswith("/") else shutil.which(name))
        }
    )


def _apt(command: list[str], names: str, purpose: str) -> None:
    result = subprocess.run(
        ["apt-get", "-qq", *command],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        last = last_words(result.stderr, result.stdout)
        raise ClusterError(
            f"{names}, for {purpose}, cannot be installed: `apt-get {command[0]}` said: "
            f"{last}; is a Debian mirror reachable?"
        )
