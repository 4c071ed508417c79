# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A root file system for a process in namespaces of its own: an overlay, /proc, /dev, /run and
/tmp."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.kubelet import namespaces as ns

# name -> (major, minor) of the character devices that any machine has
_DEVICES = {
    "null": (1, 3),
    "zero": (1, 5),
    "full": (1, 7),
    "random": (1, 8),
    "urandom": (1, 9),
    "kmsg": (1, 11),
    "tty": (5, 0),
    "fuse": (10, 229),
}


def assemble(folder: Path, lower: Sequence[Path]) -> Path:
    """Mount FOLDER/root: what `lower` hold (the first lies on top), with all changes going to
    FOLDER/changes.

    To be called in a new mount and PID namespace; what is mounted stays invisible outside. Returns
    the mounted folder.
    """
    ns.mount("none", "/", flags=ns.MS_REC | ns.MS_PRIVATE)
    root, changes, work = (made(folder / name) for name in ("root", "changes", "work"))
    # The changes may become an image layer, which knows no redirections.
    layers = f"lowerdir={':'.join(map(str, lower))},upperdir={changes},workdir={work}"
    ns.mount("overlay", root, "overlay", data=f"{layers},redirect_dir=off,metacopy=off")
    ns.mount("proc", made(root / "proc"), "proc", ns.MS_NOSUID | ns.MS_NODEV | ns.MS_NOEXEC)
    for name, mode in (("run", "0755"), ("tmp", "1777")):
        ns.mount("tmpfs", made(root / name), "tmpfs", ns.MS_NOSUID | ns.MS_NODEV, f"mode={mode}")
    _make_devices(made(root / "dev"))
    return root


def bind(source: Path, target: Path) -> None:
    """Show a file or folder at another place, which is made when missing."""
    if source.is_dir():
        made(target)
    else:
        made(target.parent)
        target.touch()
    ns.mount(source, target, flags=ns.MS_BIND)


def made(folder: Path) -> Path:
    """The folder, made when missing."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _make_devices(folder: Path) -> None:
    ns.mount("tmpfs", folder, "tmpfs", ns.MS_NOSUID, "mode=0755")
    mask = os.umask(0)
    for name, (major, minor) in _DEVICES.items():
        os.mknod(folder / name, stat.S_IFCHR | 0o666, os.makedev(major, minor))
    os.umask(mask)
    for name in ("pts", "shm", "mqueue"):
        (folder / name).mkdir()
    ns.mount(
        "devpts",
        folder / "pts",
        "devpts",
        ns.MS_NOSUID | ns.MS_NOEXEC,
        "newinstance,ptmxmode=0666,mode=0620",
    )
    ns.mount("tmpfs", folder / "shm", "tmpfs", ns.MS_NOSUID | ns.MS_NODEV, "mode=1777")
    ns.mount("mqueue", folder / "mqueue", "mqueue", ns.MS_NOSUID | ns.MS_NODEV | ns.MS_NOEXEC)
    links = {
        "ptmx": "pts/ptmx",
        "fd": "/proc/self/fd",
        "stdin": "fd/0",
        "stdout": "fd/1",
        "stderr": "fd/2",
    }
    for name, target in links.items():
        (folder / name).symlink_to(target)
