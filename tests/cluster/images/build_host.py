# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host that builds: the program buildah, run in the root file system of our image builder. Other
programs out of our images likewise."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.cluster.images.build import ensure_tree
from tests.cluster.registry.configuration import NAME

_SCRIPT = """\
#!/bin/sh
# The caller's files are under /tmp, which is the same inside. Mounts end with this process. Images lie on the disk
# itself: an overlay cannot lie on another one, and buildah's other way copies the whole image for each layer.
exec unshare --mount sh -ec '
  mount -t overlay overlay -o lowerdir={lower},upperdir={folder}/upper,workdir={folder}/work {folder}/root
  mount --rbind /tmp {folder}/root/tmp
  mkdir -p {folder}/root/var/lib/containers
  mount --bind {folder}/storage {folder}/root/var/lib/containers
  mount --rbind /dev {folder}/root/dev
  mount -t proc proc {folder}/root/proc
  cp {folder}/hosts {folder}/root/etc/hosts
  exec chroot {folder}/root /usr/bin/env BUILDAH_ISOLATION=chroot STORAGE_DRIVER=overlay /usr/bin/{program} "$@"
' {program} "$@"
"""


def make_build_host(folder: Path) -> Path:
    """A folder for PATH with the program buildah, which knows the registries of tests by their
    name."""
    return make_host(folder, "builder", "buildah")


def make_host(folder: Path, image: str, program: str) -> Path:
    """A folder for PATH with one program of an image of ours, which runs in its root file system."""
    for name in ("upper", "work", "root", "storage", "bin"):
        (folder / name).mkdir(parents=True)
    (folder / "hosts").write_text(f"127.0.0.1 {NAME}\n")
    lower = ":".join(str(layer) for layer in ensure_tree(image))
    file = folder / "bin" / program
    file.write_text(_SCRIPT.format(lower=lower, folder=shlex.quote(str(folder)), program=program))
    file.chmod(0o755)
    return file.parent
