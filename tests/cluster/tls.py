# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An HTTPS server on loopback, a thread for each connection."""

from __future__ import annotations

import socket
import ssl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_HANDSHAKE_S = 30


class TlsServer(ThreadingHTTPServer):
    """Listens from its first moment on, so that the port is its own; answers once serve_forever
    runs."""

    daemon_threads = True

    def __init__(
        self, port: int, handler: type[BaseHTTPRequestHandler], *, certificate: Path, key: Path
    ) -> None:
        """port: 0 for any that is free."""
        super().__init__(("127.0.0.1", port), handler)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(certificate, key)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.server_address[1])

    def finish_request(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: object
    ) -> None:
        # Here and not around the listening socket, so that a slow handshake holds up its own thread
        # only.
        if not isinstance(request, socket.socket):
            return
        request.settimeout(_HANDSHAKE_S)
        with self.tls.wrap_socket(request, server_side=True) as secured:
            # Clients keep connections for later requests.
            secured.settimeout(None)
            super().finish_request(secured, client_address)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away, or that does not trust us, is no news."""
