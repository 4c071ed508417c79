# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of a kubelet's API that `kubectl logs` needs, served for all simulated nodes on one
loopback port."""

from __future__ import annotations

import datetime
import ipaddress
import json
import socket
import ssl
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.cluster.kubelet import egress

from .daemon import Simulation
from .logs import NotStartedError, log_lines, own_file, tail


class LogServer(ThreadingHTTPServer):
    """Listens at once (so that the port is ours), answers once `simulation` is set."""

    daemon_threads = True
    simulation: Simulation | None = None

    def __init__(self, folder: Path, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(_certificate(folder))

    def finish_request(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: object
    ) -> None:
        # Here and not around the listening socket, so that a slow handshake holds up its own thread
        # only.
        if not isinstance(request, socket.socket):
            return
        request.settimeout(30)
        with self.tls.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, client_address)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        """/containerLogs/<namespace>/<pod>/<container>?tailLines=&previous=; /configz; /healthz."""
        url = urlsplit(self.path)
        parts = url.path.strip("/").split("/")
        if parts == ["healthz"]:
            self._answer(200, "ok")
        elif parts == ["configz"]:
            self._configuration()
        elif len(parts) == 4 and parts[0] == "containerLogs":
            self._logs(parts[1], parts[2], parts[3], parse_qs(url.query))
        else:
            self._answer(404, "a simulated node serves container logs and its configuration only")

    def _configuration(self) -> None:
        """The kubelet's; of which node, says where it is asked from."""
        assert isinstance(self.server, LogServer)
        simulation = self.server.simulation
        _first, _dot, rest = str(self.client_address[0]).partition(".")
        address = f"{egress.SIMULATED}.{rest}"
        with nullcontext() if simulation is None else simulation.lock:
            nodes = simulation.store.nodes.values() if simulation else ()
            found = next((node.numa for node in nodes if node.ip == address and node.numa), None)
        if found is None:
            self._answer(404, "this simulated node has no configuration")
        else:
            self._answer(
                200, json.dumps({"kubeletconfig": dict(found.kubelet)}), "application/json"
            )

    def _logs(self, namespace: str, name: str, container: str, query: dict[str, list[str]]) -> None:
        assert isinstance(self.server, LogServer)
        simulation = self.server.simulation
        if simulation is None:
            self._answer(503, "the simulation starts")
            return
        with simulation.lock:
            pod = simulation.store.names.get((namespace, name))
            if pod is None:
                self._answer(
                    404, f'pod "{name}" in namespace "{namespace}" is not on a simulated node'
                )
                return
            program = simulation.simulator.programs.of(pod)
            memory = simulation.store.memory.get(pod.uid)
            missing = simulation.simulator.missing(pod)
        count = query.get("tailLines", [""])[0]
        if program is not None and program.has_log(container):
            lines = program.log(container).read_text(errors="replace").splitlines()
            self._answer(200, tail(lines, int(count) if count else None))
            return
        if (file := Path(own_file(pod))).is_file():
            self._answer(200, tail(file.read_text().splitlines(), int(count) if count else None))
            return
        try:
            lines = log_lines(
                pod,
                container,
                previous=query.get("previous", ["false"])[0] == "true",
                last_log=memory.last_log if memory else "",
                missing=missing,
            )
            self._answer(200, tail(lines, int(count) if count else None))
        except NotStartedError as error:
            self._answer(400, str(error))
        except KeyError:
            self._answer(404, f"container {container} not found in pod {namespace}_{name}")

    def _answer(self, status: int, text: str, kind: str = "text/plain") -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_args: object) -> None:
        """Requests are in the API server's audit log already."""


def _certificate(folder: Path) -> Path:
    """A self-signed serving certificate with its key, made once, as kubelets do by default."""
    file = folder / "simulation.pem"
    if file.exists():
        return file
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "simulated-kubelet")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=3650))
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
            ),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    file.touch(mode=0o600)
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return file
