# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.cluster.kind COMMAND...`: run a command for which kind works, on this machine's
container engine, else on a Docker and a node image of our own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.errors import ClusterError
from tests.cluster.kind.engine import CGROUP
from tests.cluster.kind.node_image import REFERENCE, ensure_node_image, published
from tests.cluster.kubelet import cgroups
from tests.cluster.locks import locked
from tests.cluster.packages import install_missing
from tests.cluster.paths import REPO, cache_folder
from tests.cluster.programs import KIND_MODULES, ensure_programs

_ENGINES = ("docker", "podman")
_PACKAGES = {
    "dockerd": "docker.io",
    "docker": "docker.io",
    "iptables": "iptables",
    "ip": "iproute2",
}
# Read by the scenario's create.yml.
_IMAGE = "HE_TEST_KIND_IMAGE"
_PROVIDER = "KIND_EXPERIMENTAL_PROVIDER"


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def usable_engine(image: str) -> str:
    """The engine that starts a node's image with all rights, so that it also has the image; else
    ""."""
    for engine in filter(shutil.which, _ENGINES):
        if _succeeds([engine, "info"]):
            _say(f"trying {engine} with {image}, which it may have to pull ...")
            if _succeeds([engine, "run", "--rm", "--privileged", "--entrypoint=true", image]):
                return engine
            _say(f"{engine} does not start it: it lacks rights, or its registry")
    return ""


def _succeeds(command: Sequence[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def run(command: Sequence[str]) -> int:
    """The command's exit code. ClusterError where kind cannot work."""
    programs = Path(ensure_programs(_say, KIND_MODULES)["kind"]).parent
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    if engine := usable_engine(os.environ.get(_IMAGE) or published()):
        _say(f"kind on {engine}")
        environment[_PROVIDER] = engine
        return subprocess.run(command, env=environment, check=False).returncode
    if os.geteuid() != 0:
        raise ClusterError(
            "No container engine here starts kind's node image, and one of our own needs root: start Docker or "
            "podman where its registry is reachable, or run this as root on Debian 12 or newer."
        )
    install_missing(_PACKAGES, "kind", _say)
    environment |= {_IMAGE: REFERENCE, _PROVIDER: "docker"}
    return _run_in_own_engine(ensure_node_image(_say), command, environment)


def _run_in_own_engine(image: Path, command: Sequence[str], environment: dict[str, str]) -> int:
    folder = cache_folder() / "kind"
    waiting = "waiting for another process that uses kind"
    with locked(folder.with_name(".kind.lock"), on_wait=lambda: _say(waiting)):
        # Of a run that was killed.
        _clear(folder)
        folder.mkdir(parents=True)
        began = time.monotonic()
        _say("kind on a Docker of our own, with a node image of our own")
        module = [sys.executable, "-m", "tests.cluster.kind.engine", str(folder), str(image)]
        try:
            return subprocess.run(
                [*module, *command], cwd=REPO, env=environment, check=False
            ).returncode
        finally:
            _clear(folder)
            _say(f"kind is gone after {time.monotonic() - began:.0f} s")


def _clear(folder: Path) -> None:
    cgroups.remove(CGROUP)
    shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """Exit code."""
    try:
        return run(sys.argv[1:])
    except ClusterError as error:
        _say(f"error: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
