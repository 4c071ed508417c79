# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tunnels (CONNECT): what forward proxies open, and the API server's way to its kubelets."""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler

_PIECE = 65536


class TunnelHandler(BaseHTTPRequestHandler):
    """Opens tunnels to host:port, as the request names it."""

    protocol_version = "HTTP/1.1"

    def where(self, host: str) -> str:
        """The host that a name or address stands for."""
        return host

    def source(self, _host: str) -> str:
        """The address of our own from where it is asked; "" for any."""
        return ""

    def admits(self) -> bool:
        """Whether the client gets its tunnel; who does not was answered here."""
        return True

    def do_CONNECT(self) -> None:
        """A tunnel, until both sides have ended."""
        if not self.admits():
            return
        host, _colon, port = self.path.rpartition(":")
        source = (self.source(host), 0) if self.source(host) else None
        with socket.create_connection((self.where(host), int(port)), 5, source) as upstream:
            upstream.settimeout(None)
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=_pump, args=(upstream, self.connection), daemon=True)
            back.start()
            _pump(self.connection, upstream)
            back.join()
        self.close_connection = True

    def address_string(self) -> str:
        """A client at a Unix socket has no address."""
        return "a client"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Who asks is told by others."""


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Pass on what comes until the end, then end the other side, too."""
    try:
        while piece := source.recv(_PIECE):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        """One of them is gone: so is the tunnel."""
