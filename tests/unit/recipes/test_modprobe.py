# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""recipes/modprobe: what it writes, and its program, which runs as a process and asks a server with
TLS."""

from __future__ import annotations

import base64
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import REPO, renderer
from tests.cluster.pki import Authority
from tests.unit.patience import PATIENCE_S

RECIPE = REPO / "recipes" / "modprobe"
MODPROBE = renderer(RECIPE)
NAME = "hardware-enablement-modprobe.conf"
WANTED: dict[str, Any] = {
    "blacklist": ["nouveau", "amdgpu"],
    "load": ["vfio-pci"],
    "parameters": {"vfio-pci": "ids=10de:2330"},
}
FILE = "blacklist nouveau\nblacklist amdgpu\noptions vfio-pci ids=10de:2330\n"


def test_openshift_gets_a_machine_config_and_others_files_of_the_node() -> None:
    served = frozenset({"machineconfiguration.openshift.io/v1/MachineConfig"})
    openshift = MODPROBE(platform="openshift", apis=served, **WANTED)
    assert not openshift.objects(kind="DaemonSet")
    found = openshift.one("MachineConfig", "99-worker-modprobe")
    assert found["metadata"]["labels"]["machineconfiguration.openshift.io/role"] == "worker"
    assert found["spec"]["kernelArguments"] == [
        "modprobe.blacklist=nouveau,amdgpu",
        "rd.driver.blacklist=nouveau,amdgpu",
    ]
    files = {
        file["path"]: base64.b64decode(file["contents"]["source"].partition(",")[2]).decode()
        for file in found["spec"]["config"]["storage"]["files"]
    }
    assert files[f"/etc/modprobe.d/{NAME}"].endswith(FILE)
    assert files[f"/etc/modules-load.d/{NAME}"].endswith("\nvfio-pci\n")
    rendering = MODPROBE(apis=served, **WANTED)
    assert not rendering.objects(kind="MachineConfig")
    data = rendering.one("ConfigMap", "module-files")["data"]
    assert data["modprobe.d"].endswith(FILE)


class Server(HTTPServer):
    """An API server that knows one pod, or none. busy: so often it gives no answer before."""

    answer: tuple[int, Any] = (404, {})
    busy = 0


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        code, body = self.server.answer
        if self.server.busy:
            self.server.busy -= 1
            code = 503
        right = self.path == "/api/v1/namespaces/modprobe/pods/p" and (
            self.headers["Authorization"] == "Bearer a-token"
        )
        self.send_response(code if right else 403)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_arguments: Any) -> None:
        """Nothing."""


class Node:
    """A node's folders, and the program that keeps their files."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder = folder
        self.server = server
        for each in ("texts", "node/modprobe.d", "node/modules-load.d", "run", "credentials"):
            (folder / each).mkdir(parents=True)
        (folder / "texts/modprobe.d").write_text(FILE)
        (folder / "texts/modules-load.d").write_text("vfio-pci\n")
        (folder / "credentials/token").write_text("a-token\n")

    def keep(self, *more: str, signalled: bool = True) -> str:
        """Start the program, and end it by a signal when it is ready; what it said."""
        arguments = {
            "texts": "texts",
            "node": "node",
            "ready": "run/ready",
            "credentials": "credentials",
        }
        command = [sys.executable, str(RECIPE / "program/module_files.py"), NAME]
        command += [f"--{name}={self.folder / path}" for name, path in arguments.items()]
        command += more
        host, port = "127.0.0.1", str(self.server.server_port)
        env = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
        pod = {"POD_NAMESPACE": "modprobe", "POD_NAME": "p", "POD_UID": "u"}
        (self.folder / "run/ready").unlink(missing_ok=True)
        with subprocess.Popen(
            command, env={**os.environ, **env, **pod}, stdout=subprocess.PIPE, text=True
        ) as process:
            deadline = time.monotonic() + PATIENCE_S
            while not (self.folder / "run/ready").exists():
                assert time.monotonic() < deadline
                time.sleep(0.02)
            if signalled:
                process.send_signal(signal.SIGTERM)
            return process.communicate(timeout=PATIENCE_S)[0]

    @property
    def files(self) -> dict[str, str]:
        """The node's files."""
        found = (self.folder / "node").rglob("*")
        return {
            str(each.relative_to(self.folder / "node")): each.read_text()
            for each in found
            if each.is_file()
        }


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """A node, and the API server that its pod trusts."""
    authority = Authority(tmp_path, "kubernetes")
    pair = authority.server("kubernetes", ["127.0.0.1"])
    chain = tmp_path / "server.pem"
    chain.write_bytes(pair.certificate + pair.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    with Server(("127.0.0.1", 0), _Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        made = Node(tmp_path / "machine", server)
        (made.folder / "credentials/ca.crt").write_bytes(authority.certificate_file.read_bytes())
        yield made
        server.shutdown()


HERE = {"modprobe.d/" + NAME: FILE, "modules-load.d/" + NAME: "vfio-pci\n"}


@pytest.mark.parametrize(
    "answer",
    [
        (200, {"metadata": {"uid": "u", "deletionTimestamp": "2026-01-01T00:00:00Z"}}),
        (200, {"metadata": {"uid": "another"}}),
        (404, {}),
    ],
)
def test_a_deleted_pod_takes_its_files_away(node: Node, answer: tuple[int, Any]) -> None:
    node.server.answer = answer
    said = node.keep()
    assert f"/etc/modprobe.d/{NAME} is written" in said
    assert said.endswith(f"{NAME} is taken away again; the node's next boot is without it\n")
    assert node.files == {}


@pytest.mark.parametrize("answer", [(200, {"metadata": {"uid": "u"}}), (503, {}), (200, [])])
def test_what_a_node_that_shuts_down_ends_leaves_them(node: Node, answer: tuple[int, Any]) -> None:
    node.server.answer = answer
    assert f"{NAME} stays: " in node.keep("--patience=0")
    assert node.files == HERE


def test_an_api_server_that_is_busy_is_asked_again(node: Node) -> None:
    node.server.busy = 2
    assert "is taken away again" in node.keep()
    assert node.files == {}


def test_a_signal_that_came_too_early_is_made_up_for(node: Node) -> None:
    assert "is taken away again" in node.keep(signalled=False)
    assert node.files == {}


def test_what_is_right_is_not_written_again(node: Node) -> None:
    node.server.answer = (200, {"metadata": {"uid": "u"}})
    node.keep()
    assert "is written" not in node.keep()
    (node.folder / "texts/modules-load.d").write_text("other\n")
    assert node.keep().count("is written") == 1
