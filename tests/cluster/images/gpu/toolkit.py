# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`nvidia-ctk-installer`: makes containerd on the node know the GPUs.

Copies the runtime to the node and describes all GPUs as one CDI device. With --no-daemon it tells
containerd of the runtime by a drop-in and restarts it, as a service manager would, by a signal to
the process behind its socket. With ENABLE_NRI_PLUGIN it does neither, and becomes a plugin of
containerd's NRI that gives that device to pods of its own namespace by their annotation.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import struct
import sys
import time
from pathlib import Path
from typing import NoReturn

from tests.cluster.images.gpu import cdi, gpus

PROGRAMS = ("nvidia-container-runtime", "nvidia-ctk")
# The stand-in of NRI's device injector, see tests/cluster/tools/device-injector.
PLUGIN = "/usr/bin/plugin"
ANNOTATION = "nvidia.cdi.k8s.io"
KIND = os.environ.get("NVIDIA_CONTAINER_RUNTIME_MODES_CDI_DEFAULT_KIND", "")
_DROP_IN = """\
version = 3

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.{name}]
runtime_type = 'io.containerd.runc.v2'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.{name}.options]
BinaryName = '{program}'
SystemdCgroup = false
"""


def main() -> int:
    """Install; the exit code says whether all went well."""
    nri = os.environ.get("ENABLE_NRI_PLUGIN") == "true"
    if sys.argv[1:] != ([] if nri else ["--no-daemon"]) or os.environ["RUNTIME"] != "containerd":
        print(
            "only --no-daemon or ENABLE_NRI_PLUGIN, and containerd, are simulated,"
            f" not {sys.argv[1:]} and {os.environ['RUNTIME']}"
        )
        return 2
    tree = Path(os.environ["DRIVER_ROOT_CTR_PATH"])
    try:
        found = gpus.read(tree / gpus.LIBRARY.relative_to("/"))
    except OSError:
        print(f"no driver under {tree}: {gpus.LIBRARY.name} not found", file=sys.stderr)
        return 1
    folder = Path(os.environ["ROOT"]) / "toolkit"
    folder.mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        partial = folder / f".{name}"
        shutil.copy(f"/usr/local/bin/{name}", partial)
        partial.rename(folder / name)
    (folder / "runtime.json").write_text(json.dumps({"folders": [str(cdi.FOLDER)], "kind": KIND}))
    written = cdi.write(KIND, {"all": list(range(found.count))}, os.environ["NVIDIA_DRIVER_ROOT"])
    print(f"wrote {written}", flush=True)
    if nri:
        become_plugin()
    configure(folder / "nvidia-container-runtime")
    print(
        f"restarted the container runtime, process {restart(os.environ['RUNTIME_SOCKET'])}",
        flush=True,
    )
    return 0


def become_plugin() -> NoReturn:
    """Go on as the plugin, which says "Waiting for signal" once containerd knows it."""
    Path(os.environ["TOOLKIT_PID_FILE"]).write_text(str(os.getpid()))
    options = {
        "name": "nvidia-toolkit",
        "prefix": f"{ANNOTATION}/container.",
        "namespace": os.environ["NRI_NAMESPACE"],
        "socket": os.environ["NRI_SOCKET"],
    }
    # No shell: what it is given comes from a pod's manifest.
    os.execv(PLUGIN, [PLUGIN, *(f"-{name}={value}" for name, value in options.items())])  # noqa: S606


def configure(program: Path) -> None:
    """Write the drop-in, and make the main configuration import it."""
    name, drop_in = os.environ["NVIDIA_RUNTIME_NAME"], Path(os.environ["RUNTIME_DROP_IN_CONFIG"])
    drop_in.write_text(_DROP_IN.format(name=name, program=program))
    config = Path(os.environ["RUNTIME_CONFIG"])
    text = config.read_text()
    if "imports" not in text:
        # Before the first table, where a key belongs to none.
        folder = Path(os.environ["RUNTIME_DROP_IN_CONFIG_HOST_PATH"]).parent
        config.write_text(
            text.replace("version = 3\n", f"version = 3\nimports = ['{folder}/*.toml']\n", 1)
        )


def restart(path: str) -> int:
    """Restart who listens on the socket and come back when it does again; its process number."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        size = struct.calcsize("3i")
        pid, _user, _group = struct.unpack(
            "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        )
    os.kill(pid, signal.SIGHUP)
    for _attempt in range(100):
        time.sleep(0.1)
        with socket.socket(socket.AF_UNIX) as connection:
            if connection.connect_ex(path) == 0:
                break
    return int(pid)
