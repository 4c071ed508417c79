# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.cluster.images.sandbox FOLDER LOWER SCRIPT SOURCES`: run a script on top of a
root file system.

What it changes is in FOLDER/changes afterwards. Nothing of this machine gets into the changes: name
servers, package sources and lists of packages are only shown while the script runs.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tests.cluster.kubelet import namespaces as ns
from tests.cluster.kubelet.rootfs import assemble, bind, made
from tests.cluster.kubelet.supervise import exit_like, pass_signals_to

_ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LC_ALL": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
}


def main() -> None:
    """Set up and run; the exit code is the script's."""
    folder, lower, script, sources = sys.argv[1:]
    ns.unshare(ns.CLONE_NEWNS | ns.CLONE_NEWPID)
    child = os.fork()
    if child == 0:
        ns.die_with_parent(signal.SIGKILL)
        root = assemble(
            Path(folder).absolute(), [Path(part).absolute() for part in lower.split(":")]
        )
        for name in ("var/lib/apt/lists", "var/cache/apt", "var/log"):
            ns.mount("tmpfs", made(root / name), "tmpfs")
        bind(Path("/etc/resolv.conf").resolve(), root / "etc/resolv.conf")
        bind(Path(sources).absolute(), root / "etc/apt/sources.list")
        text = Path(script).read_text()
        proxies = {
            name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")
        }
        ns.pivot_root(root)
        os.execve("/bin/sh", ["/bin/sh", "-euc", text], {**_ENVIRONMENT, **proxies})  # noqa: S606 - a shell on purpose
    pass_signals_to(child)
    exit_like(child)


if __name__ == "__main__":
    main()
