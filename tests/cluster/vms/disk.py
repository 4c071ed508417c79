# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The disk that all virtual machines start from, and their kernels; made once, kept with the images.

Nothing is mounted for it: a root file system is laid out in a folder, images included, and becomes
an ext4 file system as it is.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.cluster.errors import ClusterError, last_words
from tests.cluster.images import Image, ensure_image, ensure_tree
from tests.cluster.images.build import images_lock, make_once
from tests.cluster.images.recipes import KERNEL_PACKAGES
from tests.cluster.kubelet.node import PROGRAMS
from tests.cluster.programs import KUBELET_MODULES, Programs, Say, ensure_programs
from tests.cluster.vms.packages import ensure_packages

_HERE = Path(__file__).parent
_SIZE = 6 * 2**30
_PATIENCE = 240.0
# What the initrd has to load before it sees the disk.
_DISK_DRIVERS = ("virtio_pci", "virtio_blk")


@dataclass(frozen=True)
class Boot:
    """What a machine is started with: a kernel and its initrd."""

    kernel: Path
    initrd: Path


@dataclass(frozen=True)
class Disk:
    """A raw disk, and what boots from it by the kernel's name, the oldest first."""

    file: Path
    boots: Mapping[str, Boot]


@dataclass(frozen=True)
class _Parts:
    """What the disk is made of: layers of a root file system (the uppermost first), programs, images
    that its container runtime has, kernels whose packages lie beside the last of these."""

    lower: Sequence[Path]
    programs: Programs
    images: Sequence[Image]
    kernels: Sequence[str]

    @property
    def packages(self) -> Path:
        return self.images[-1].archive.parent / KERNEL_PACKAGES


def ensure_disk(say: Say) -> Disk:
    """The disk; made if it is not in the cache, ClusterError where that cannot be done."""
    ensure_packages(say)
    # Pulled and unpacked by an emulated machine, half a gigabyte of base takes longer than a run waits.
    images = [ensure_image(name, say) for name in ("pause", "python-base", "kmod-base")]
    parts = _Parts(
        ensure_tree("node", say),
        ensure_programs(say, KUBELET_MODULES),
        images,
        images[-1].kernels,
    )
    with images_lock(say):
        folder = make_once(
            "vm",
            _inputs(parts),
            "the disk of virtual machines, with two kernels",
            lambda folder: _make(parts, folder),
            say,
        )
    boots = {
        name: Boot(folder / name / "vmlinuz", folder / name / "initrd") for name in parts.kernels
    }
    return Disk(folder / "disk.img", boots)


def _inputs(parts: _Parts) -> list[object]:
    ours = [Path(__file__), _HERE / "init.sh", _HERE / "initrd.sh"]
    return [
        [folder.parent.name for folder in parts.lower],
        [image.archive.parent.name for image in parts.images],
        [parts.programs.programs[name].parent.name for name in PROGRAMS],
        [file.read_text() for file in ours],
    ]


def _make(parts: _Parts, folder: Path) -> None:
    root = folder / "root"
    for layer in reversed(parts.lower):
        _run(["cp", "-a", f"{layer}/.", root])
    for name in PROGRAMS:
        _copy_program(parts.programs.programs[name], root / "usr/local/bin" / name)
    _copy_program(_HERE / "init.sh", root / "sbin/init.vm")
    for kernel in parts.kernels:
        (folder / kernel).mkdir()
        _unpack(parts.packages, kernel, root, folder / kernel)
        _make_initrd(kernel, root, folder / kernel)
    with tempfile.TemporaryDirectory() as place:
        _import(parts, root / "var/lib/containerd", Path(place))
    disk = folder / "disk.img"
    with disk.open("wb") as file:
        file.truncate(_SIZE)
    # A journal is for machines that lose power; these are made anew.
    _run(["mkfs.ext4", "-q", "-O", "^has_journal", "-d", root, disk])
    shutil.rmtree(root)


def _copy_program(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755)


