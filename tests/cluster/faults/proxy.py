# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A reverse proxy with TLS in front of one HTTPS server, in threads of this process.

It ends TLS, so a client certificate does not get through: give it the one that the upstream is to
see. Connections that are upgraded to another protocol (kubectl exec) are not passed on.
"""

from __future__ import annotations

import http.client
import ssl
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import TracebackType

from tests.cluster.faults.model import Fault, Faults, Seen
from tests.cluster.pki import Authority, KeyPair, write_secret
from tests.cluster.tls import TlsServer

_PIECE = 65536
_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "expect", "te", "upgrade"}
)


class FaultProxy:
    """Listens from its beginning on; as a context manager it ends at the end.

    faults.on(Fault(...)) switches a fault on. seen: the requests so far.
    """

    def __init__(
        self,
        upstream: str,
        authority: Authority,
        *,
        hosts: Sequence[str] = ("127.0.0.1", "localhost"),
        client: KeyPair | None = None,
    ) -> None:
        """upstream: host:port; authority: signed its certificate and will sign ours, for hosts.
        client: see above."""
        self.faults = Faults()
        self.seen: list[Seen] = []
        self._folder = tempfile.TemporaryDirectory(prefix="he-faults-")
        folder = Path(self._folder.name)
        certificate, key = _write(folder, "server", authority.server("fault-proxy", hosts))
        self._server = _Server(self, upstream, certificate, key)
        self._server.upstream_tls = ssl.create_default_context(
            cafile=str(authority.certificate_file)
        )
        if client:
            self._server.upstream_tls.load_cert_chain(*_write(folder, "client", client))
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """The port on 127.0.0.1."""
        return self._server.port

    @property
    def address(self) -> str:
        """127.0.0.1:PORT."""
        return f"127.0.0.1:{self.port}"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._folder.cleanup()

    def __enter__(self) -> FaultProxy:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Server(TlsServer):
    upstream_tls: ssl.SSLContext

    def __init__(self, proxy: FaultProxy, upstream: str, certificate: Path, key: Path) -> None:
        super().__init__(0, _Handler, certificate=certificate, key=key)
        self.proxy = proxy
        self.upstream = upstream


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Small pieces (events of a watch) must not wait for each other's acknowledgement.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Any method: what the switchboard says, else what the upstream says."""
        assert isinstance(self.server, _Server)
        fault = self.server.proxy.faults.strike(self.command, self.path)
        body = self._body()
        if fault and fault.latency:
            time.sleep(fault.latency)
        if fault and fault.status:
            for _chunk in body:
                """A client that is still sending would not read the answer."""
            self._see(fault, fault.status)
            self._answer(fault)
        elif fault and fault.lost == "request":
            self._see(fault, 0)
            self.close_connection = True
        else:
            self._pass_on(fault, body)

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

    def _pass_on(self, fault: Fault | None, body: Iterator[bytes]) -> None:
        assert isinstance(self.server, _Server)
        connection = http.client.HTTPSConnection(
            self.server.upstream, context=self.server.upstream_tls
        )
        try:
            connection.putrequest(
                self.command, self.path, skip_host=True, skip_accept_encoding=True
            )
            headers = {
                name: value
                for name, value in self.headers.items()
                if name.lower() not in _HOP_BY_HOP
            }
            if fault and fault.spoil_token and "Authorization" in headers:
                headers["Authorization"] = f"{headers['Authorization'][:-8]}AAAAAAAA"
            chunked = "chunked" in self.headers.get("Transfer-Encoding", "")
            for name, value in [
                *headers.items(),
                *([("Transfer-Encoding", "chunked")] if chunked else []),
            ]:
                connection.putheader(name, value)
            connection.endheaders(body, encode_chunked=chunked)
            response = connection.getresponse()
            self._see(fault, response.status)
            if fault and fault.lost == "answer":
                response.read()
                self.close_connection = True
                return
            self._relay(response, fault.cut_after if fault else None)
        except (http.client.HTTPException, OSError):
            # As the client would see it without us.
            self.close_connection = True
        finally:
            connection.close()

    def _relay(self, response: http.client.HTTPResponse, cut_after: int | None) -> None:
        self.send_response_only(response.status, response.reason)
        for name, value in response.getheaders():
            if name.lower() not in _HOP_BY_HOP:
                self.send_header(name, value)
        bodyless = self.command == "HEAD" or response.status in (204, 304)
        chunked = response.getheader("Content-Length") is None and not bodyless
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        left = cut_after
        while not bodyless and (piece := response.read1(_PIECE)):
            kept = piece if left is None else piece[:left]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(kept), kept) if chunked else kept)
            if left is not None:
                left -= len(kept)
                if left == 0:
                    self.close_connection = True
                    return
        if chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _answer(self, fault: Fault) -> None:
        self.send_response_only(fault.status)
        for name, value in fault.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(fault.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(fault.body)

    def _body(self) -> Iterator[bytes]:
        """The request's body in pieces, as they come."""
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline().split(b";")[0], 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline() not in (b"\r\n", b""):
                """Trailers."""
            return
        left = int(self.headers.get("Content-Length") or 0)
        while left and (piece := self.rfile.read(min(left, _PIECE))):
            left -= len(piece)
            yield piece

    def _see(self, fault: Fault | None, status: int) -> None:
        assert isinstance(self.server, _Server)
        authorization = self.headers.get("Authorization", "")
        self.server.proxy.seen.append(Seen(self.command, self.path, authorization, fault, status))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """seen tells."""


def _write(folder: Path, name: str, pair: KeyPair) -> tuple[Path, Path]:
    certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
    certificate.write_bytes(pair.certificate)
    write_secret(key, pair.key)
    return certificate, key
