# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.gates.galaxy TARBALL`: what Galaxy says to it. To galaxy-importer warnings are a
success."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# How galaxy-importer begins the lines that are no news.
COMPLAINTS = ("WARNING:", "ERROR:", "CRITICAL:")


def complaints(log: str) -> list[str]:
    """The lines of galaxy-importer's log that an owner of the collection should not find there."""
    return [line for line in log.splitlines() if line.startswith(COMPLAINTS)]


def main() -> int:
    """Exit code 0 only if the tarball is imported without a complaint; prints the importer's whole
    log."""
    tarball = Path(sys.argv[1])
    # It takes namespace, name and version from the file's name, and looks for that in its own
    # folder.
    importer = ["python", "-m", "galaxy_importer.main", tarball.name]
    done = subprocess.run(
        importer,
        cwd=tarball.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    sys.stdout.write(done.stdout)
    found = complaints(done.stdout)
    sys.stdout.write(f"galaxy-importer: exit code {done.returncode}, {len(found)} complaints\n")
    return 1 if done.returncode or found else 0


if __name__ == "__main__":
    sys.exit(main())
