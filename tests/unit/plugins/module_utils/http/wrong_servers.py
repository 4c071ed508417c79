# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers on loopback of which something is wrong and can be mended: a certificate, an account, a
proxy that wants one."""

from __future__ import annotations

import base64
import select
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._http import pki

NOW = datetime.now(timezone.utc)
DAY = timedelta(days=1)
AUTHORITY = pki.make_authority("of the test", NOW - 9 * DAY, 99)
USER, PASSWORD = "u", "p"
BASIC = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
Answer = tuple[int, Mapping[str, str], bytes]


def certificate(*, is_expired: bool = False) -> pki.Pair:
    """Of localhost."""
    end = NOW - DAY if is_expired else NOW + 9 * DAY
    return pki.issue_server(AUTHORITY, "localhost", ["localhost"], NOW - 5 * DAY, end)


def client_certificate() -> pki.Pair:
    """Of a client that the authority knows."""
    return pki.issue_client(AUTHORITY, "client", "of the test", NOW - DAY, NOW + DAY)


class WrongServer:
    """answer: gets path and headers; an OSError closes the connection. renew: gives it another
    certificate, ask_certificates: has it ask its clients for theirs, for connections to come."""

    def __init__(self, folder: Path, answer: Callable[[str, Mapping[str, str]], Answer]) -> None:
        self.answer = answer
        self._folder = folder
        self.context: ssl.SSLContext | None = None
        self.server: Any = None

    @property
    def port(self) -> int:
        return int(self.server.server_address[1])

    def renew(self, pair: pki.Pair) -> None:
        both = self._folder / "server.pem"
        both.write_text(pair.key + pair.certificate)
        assert self.context is not None
        self.context.load_cert_chain(both)

    def ask_certificates(self, wanted: bool) -> None:
        """Up to TLS 1.2, where a client learns of it before it sends anything."""
        assert self.context is not None
        self.context.maximum_version = ssl.TLSVersion.TLSv1_2
        self.context.load_verify_locations(cadata=AUTHORITY.certificate)
        self.context.verify_mode = ssl.CERT_REQUIRED if wanted else ssl.CERT_NONE


@contextmanager
def serving(
    folder: Path, answer: Callable[[str, Mapping[str, str]], Answer], *, pair: pki.Pair | None
) -> Iterator[WrongServer]:
    """A server with this certificate; without one it speaks no TLS."""
    wrong = WrongServer(folder, answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, headers, body = wrong.answer(self.path, dict(self.headers.items()))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def finish_request(self, request: Any, client_address: Any) -> None:
            # A handshake that fails is the client's finding.
            with suppress(OSError):
                if wrong.context is not None:
                    request = wrong.context.wrap_socket(request, server_side=True)
                super().finish_request(request, client_address)

    wrong.server = Server(("127.0.0.1", 0), Handler)
    if pair is not None:
        wrong.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        wrong.renew(pair)
    with _running(wrong.server):
        yield wrong


@contextmanager
def proxy() -> Iterator[int]:
    """The port of a proxy that lets through who has an account."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_CONNECT(self) -> None:
            if self.headers.get("Proxy-Authorization") != BASIC:
                self.send_response(407)
                self.send_header("Proxy-Authenticate", 'Basic realm="r"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            host, _colon, port = self.path.rpartition(":")
            with socket.create_connection((host, int(port))) as there:
                self.send_response(200)
                self.end_headers()
                _relay(self.connection, there)
            self.close_connection = True

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with _running(server):
        yield int(server.server_address[1])


@contextmanager
def full_port() -> Iterator[int]:
    """A port whose queue of connections is full, so that nobody else is answered."""
    with socket.socket() as listener, socket.socket() as first:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        first.connect(listener.getsockname())
        yield int(listener.getsockname()[1])


@contextmanager
def _running(server: Any) -> Iterator[None]:
    threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    ).start()
    yield
    server.shutdown()
    server.server_close()


def _relay(one: socket.socket, other: socket.socket) -> None:
    """Until one of both ends."""
    peers = {one: other, other: one}
    with suppress(OSError):
        while True:
            ready, _write, _wrong = select.select([one, other], [], [], 10)
            for each in ready:
                data = each.recv(65536)
                if not data:
                    return
                peers[each].sendall(data)
            if not ready:
                return
