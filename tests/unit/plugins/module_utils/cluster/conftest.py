# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server in a few lines, on loopback: it says what a test has written down, and remembers
what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.connection import (
    open_connection,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.connection_request import (
    ConnectionRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.transport import (
    ApiTransport,
)
from ansible_collections.hardware.enablement.plugins.module_utils._schema.requests import (
    make_request,
)

pytest.importorskip("kubernetes")

CUT = "cut the connection"


def connection_request(**options: Any) -> ConnectionRequest:
    """The request that a module's options make."""
    return make_request(ConnectionRequest, options)


@dataclass
class Asked:
    """One request as it came."""

    method: str
    path: str
    headers: Any
    body: bytes


@dataclass
class Clock:
    """Pauses are written down instead of being slept."""

    now: float = 0.0
    pauses: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)


@dataclass
class FakeServer:
    """answer: gets each request, returns (status, headers, body).

    body is an object for JSON, bytes, a list of objects for a watch (one chunk each; an item may be
    CUT, or a function to call in between), or CUT.
    """

    answer: Callable[[Asked], tuple[int, dict[str, str], Any]]
    asked: list[Asked] = field(default_factory=list)
    url: str = ""
    clock: Clock = field(default_factory=Clock)

    def script(self, *answers: tuple[int, dict[str, str], Any]) -> None:
        """Give these answers in turn, the last one for ever."""
        left = list(answers)
        self.answer = lambda _asked: left.pop(0) if len(left) > 1 else left[0]

    def client(self, **params: Any) -> Client:
        connection = open_connection(connection_request(host=self.url, api_key="secret", **params))
        return Client(
            ApiTransport(connection, sleep=self.clock.sleep, ticks=lambda: self.clock.now)
        )


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Small writes must not wait for each other's acknowledgement.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        fake: FakeServer = self.server.fake  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = Asked(self.command, self.path, self.headers, body)
        fake.asked.append(asked)
        status, headers, answer = fake.answer(asked)
        if answer == CUT:
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if isinstance(answer, list):
            # Whoever watches may hang up before all is told.
            with suppress(BrokenPipeError, ConnectionResetError):
                self._stream(answer)
            return
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_PATCH = do_DELETE = do_CONNECT = do_GET  # noqa: N815

    def _stream(self, items: list[Any]) -> None:
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for item in items:
            if item == CUT:
                self.close_connection = True
                return
            if callable(item):
                item()
                continue
            line = json.dumps(item).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_args: Any) -> None:
        pass


@pytest.fixture(autouse=True)
def _no_ambient_cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """No test may reach a cluster of the person who runs it."""
    for name in (
        "KUBECONFIG",
        "K8S_AUTH_KUBECONFIG",
        "K8S_AUTH_CONTEXT",
        "K8S_AUTH_HOST",
        "K8S_AUTH_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def agreeable(asked: Asked) -> tuple[int, dict[str, str], Any]:
    """What an API server says to a request that goes well."""
    path = urlsplit(asked.path).path
    if path == "/version":
        return 200, {}, {"major": "1"}
    if asked.method == "DELETE":
        return 200, {}, {"kind": "Status", "status": "Success"}
    if asked.method == "POST":
        return 201, {}, json.loads(asked.body)
    return 200, {}, {"metadata": {"name": path.split("/")[6], "namespace": "n"}, "spec": {}}


@contextmanager
def serving() -> Iterator[FakeServer]:
    """A fake that runs, and agrees to everything."""
    fake = FakeServer(agreeable)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.fake = fake  # type: ignore[attr-defined]
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def fake() -> Iterator[FakeServer]:
    """A running fake; the test sets its answer."""
    with serving() as running:
        yield running


@pytest.fixture
def other() -> Iterator[FakeServer]:
    """Another one, which nobody should ask."""
    with serving() as running:
        yield running