def _unpack(packages: Path, kernel: str, root: Path, target: Path) -> None:
    """The kernel into `target`, its modules into the root file system."""
    (package,) = packages.glob(f"linux-image-{kernel}_*.deb")
    # Into a folder of its own: in `root`, it would take the place of the link /lib.
    _run(["dpkg-deb", "-x", package, target / "package"])
    (target / "package/boot" / f"vmlinuz-{kernel}").rename(target / "vmlinuz")
    modules = root / "usr/lib/modules"
    modules.mkdir(exist_ok=True)
    (target / "package/lib/modules" / kernel).rename(modules / kernel)
    shutil.rmtree(target / "package")
    _run(["depmod", "-b", root, kernel])


def _make_initrd(kernel: str, root: Path, target: Path) -> None:
    """A static busybox, the disk's drivers in the order in which they are loaded, and initrd.sh."""
    tree = target / "tree"
    busybox = shutil.which("busybox")
    assert busybox is not None
    _copy_program(Path(busybox), tree / "bin/busybox")
    (tree / "bin/sh").symlink_to("busybox")
    _copy_program(_HERE / "initrd.sh", tree / "init")
    (tree / "dev").mkdir()
    os.mknod(tree / "dev/console", stat.S_IFCHR | 0o600, os.makedev(5, 1))
    shown = _run(["modprobe", "-d", root, "-S", kernel, "--show-depends", "-a", *_DISK_DRIVERS])
    names = []
    for line in shown.splitlines():
        word, _blank, path = line.strip().partition(" ")
        if word == "insmod":
            names.append(_add_module(Path(path.strip()), tree))
    (tree / "modules").write_text("".join(f"{name}\n" for name in dict.fromkeys(names)))
    listed = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
    with (target / "initrd").open("wb") as initrd:
        _run(["cpio", "-o", "-H", "newc", "--quiet"], tree, stdin=listed.encode(), stdout=initrd)
    shutil.rmtree(tree)


def _add_module(file: Path, tree: Path) -> str:
    """The module, decompressed for busybox; returns its name there."""
    name = file.name.removesuffix(".xz")
    if file.suffix == ".xz":
        with (tree / name).open("wb") as target:
            _run(["xz", "-dc", file], stdout=target)
    else:
        shutil.copyfile(file, tree / name)
    return name


def _import(parts: _Parts, storage: Path, place: Path) -> None:
    """Give images to a container runtime that does not run yet, by one of the same program that has
    its folder."""
    socket, config = place / "socket", place / "config.toml"
    config.write_text(
        f"""version = 3
root = '{storage}'
state = '{place / "state"}'
disabled_plugins = ['io.containerd.cri.v1.images', 'io.containerd.cri.v1.runtime', 'io.containerd.grpc.v1.cri']

[grpc]
address = '{socket}'
"""
    )
    programs = parts.programs
    log = place / "log"
    with log.open("wb") as file:
        daemon = subprocess.Popen(
            [programs["containerd"], f"--config={config}"], stdout=file, stderr=subprocess.STDOUT
        )
    ctr = [programs["ctr"], f"--address={socket}", "--namespace=k8s.io"]

    try:
        _wait([*ctr, "version"], log)
        for image in parts.images:
            _run([*ctr, "images", "import", "--local", image.archive])
    finally:
        daemon.terminate()
        daemon.wait()


def _wait(command: Sequence[str], log: Path) -> None:
    """Until the command ends well."""
    deadline = time.monotonic() + _PATIENCE
    while subprocess.run(command, capture_output=True, check=False).returncode != 0:
        if time.monotonic() > deadline:
            last = (log.read_text(errors="replace").strip().splitlines() or ["nothing"])[-1]
            raise ClusterError(
                f"containerd, which unpacks images for virtual machines, did not answer within {_PATIENCE:.0f} s; "
                f"its last line: {last}"
            )
        time.sleep(0.1)


def _run(
    command: Sequence[str | Path],
    directory: Path | None = None,
    *,
    stdin: bytes = b"",
    stdout: IO[bytes] | None = None,
) -> str:
    """What the command prints, where it is not for a file; ClusterError with its last words if it
    fails."""
    result = subprocess.run(
        list(map(str, command)),
        cwd=directory,
        input=stdin,
        stdout=stdout or subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=False,
    )
    if result.returncode != 0:
        last = last_words(result.stderr.decode(errors="replace"))
        raise ClusterError(
            f"The disk of virtual machines cannot be made, {Path(command[0]).name} failed: {last}"
        )
    return (result.stdout or b"").decode()
