# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the API server reaches the kubelets of nodes: these listen on loopback, and it passes requests on
(node/proxy) to no loopback address. So it believes their internal addresses, and its egress
selector brings it from there to loopback. All simulated nodes have one server there: which of them
is asked it sees by where it is asked from (100.65.2.3 becomes 127.65.2.3)."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Collection
from pathlib import Path
from typing import Any

from tests.cluster.tunnels import TunnelHandler

SOCKET = "egress.sock"
# The network of simulated nodes that have an address of their own, 100.64.0.0/10; those of real nodes
# and their pods are in 10.0.0.0/8.
SIMULATED = "100"


def selector(folder: Path) -> dict[str, Any]:
    """The API server's EgressSelectorConfiguration: all that leads into the cluster goes by our
    socket."""
    transport = {"uds": {"udsName": str(folder / SOCKET)}}
    connection = {"proxyProtocol": "HTTPConnect", "transport": transport}
    return {
        "apiVersion": "apiserver.k8s.io/v1beta1",
        "kind": "EgressSelectorConfiguration",
        "egressSelections": [{"name": "cluster", "connection": connection}],
    }


def serve(folder: Path, nodes: Collection[str]) -> None:
    """Open tunnels from now on; those to the nodes' addresses lead to loopback."""
    file = folder / SOCKET
    file.unlink(missing_ok=True)
    server = _Server(str(file), _Handler)
    server.nodes = nodes
    threading.Thread(target=server.serve_forever, name="egress", daemon=True).start()


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    # A unix socket refuses who comes when as many wait already, and so many are asked at once.
    request_queue_size = 128
    nodes: Collection[str] = ()

    def handle_error(self, request: object, client_address: object) -> None:
        """A kubelet that does not listen is no news: the API server says so."""


class _Handler(TunnelHandler):
    def where(self, host: str) -> str:
        """Loopback for a node."""
        assert isinstance(self.server, _Server)
        return "127.0.0.1" if host in self.server.nodes or self.source(host) else host

    def source(self, host: str) -> str:
        """The loopback address that stands for a simulated node."""
        first, _dot, rest = host.partition(".")
        return f"127.{rest}" if first == SIMULATED else ""
