# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One real node: its machine, containerd and kubelet as daemons, files and commands inside."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.cluster import processes
from tests.cluster.errors import ClusterError
from tests.cluster.images import Image
from tests.cluster.kubelet import configuration
from tests.cluster.paths import REPO

# (what is waited for, its condition); raises ClusterError when it takes too long or a daemon ends
# meanwhile
Wait = Callable[[str, Callable[[], bool]], None]
PROGRAMS = ("containerd", "containerd-shim-runc-v2", "ctr", "kubelet", "nfd-worker")
# What a service manager does for containerd: starts it again when a hangup ended it, as installers
# of runtimes do.
_RESTARTED = """
trap 'kill "$pid"; wait "$pid"; exit' TERM
code=129
while [ "$code" = 129 ]; do "$@" & pid=$!; code=0; wait "$pid" || code=$?; done
exit "$code"
"""
WORKER_KUBECONFIG = "/etc/kubernetes/nfd-worker.conf"
FEATURE_FILES = "/etc/kubernetes/node-feature-discovery/features.d"
_PYTHON = [sys.executable, "-m"]


def feature_worker(node: str, namespace: str) -> list[str]:
    """The command of NFD's worker that tells what is in FEATURE_FILES, and nothing else."""
    return [
        *("env", f"NODE_NAME={node}", f"KUBERNETES_NAMESPACE={namespace}", "nfd-worker"),
        *(f"-kubeconfig={WORKER_KUBECONFIG}", "-owner-refs="),
        *("-feature-sources=local", "-label-sources=local"),
        # It would listen on all addresses; one that cannot be makes it do without.
        "-port=-1",
    ]


