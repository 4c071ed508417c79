# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A connection: requests are read, logged, perhaps spoilt, given to the daemon and answered."""

from __future__ import annotations

import json
import socket
import ssl
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from tests.rmd.access import subject_of
from tests.rmd.answers import Answer, CrashError, text
from tests.rmd.routes import Request, answer

if TYPE_CHECKING:
    from tests.rmd.server import RmdServer

_HANDSHAKE_S = 30
# The first byte of TLS, and what Go's server says to anything else.
_HANDSHAKE = b"\x16"
_NO_TLS = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"


@dataclass
class Seen:
    """One request. status: of the answer; 0 when the connection ended without one, None while it is
    under way.

    client: the common name of the client's certificate, or the user of Basic; "" without.
    """

    method: str
    path: str
    body: bytes = b""
    client: str = ""
    status: int | None = None
    at: float = field(default_factory=time.time)

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Connection:
    """One connection of a server, until it ends."""

    def __init__(
        self, server: RmdServer, raw: socket.socket, context: ssl.SSLContext | None
    ) -> None:
        self.server = server
        self.raw = raw
        self.context = context

    def run(self) -> None:
        """Serve until either side ends it."""
        try:
            if self.context is None:
                _Handler(self.raw, self.server)
                return
            self.raw.settimeout(_HANDSHAKE_S)
            if self.raw.recv(1, socket.MSG_PEEK) not in (b"", _HANDSHAKE):
                self.raw.sendall(_NO_TLS)
                return
            with self.context.wrap_socket(self.raw, server_side=True) as secured:
                secured.settimeout(None)
                _Handler(secured, self.server)
        except (OSError, ValueError):
            """A client that is not trusted or went away, or a server that was stopped."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    connection: socket.socket

    def __init__(self, connection: socket.socket, rmd: RmdServer) -> None:
        self.rmd = rmd
        super().__init__(connection, ("", 0), None)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Any method."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        request = Request(self.command, self.path, headers, body)
        seen = Seen(self.command, self.path, body, self._client())
        self.rmd.note(seen)
        try:
            found = self._answer(request)
        except CrashError:
            found = None
        if found is None or not self.rmd.running:
            self.rmd.note(seen, 0)
            self.close_connection = True
            return
        # Before the answer goes out: who has it finds the request complete in the log.
        self.rmd.note(seen, found.status)
        self._send(found)

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET  # noqa: N815

    def _answer(self, request: Request) -> Answer | None:
        """The answer; None when the connection is to end without one."""
        rmd = self.rmd
        fault = rmd.faults.strike(request.method, request.path)
        if fault is not None:
            if fault.hang and not rmd.held(fault.hang):
                return None
            if fault.die:
                rmd.die()
            if fault.die or fault.cut == "before":
                return None
            if fault.status:
                return text(fault.status, fault.text)
        if rmd.tls is not None and isinstance(self.connection, ssl.SSLSocket):
            refused = rmd.tls.refuse(request, self.connection)
            if refused is not None:
                return refused
        if rmd.daemon is None or rmd.views is None:
            return None
        found = answer(request, rmd.daemon, rmd.views)
        return None if fault is not None and fault.cut == "after" else found

    def _send(self, found: Answer) -> None:
        self.send_response_only(found.status)
        self.send_header("Date", self.date_time_string())
        self.send_header("Content-Length", str(len(found.body)))
        if found.content_type:
            self.send_header("Content-Type", found.content_type)
        for name, value in found.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(found.body)

    def _client(self) -> str:
        if isinstance(self.connection, ssl.SSLSocket):
            return (subject_of(self.connection).get("commonName") or [""])[0]
        return ""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """The server's log tells."""
