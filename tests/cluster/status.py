# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs, as a table."""

from __future__ import annotations

from tests.cluster import processes
from tests.cluster.paths import clusters_folder

_HEAD = ("CLUSTER", "PROGRAM", "PID", "PORT", "STATE", "MEMORY")


def status_table() -> str:
    """One line per program of every cluster in the clusters' folder."""
    rows = []
    for folder in sorted(path for path in clusters_folder().glob("*") if path.is_dir()):
        for process in processes.noted(folder):
            alive = process.alive
            memory = f"{process.memory / 2**20:.0f} MiB" if alive else "-"
            port = str(process.port) if process.port else "-"
            rows.append(
                (
                    folder.name,
                    process.program,
                    str(process.pid),
                    port,
                    "runs" if alive else "gone",
                    memory,
                )
            )
    if not rows:
        return f"no clusters in {clusters_folder()}"
    widths = [max(len(row[column]) for row in [_HEAD, *rows]) for column in range(len(_HEAD))]
    lines = (zip(row, widths, strict=True) for row in [_HEAD, *rows])
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in line).rstrip() for line in lines
    )
