# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Serves what this node's kernel counts of each group of resctrl, as metrics for Prometheus: how much
of a cache its tasks hold, and how much memory they have moved.

Source: https://docs.kernel.org/filesystems/resctrl.html, mon_data. Only reads; each request reads
anew, since the kernel counts by itself."""

from __future__ import annotations

import argparse
import contextlib
import signal
import socket
import ssl
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any

import resctrl
from cpusets import line

# As RmdNodeStates call the group of everybody else.
_DEFAULT = "."
_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True)
class Counted:
    """A file of mon_data, and the metric that it is."""

    file: str
    metric: str
    kind: str
    help: str


COUNTED = (
    Counted(
        "llc_occupancy",
        "resctrl_llc_occupancy_bytes",
        "gauge",
        "How much of an L3 cache holds data of the group's tasks.",
    ),
    Counted(
        "mbm_total_bytes",
        "resctrl_memory_bytes_total",
        "counter",
        "What the group's tasks have moved between this L3 cache and all memory.",
    ),
    Counted(
        "mbm_local_bytes",
        "resctrl_memory_local_bytes_total",
        "counter",
        "What the group's tasks have moved between this L3 cache and the memory of its own node.",
    ),
)
_WAYS = ("resctrl_llc_ways", "gauge", "How many ways of an L3 cache the group may fill.")


def metrics(root: Path) -> str:
    """All metrics in Prometheus' text format. Raises as resctrl.read does."""
    seen: Any = resctrl.read(root)
    groups = seen["groups"]
    found = []
    for each in COUNTED:
        samples = [
            (name, cache, number)
            for name in groups
            for cache, number in counted(root / name, each.file)
        ]
        found += _family(each.metric, each.kind, each.help, samples)
    ways = [
        (name, cache, bin(int(mask, 16)).count("1"))
        for name, group in groups.items()
        for cache, mask in group["schemata"].get("L3", {}).items()
    ]
    return "\n".join([*found, *_family(*_WAYS, ways), ""])


def counted(group: Path, file: str) -> Iterator[tuple[str, int]]:
    """(L3's id, number) of a group's file; nothing of what the kernel does not count, or cannot read
    now ("Unavailable", "Error", "Unassigned")."""
    for folder in sorted(group.glob("mon_data/mon_L3_*")):
        with contextlib.suppress(OSError, ValueError):
            yield str(int(folder.name.rpartition("_")[2])), int(line(folder / file))


def _family(metric: str, kind: str, text: str, samples: list[tuple[str, str, int]]) -> list[str]:
    """One metric; nothing where no group has it."""
    head = [f"# HELP {metric} {text}", f"# TYPE {metric} {kind}"]
    lines = [f"{metric}{_labels(name, cache)} {number}" for name, cache, number in samples]
    return [*head, *lines] if lines else []


def _labels(group: str, cache: str) -> str:
    name = (group or _DEFAULT).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return "{" + f'group="{name}",cache="{cache}"' + "}"


class _TlsServer(ThreadingHTTPServer):
    """Serves with tls.crt and tls.key of a folder, as they are at each connection: they are renewed."""

    def __init__(
        self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], folder: Path
    ) -> None:
        super().__init__(address, handler)
        self._folder = folder

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, client = super().get_request()
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self._folder / "tls.crt", self._folder / "tls.key")
            # The client's part of the handshake is waited for in its own thread.
            return context.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False
            ), client
        except OSError as error:
            connection.close()
            sys.stderr.write(f"the certificate in {self._folder} cannot be used: {error}\n")
            raise

    def handle_error(self, _request: object, _client: object) -> None:
        """Whoever does not trust us, or speaks no TLS, goes away by itself."""


def server(root: Path, address: str, port: int, certificate: Path | None) -> ThreadingHTTPServer:
    """Answers GET /metrics, and nothing else; over TLS with the certificate of a folder."""

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            if self.path.partition("?")[0] != "/metrics":
                self.send_error(404)
                return
            try:
                body = metrics(root).encode()
            except (resctrl.NotMountedError, OSError, ValueError) as error:
                self.send_error(503, explain=f"resctrl cannot be read: {error}")
                return
            self.send_response(200)
            self.send_header("Content-Type", _TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            """Each scrape would be a line."""

    if certificate:
        return _TlsServer((address, port), Handler, certificate)
    return ThreadingHTTPServer((address, port), Handler)


def main(argv: list[str]) -> int:
    """Run until told to end."""
    arguments = _parser().parse_args(argv)
    signal.signal(signal.SIGTERM, _end)
    server(arguments.resctrl, "", arguments.port, arguments.certificate).serve_forever()
    return 0


def _end(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Serve what the kernel counts of resctrl's groups."
    )
    parser.add_argument("--resctrl", type=Path, default=Path("/sys/fs/resctrl"))
    parser.add_argument("--port", type=int, default=9100)
    parser.add_argument("--certificate", type=Path, help="folder with tls.crt and tls.key")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