class RealNode:
    """The real node `name` of the cluster in `folder`; all its own things are in FOLDER/nodes/NAME."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.cluster_folder = folder
        self.folder = folder / "nodes" / name

    @property
    def pid(self) -> int:
        """Its first process; ClusterError if it does not run."""
        try:
            return int((self.folder / "pid").read_text())
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"The node {self.name} does not run: see {self._log(self.name)}."
            ) from error

    @property
    def root(self) -> Path:
        """Its root file system as it sees it, mounts included; for root only, while it runs."""
        return Path("/proc") / str(self.pid) / "root"

    def daemons(self) -> list[processes.Process]:
        """What was started for it, in the order in which to stop it."""
        names = [
            f"{self.name}-nfd-worker",
            f"{self.name}-kubelet",
            f"{self.name}-containerd",
            self.name,
        ]
        noted = {process.program: process for process in processes.noted(self.cluster_folder)}
        return [noted[name] for name in names if name in noted]

    def boot(self, lower: Sequence[Path], programs: Mapping[str, Path], kernel: str = "") -> None:
        """Start the machine, without anything in it. What will be started in it sees `kernel`, or
        the true one."""
        (self.folder / "pid").unlink(missing_ok=True)
        (self.folder / "kernel").write_text(kernel)
        files = [str(programs[name]) for name in PROGRAMS]
        command = [
            *_PYTHON,
            "tests.cluster.kubelet.boot",
            str(self.folder),
            ":".join(map(str, lower)),
            *files,
        ]
        processes.start(self.name, command, folder=self.cluster_folder, directory=REPO)

    def is_booted(self) -> bool:
        """True once its first process is ready for others."""
        return (self.folder / "pid").exists()

    def start_containerd(self) -> None:
        """Start containerd in the booted machine."""
        command = ["containerd", "--config=/etc/containerd/config.toml", "--log-level=info"]
        self._start("containerd", ["sh", "-c", _RESTARTED, "sh", *command])

    def has_containerd(self) -> bool:
        """True once containerd takes requests."""
        return (self.root / configuration.SOCKET.lstrip("/")).exists() and self._ctr(
            "version", check=False
        )

    def start_kubelet(self) -> None:
        """Start the kubelet, which then tells the API server about the node."""
        command = [
            "kubelet",
            "--config=/etc/kubernetes/kubelet.yaml",
            "--kubeconfig=/etc/kubernetes/kubelet.conf",
            f"--hostname-override={self.name}",
            # See configuration.node_object.
            "--cloud-provider=external",
            "--v=2",
        ]
        self._start("kubelet", command)

    def start_feature_worker(self, kubeconfig: str, namespace: str) -> None:
        """Start NFD's worker for files of features alone: what the node is, `Cluster.equip` says."""
        (self.root / WORKER_KUBECONFIG.lstrip("/")).write_text(kubeconfig)
        (self.root / FEATURE_FILES.lstrip("/")).mkdir(parents=True, exist_ok=True)
        self._start("nfd-worker", feature_worker(self.name, namespace))

    def stop_kubelet(self) -> None:
        """Stop the kubelet alone: the node falls silent, its containers go on."""
        processes.stop(
            [daemon for daemon in self.daemons() if daemon.program.endswith("-kubelet")], patience=5
        )

    def configure_kubelet(self, settings: Mapping[str, Any]) -> None:
        """Start the kubelet anew with these settings besides; None takes one away again. Containers
        go on."""
        self.stop_kubelet()
        file = self.root / "etc/kubernetes/kubelet.yaml"
        merged = {**json.loads(file.read_text()), **settings}
        file.write_text(
            json.dumps(
                {name: value for name, value in merged.items() if value is not None}, indent=2
            )
        )
        # With the memory of another policy it would not start.
        for manager in ("cpu", "memory"):
            (self.root / f"var/lib/kubelet/{manager}_manager_state").unlink(missing_ok=True)
        self.start_kubelet()

    def stop(self) -> None:
        """Power off: everything in it ends at once."""
        daemons = self.daemons()
        processes.stop(daemons, patience=5)
        for daemon in daemons:
            processes.forget(self.cluster_folder, daemon.program)

    def load(self, image: Image) -> None:
        """Give it an image, as if it had been pulled."""
        with image.archive.open("rb") as archive:
            self._ctr(
                "--namespace=k8s.io", "images", "import", "--local", "-", stdin=archive.fileno()
            )

    def trust(self, registry: str, authority: str, mirror: str = "") -> None:
        """Let containerd trust a registry ("registry.test:5000") whose certificate this authority
        (PEM) signed.

        mirror: is asked, and trusted, instead.
        """
        folder = self.root / configuration.CERTS_FOLDER.lstrip("/") / registry
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "ca.crt").write_text(authority)
        (folder / "hosts.toml").write_text(configuration.registry_hosts(registry, mirror))

    def run(self, *command: str) -> str:
        """Run a command in the machine and return what it prints; ClusterError with its message if
        it fails."""
        result = subprocess.run(
            self._inside(command), cwd=REPO, capture_output=True, text=True, check=False
        )
        if result.returncode != 0:
            raise ClusterError(
                f"{' '.join(command)} failed on {self.name}: {result.stderr.strip()}"
            )
        return result.stdout

    def _ctr(self, *arguments: str, stdin: int = subprocess.DEVNULL, check: bool = True) -> bool:
        command = self._inside(["ctr", *arguments])
        result = subprocess.run(
            command, cwd=REPO, stdin=stdin, capture_output=True, text=True, check=False
        )
        if check and result.returncode != 0:
            raise ClusterError(
                f"ctr {' '.join(arguments)} failed on {self.name}: {result.stderr.strip()}"
            )
        return result.returncode == 0

    def _inside(self, command: Sequence[str]) -> list[str]:
        kernel = (self.folder / "kernel").read_text()
        options = [f"--kernel={kernel}"] if kernel else []
        return [*_PYTHON, "tests.cluster.kubelet.enter", *options, str(self.pid), *command]

    def _start(self, program: str, command: Sequence[str]) -> None:
        name = f"{self.name}-{program}"
        processes.start(name, self._inside(command), folder=self.cluster_folder, directory=REPO)

    def _log(self, program: str) -> Path:
        return self.cluster_folder / "logs" / f"{program}.log"
