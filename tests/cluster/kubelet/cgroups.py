# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cgroups of real nodes: made in every hierarchy before the start, removed after the end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from tests.cluster.errors import ClusterError

_MOUNTS = Path("/proc/self/mountinfo")


def hierarchies(mountinfo: str | None = None) -> list[tuple[Path, str]]:
    """(mount point, "cgroup" or "cgroup2") of every hierarchy of this machine."""
    text = _MOUNTS.read_text() if mountinfo is None else mountinfo
    found = []
    for line in text.splitlines():
        before, _dash, after = line.partition(" - ")
        kind = after.split()[0]
        if kind in ("cgroup", "cgroup2"):
            found.append((Path(before.split()[4]), kind))
    return found


def make(name: str, children: list[str]) -> None:
    """Make the cgroup NAME and its children in all hierarchies; they may be there already."""
    for root, kind in hierarchies():
        for folder in (root / name, *(root / name / child for child in children)):
            folder.mkdir(exist_ok=True)
            if kind == "cgroup2":
                _delegate(folder)
            for setting in ("cpuset.cpus", "cpuset.mems"):
                # A cpuset without processors takes no process; version 1 does not inherit them by
                # itself.
                file = folder / setting
                if kind == "cgroup" and file.exists() and not file.read_text().strip():
                    file.write_text((folder.parent / setting).read_text())


def remove(name: str, *, patience: float = 10) -> None:
    """Remove the cgroup with all below it, in all hierarchies; ClusterError if processes are still
    in one."""
    deadline = time.monotonic() + patience
    for root, _kind in hierarchies():
        for folder in _deepest_first(root / name):
            while True:
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError as error:
                    # The last process of a cgroup leaves it a moment after it ended.
                    if time.monotonic() > deadline:
                        raise ClusterError(
                            f"The cgroup {folder} cannot be removed ({error.strerror}): see {folder / 'cgroup.procs'}."
                        ) from error
                    time.sleep(0.05)
                else:
                    break


def _delegate(folder: Path) -> None:
    """Let the cgroups below use all controllers that this one has (version 2)."""
    controllers = (folder.parent / "cgroup.controllers").read_text().split()
    (folder.parent / "cgroup.subtree_control").write_text(
        " ".join(f"+{name}" for name in controllers)
    )


def _deepest_first(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for child in folder.iterdir():
        if child.is_dir():
            yield from _deepest_first(child)
    yield folder
