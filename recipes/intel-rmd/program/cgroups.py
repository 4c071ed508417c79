# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which CPUs the containers of pods may run on, from the cgroups that kubelet and container runtime
made for them.

Names on the way, by cgroup driver (kubernetes/pkg/kubelet/cm/cgroup_manager_linux.go; the last one
is the runtime's):
  cgroupfs   kubepods/burstable/pod<uid>/<container id>
  systemd    kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid, _ for ->.slice/crio-<id>.scope
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from cpusets import line

# Static pods have the hash of their manifest for a uid, without dashes.
_POD = re.compile(
    r"pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?$"
)
_CONTAINER = re.compile(r"^(?:[a-z0-9-]*-)?([0-9a-f]{64})(?:\.scope)?$")
# cri-o keeps what watches a container in a cgroup that is named like the container's.
_WATCHER = "conmon"
# A kubelet's own root (cgroupRoot, a node that is itself a container) may be some levels down.
_DEEPEST_ROOT = 4
_DEEPEST_POD = 2


def read(root: Path) -> dict[str, dict[str, str]]:
    """Pod uid -> container id -> CPUs. root: what is mounted at /sys/fs/cgroup. Raises OSError
    where nothing is."""
    if not root.is_dir():
        raise FileNotFoundError(f"there are no cgroups at {root}")
    found: dict[str, dict[str, str]] = {}
    for pod_folder, uid in _pods(_hierarchy(root)):
        containers = {name: cpus for name, cpus in _containers(pod_folder) if cpus}
        if containers:
            found.setdefault(uid, {}).update(containers)
    return found


def _hierarchy(root: Path) -> Path:
    """Where CPU sets are: a hierarchy of their own in version 1, the only one in version 2."""
    for name in ("cpuset", "cpu,cpuset", "cpuset,cpu"):
        if (root / name / "cpuset.cpus").exists():
            return root / name
    return root


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(
            entry for entry in folder.iterdir() if entry.is_dir() and not entry.is_symlink()
        )
    except OSError:
        return []  # gone since it was listed


def _pods(root: Path) -> Iterator[tuple[Path, str]]:
    """The cgroups of pods, wherever below root the kubelet's own tree begins."""
    left = [(root, 0)]
    while left:
        folder, depth = left.pop()
        for child in _folders(folder):
            if "kubepods" in child.name:
                yield from _pods_in(child)
            elif depth < _DEEPEST_ROOT:
                left.append((child, depth + 1))


def _pods_in(folder: Path) -> Iterator[tuple[Path, str]]:
    for child in _folders(folder):
        pod = _POD.search(child.name)
        if pod:
            yield child, pod[1].replace("_", "-")
        elif "burstable" in child.name or "besteffort" in child.name:
            yield from _pods_in(child)


def _containers(pod: Path) -> Iterator[tuple[str, str]]:
    left = [(pod, 1)]
    while left:
        folder, depth = left.pop()
        for child in _folders(folder):
            container = _CONTAINER.match(child.name)
            if _WATCHER in child.name:
                continue
            if container:
                yield container[1], _cpus(child)
            elif depth < _DEEPEST_POD:
                left.append((child, depth + 1))


def _cpus(folder: Path) -> str:
    """What was set, else (only version 2 leaves it empty) what follows from the cgroups above."""
    for name in ("cpuset.cpus", "cpuset.cpus.effective"):
        try:
            cpus = line(folder / name)
        except OSError:
            continue
        if cpus:
            return cpus
    return ""
