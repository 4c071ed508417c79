# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real programs in place of simulated ones: a pod that runs one has it as a process of this machine, with its
arguments, environment and ConfigMaps, and with the token of its service account."""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.cluster.ports import free_ports

from .api import Session
from .model import Obj, Pod

_TOKEN_S = 24 * 3600
_INTERVAL_S = 0.3
_RESTART_S = 3.0


@dataclass
class Program:
    """The processes of a pod's containers, the program's own first."""

    processes: Mapping[str, subprocess.Popen[bytes]]
    folder: Path
    port: int
    healthy: bool = False
    ended: float | None = None

    @property
    def own(self) -> subprocess.Popen[bytes]:
        """The program itself."""
        return next(iter(self.processes.values()))

    def has_log(self, container: str) -> bool:
        """Whether a container has a process."""
        return container in self.processes

    def log(self, container: str) -> Path:
        """What a container has printed."""
        return self.folder / f"{container}.log"

    @property
    def problem(self) -> str:
        """The program's last words, once it has ended."""
        if self.own.poll() is None:
            return ""
        lines = self.log(next(iter(self.processes))).read_text(errors="replace").splitlines()
        return next(reversed(lines), f"it ended with exit code {self.own.returncode}")


class Programs:
    """The processes of pods, by uid. paths: name of a program -> the program; what is not there is
    simulated as any other pod."""

    def __init__(self, folder: Path, kubeconfig: Path, paths: Mapping[str, str]) -> None:
        self._folder = folder / "programs"
        self._kubeconfig = kubeconfig
        self._paths = paths
        self._running: dict[str, Program] = {}
        self._lock = threading.Lock()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def running(self) -> bool:
        """Whether any pod has a process: most clusters have none, and thousands of pods."""
        with self._lock:
            return bool(self._running)

    def serves(self, pod: Pod) -> bool:
        """Whether a pod is to have a process."""
        return pod.operand.program in self._paths

    def of(self, pod: Pod) -> Program | None:
        """The process of a pod, if it has been started; one that has ended starts again after a while."""
        with self._lock:
            found = self._running.get(pod.uid)
            if found is None or not found.problem:
                return found
            found.ended = found.ended or time.monotonic()
            if time.monotonic() - found.ended < _RESTART_S:
                return found
            del self._running[pod.uid]
        _stop(found)
        shutil.rmtree(found.folder)
        return None

    def ensure(self, pod: Pod, session: Session) -> Program:
        """Start the process of a pod that has none."""
        with self._lock:
            found = self._running.get(pod.uid)
        if found is not None:
            return found
        started = self._start(pod, session)
        with self._lock:
            self._running[pod.uid] = started
        threading.Thread(target=_await_health, args=(started,), daemon=True).start()
        return started

    def stop_all_but(self, uids: set[str]) -> None:
        """End the processes of pods that are gone."""
        with self._lock:
            gone = [uid for uid in self._running if uid not in uids]
            ended = [self._running.pop(uid) for uid in gone]
        for program in ended:
            _stop(program)

    def stop(self) -> None:
        self.stop_all_but(set())

    def _start(self, pod: Pod, session: Session) -> Program:
        spec = session.request("GET", f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}")["spec"]
        folder = self._folder / pod.uid
        folder.mkdir(parents=True)
        places = self._mounted(spec, pod, folder, session)
        (port,) = free_ports(1, taken=set())
        kubeconfig = self._login(spec, pod, folder, session)
        for config in folder.rglob("config.yaml"):
            _with_login(config, kubeconfig)
        flags = [
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--cert-dir={folder}",
        ]
        first, *others = spec["containers"]
        processes = {
            first["name"]: _run(self._paths[pod.operand.program], first, folder, places, flags)
        }
        for container in others:
            # What stands beside it needs a Python at most.
            command, *arguments = container["command"]
            if command == "python3":
                own = {**container, "args": [*arguments, *(container.get("args") or ())]}
                processes[container["name"]] = _run(sys.executable, own, folder, places, [])
        return Program(processes, folder, port)

    def _mounted(self, spec: Obj, pod: Pod, folder: Path, session: Session) -> dict[str, str]:
        """Path in the containers -> folder on this machine."""
        volumes = {volume["name"]: volume for volume in spec.get("volumes") or ()}
        places = {}
        mounts = [mount for each in spec["containers"] for mount in each.get("volumeMounts") or ()]
        for mount in mounts:
            volume, place = volumes[mount["name"]], folder / "volumes" / mount["name"]
            place.mkdir(parents=True, exist_ok=True)
            if "configMap" in volume:
                path = (
                    f"/api/v1/namespaces/{pod.namespace}/configmaps/{volume['configMap']['name']}"
                )
                for name, text in (session.request("GET", path).get("data") or {}).items():
                    (place / name).write_text(text)
            places[mount["mountPath"]] = str(place)
        return places

    def _login(self, spec: Obj, pod: Pod, folder: Path, session: Session) -> Path:
        """A kubeconfig with the token of the pod's service account."""
        account = spec.get("serviceAccountName", "default")
        path = f"/api/v1/namespaces/{pod.namespace}/serviceaccounts/{account}/token"
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": _TOKEN_S},
        }
        token = session.request("POST", path, request)["status"]["token"]
        config = yaml.safe_load(self._kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        if "certificate-authority" in cluster:
            authority = (
                self._kubeconfig.parent / cluster.pop("certificate-authority")
            ).read_bytes()
            cluster["certificate-authority-data"] = base64.b64encode(authority).decode()
        config["users"][0]["user"] = {"token": token}
        file = folder / "kubeconfig"
        file.touch(mode=0o600)
        file.write_text(yaml.safe_dump(config))
        return file


def _run(
    program: str, container: Obj, folder: Path, places: Mapping[str, str], flags: list[str]
) -> subprocess.Popen[bytes]:
    arguments = [_placed(text, places) for text in container.get("args") or ()]
    environment = {
        entry["name"]: _placed(entry.get("value", ""), places)
        for entry in container.get("env") or ()
    }
    with (folder / f"{container['name']}.log").open("wb") as log:
        return subprocess.Popen(
            [program, *arguments, *flags],
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            cwd=folder,
        )


def _placed(text: str, places: Mapping[str, str]) -> str:
    for path, place in places.items():
        text = re.sub(rf"(?<![\w/]){re.escape(path)}(?=/|$)", place, text)
    return text


def _with_login(config: Path, kubeconfig: Path) -> None:
    """In a cluster the program would find its account by itself."""
    document = yaml.safe_load(config.read_text()) or {}
    document["clientConnection"] = {"kubeconfig": str(kubeconfig)}
    config.write_text(yaml.safe_dump(document))


def _await_health(program: Program) -> None:
    """Until it answers, or has ended. Its certificate is its own, as for a kubelet's probe."""
    tls = ssl.create_default_context()
    tls.check_hostname = False
    tls.verify_mode = ssl.CERT_NONE
    while program.own.poll() is None and not program.healthy:
        try:
            url = f"https://127.0.0.1:{program.port}/healthz"
            with urllib.request.urlopen(url, timeout=2, context=tls) as answer:
                program.healthy = answer.status == 200
        except OSError:
            time.sleep(_INTERVAL_S)


def _stop(program: Program) -> None:
    for process in program.processes.values():
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
    for process in program.processes.values():
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
