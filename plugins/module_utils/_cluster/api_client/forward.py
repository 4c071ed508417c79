# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod's port on a loopback port of this machine, by way of the API server.

A raw stream, so that TLS can go from here to the pod: the API server's pod proxy would neither
verify the pod's certificate nor show one of ours."""

from __future__ import annotations

import contextlib
import socket
import threading

from .api_errors import ApiError
from .client import Client

_PIECE = 65536


class Forward:
    """Open from the beginning until close(). address: (host, port) to connect to, any number of
    times."""

    def __init__(self, client: Client, namespace: str, pod: str, port: int) -> None:
        self._client = client
        self._path = client.kind("v1", "Pod").path(namespace, pod, "portforward")
        self._target = f"port {port} of Pod {namespace}/{pod}"
        self._port = port
        self._problem = ""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self._listener.getsockname()[:2]
        threading.Thread(target=self._accept, name="forward", daemon=True).start()

    @property
    def problem(self) -> str:
        """Why the last connection came to nothing, in the API server's or the kubelet's words; ""
        for nothing known."""
        return self._problem

    def close(self) -> None:
        """Take no more connections. Those that are open end with their users."""
        # A thread that waits in accept would keep the socket alive.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                local, _peer = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(local,), name="forward", daemon=True).start()

    def _serve(self, local: socket.socket) -> None:
        try:
            stream = self._client.transport.port_forward(self._path, self._port, self._target)
        except ApiError as error:
            self._problem = error.why
            local.close()
            return
        remote = stream.socket(self._port)
        back = threading.Thread(target=_copy, args=(remote, local), name="forward", daemon=True)
        back.start()
        _copy(local, remote)
        back.join()
        self._problem = " ".join((stream.error(self._port) or "").split()) or self._problem
        local.close()
        stream.close()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    """All that comes, until one side ends; then the other side is told so."""
    with contextlib.suppress(OSError):
        while piece := source.recv(_PIECE):
            sink.sendall(piece)
    for end in (source, sink):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
