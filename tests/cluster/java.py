# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Java for ansible-rulebook: the machine's own, else Debian's, unpacked into the cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.cluster.errors import ClusterError
from tests.cluster.paths import cache_folder

PACKAGE = "openjdk-17-jre-headless"


def java_home() -> Path:
    """What JAVA_HOME has to be; ClusterError where there is no Java and none is to be had."""
    if given := os.environ.get("JAVA_HOME"):
        return Path(given)
    if program := shutil.which("java"):
        return Path(program).resolve().parents[1]
    unpacked = cache_folder() / "programs" / PACKAGE
    if not unpacked.is_dir():
        unpacked.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=unpacked.parent) as work:
            _unpack(Path(work))
            (Path(work) / "tree").rename(unpacked)
    return next((unpacked / "usr" / "lib" / "jvm").glob("java-17-openjdk-*"))


def _unpack(work: Path) -> None:
    """The package's files below `tree`; what its links name below /etc is there, too."""
    tree = work / "tree"
    try:
        subprocess.run(["apt-get", "download", PACKAGE], cwd=work, check=True, capture_output=True)
        (package,) = work.glob("*.deb")
        subprocess.run(["dpkg", "-x", str(package), str(tree)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ClusterError(
            f"ansible-rulebook needs Java 17, and there is none: install {PACKAGE} ({error})."
        ) from error
    for link in tree.rglob("*"):
        if link.is_symlink() and link.readlink().is_relative_to("/etc"):
            target = tree / link.readlink().relative_to("/")
            link.unlink()
            link.symlink_to(os.path.relpath(target, link.parent))
