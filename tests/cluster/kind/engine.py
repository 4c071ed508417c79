# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.cluster.kind.engine FOLDER IMAGE COMMAND...`: a command with a Docker of its own,
which has the image in the archive IMAGE.

All of it is in namespaces of this process and ends with it, however it ends: processes, mounts,
networks, rules of the firewall. What is left are files in FOLDER and the cgroup CGROUP.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.errors import ClusterError, last_words
from tests.cluster.kubelet import namespaces as ns
from tests.cluster.kubelet.supervise import exit_like, pass_signals_to
from tests.cluster.processes import cpu_seconds, note_cost

CGROUP = "hardware-enablement-kind"
_SOCKET = "unix:///run/docker.sock"
_RUNTIME = Path(__file__).with_name("runtime.py")
_PATIENCE = 120.0


def daemon_settings(folder: Path) -> dict[str, object]:
    """Docker's daemon.json. The runtime works with CAP_SYS_RESOURCE and without."""
    return {
        "data-root": str(folder / "data"),
        "hosts": [_SOCKET],
        "cgroup-parent": f"/{CGROUP}",
        "default-runtime": "adapted",
        "runtimes": {"adapted": {"path": sys.executable, "runtimeArgs": [str(_RUNTIME)]}},
    }


def main() -> None:
    """Set up and run; the exit code is the command's."""
    folder, image, *command = sys.argv[1:]
    ns.die_with_parent(signal.SIGKILL)
    ns.unshare(ns.CLONE_NEWNS | ns.CLONE_NEWPID | ns.CLONE_NEWNET)
    child = os.fork()
    if child:
        pass_signals_to(child)
        exit_like(child)
    try:
        code = _inside(Path(folder), image, command)
    except ClusterError as error:
        sys.stderr.write(f"error: {error}\n")
        code = 1
    # What is in here, but the command, which whoever started this counts.
    others = {int(path.name) for path in Path("/proc").glob("[0-9]*")} - {os.getpid()}
    note_cost("kind", sum(map(cpu_seconds, others)))
    # Nothing that Python would do now is waited for: the kernel ends all processes in here.
    sys.stdout.flush()
    os._exit(code)


def _inside(folder: Path, image: str, command: Sequence[str]) -> int:
    ns.die_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(128 + signal.SIGTERM))
    ns.mount("", "/", "", ns.MS_REC | ns.MS_PRIVATE)
    ns.mount("proc", "/proc", "proc")
    ns.mount("tmpfs", "/run", "tmpfs")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    settings = folder / "daemon.json"
    settings.write_text(json.dumps(daemon_settings(folder)))
    log = folder / "dockerd.log"
    environment = {**os.environ, "DOCKER_HOST": _SOCKET}
    with log.open("wb") as file:
        daemon = subprocess.Popen(
            ["dockerd", f"--config-file={settings}"], stdout=file, stderr=subprocess.STDOUT
        )
    _wait(daemon, log, environment)
    _load(image, environment)
    return subprocess.run(command, env=environment, check=False).returncode


def _wait(daemon: subprocess.Popen[bytes], log: Path, environment: dict[str, str]) -> None:
    """Until the daemon answers; ClusterError if it ends or says nothing for long."""
    deadline = time.monotonic() + _PATIENCE
    asked = ["docker", "version"]
    while subprocess.run(asked, env=environment, capture_output=True, check=False).returncode != 0:
        if daemon.poll() is not None or time.monotonic() > deadline:
            said = last_words(log.read_text(errors="replace"))
            raise ClusterError(
                f"dockerd, which kind needs, did not start within {_PATIENCE:.0f} s; it said: {said}"
            )
        time.sleep(0.2)


def _load(image: str, environment: dict[str, str]) -> None:
    command = ["docker", "load", "--quiet", "--input", image]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise ClusterError(
            f"Docker does not load the node image {image}: {last_words(result.stderr)}"
        )


if __name__ == "__main__":
    main()
