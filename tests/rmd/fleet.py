# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many servers in this process, one for each simulated node, each on an address of its own at the
same port."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.rmd.access import Tls
from tests.rmd.connection import Seen
from tests.rmd.faults import Dialect
from tests.rmd.server import RmdServer

# How a simulated node names the address of a pod on it, by the pod's labels; see
# tests/cluster/simulation.
ANNOTATION = "sim.hardware-enablement.io/pod-ips"
DAEMON = "app.kubernetes.io/name=intel-rmd,app.kubernetes.io/component=daemon"


class Fleet:
    """Servers by the names of their nodes. As a context manager it starts them all, and stops them.

    tls: a node's TLS by (name, address), None for plain HTTP. port: 0 for one that is free on every
    address. network: the second and third number of 127.x.y.z of the first server. wrong_socket:
    how often RMD 0.3 divides the wrong one, as it was observed. settings: of each RmdServer;
    folder: of each node's folder, as AgentProcess has it, for its tree and database, which are in
    memory without it.
    """

    def __init__(
        self,
        nodes: Sequence[str],
        *,
        tls: Callable[[str, str], Tls] | None = None,
        port: int = 0,
        network: tuple[int, int] = (77, 0),
        folder: Path | None = None,
        wrong_socket: float = 1 / 3,
        **settings: Any,
    ) -> None:
        addresses = {name: _address(network, index) for index, name in enumerate(nodes)}
        self.port = port or _free_port(addresses.values())
        self.servers = {
            name: RmdServer(
                address=address,
                port=self.port,
                tls=tls(name, address) if tls else None,
                resctrl=folder / name / "resctrl" if folder else None,
                database=folder / name / "state" / "rmd.db" if folder else None,
                **settings,
            )
            for name, address in addresses.items()
        }
        for server in self.servers.values():
            if server.settings.dialect is Dialect.V03:
                server.faults.wrong_socket = wrong_socket

    def __getitem__(self, node: str) -> RmdServer:
        return self.servers[node]

    def __iter__(self) -> Iterator[str]:
        return iter(self.servers)

    def __len__(self) -> int:
        return len(self.servers)

    @property
    def annotations(self) -> Mapping[str, Mapping[str, str]]:
        """Node -> the annotations that it needs, so that its daemon's pod gets the server's
        address."""
        return {
            name: {ANNOTATION: json.dumps({DAEMON: server.address})}
            for name, server in self.servers.items()
        }

    def start(self) -> Fleet:
        """Start all servers; none is left running if one does not start."""
        try:
            for server in self.servers.values():
                server.start()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop all servers."""
        for server in self.servers.values():
            server.stop()

    def mark(self) -> dict[str, int]:
        """Where all logs are now, for requests(since)."""
        return {name: server.mark() for name, server in self.servers.items()}

    def requests(self, since: Mapping[str, int] | None = None) -> dict[str, list[Seen]]:
        """Node -> its server's requests so far, or since a mark."""
        return {
            name: server.requests((since or {}).get(name, 0))
            for name, server in self.servers.items()
        }

    def dump(self) -> dict[str, Any]:
        """Node -> its server's dump."""
        return {name: server.dump() for name, server in self.servers.items()}

    def __enter__(self) -> Fleet:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _address(network: tuple[int, int], index: int) -> str:
    """127.77.0.1, .2, ... .254, 127.77.1.1, ..."""
    second, third = network
    return f"127.{second}.{third + index // 254}.{index % 254 + 1}"


def _free_port(addresses: Any) -> int:
    """A port that is free on all addresses."""
    while True:
        with socket.socket() as chosen:
            chosen.bind(("0.0.0.0", 0))  # noqa: S104 - never listened on; free here is free on every address
            port = int(chosen.getsockname()[1])
        if all(_is_free(address, port) for address in addresses):
            return port


def _is_free(address: str, port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True
