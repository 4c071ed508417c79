# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTPS around Rest: TLS by the cluster's PKI, users by the front proxy's headers, answers in
pieces."""

from __future__ import annotations

import logging
import socket
import ssl
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from cryptography import x509
from cryptography.x509.oid import NameOID

from tests.cluster.api import ApiError
from tests.cluster.builds_api.kubernetes import User
from tests.cluster.builds_api.messages import Answer, Request, encoded
from tests.cluster.builds_api.refusals import RefusalError
from tests.cluster.builds_api.rest import Rest

LOG = logging.getLogger(__name__)
# The only client that may say who its users are (kube-apiserver's flag
# --requestheader-allowed-names).
FRONT_PROXY = "front-proxy-client"
_HEALTH = ("/healthz", "/livez", "/readyz")
_EXTRA = "X-Remote-Extra-"


class Server(ThreadingHTTPServer):
    """Listens on loopback. certificate, key: its own; authority: the front proxy's, which its
    clients must have."""

    daemon_threads = True

    def __init__(
        self, port: int, rest: Rest, *, certificate: Path, key: Path, authority: Path
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.rest = rest
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(certificate, key)
        self.tls.load_verify_locations(authority)
        # Health is for everybody; the rest is refused to who shows no certificate.
        self.tls.verify_mode = ssl.CERT_OPTIONAL

    def finish_request(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: object
    ) -> None:
        # Here and not around the listening socket, so that a slow handshake holds up its own thread
        # only.
        if not isinstance(request, socket.socket):
            return
        request.settimeout(30)
        with self.tls.wrap_socket(request, server_side=True) as secured:
            # The API server keeps connections for later requests.
            secured.settimeout(None)
            super().finish_request(secured, client_address)

    def handle_error(self, _request: object, client_address: object) -> None:
        """A client that went away, or that showed a certificate of somebody else's authority, is no
        news."""
        if not isinstance(sys.exc_info()[1], OSError):
            LOG.exception("connection of %s", client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        """Any method is a request to Rest: no do_GET and the like."""
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline:
            self.close_connection = True
        elif self.parse_request():
            self._send(self._answer(self._body()))
            self.wfile.flush()

    def _body(self) -> bytes:
        """The request's body; the API server passes some on in chunks."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass  # trailers
        return b"".join(pieces)

    def _answer(self, content: bytes) -> Answer:
        assert isinstance(self.server, Server)
        url = urlsplit(self.path)
        try:
            user = User("system:anonymous") if url.path in _HEALTH else self._user()
            query = dict(reversed(parse_qsl(url.query, keep_blank_values=True)))
            headers = {name.title(): value for name, value in self.headers.items()}
            request = Request(self.command, unquote(url.path), user, query, headers, content)
            return self.server.rest.answer(request)
        except RefusalError as error:
            return Answer(error.code, encoded(error.status))
        except ApiError as error:
            refusal = RefusalError(
                503, "ServiceUnavailable", f"the API server cannot be asked: {error}"
            )
            return Answer(refusal.code, encoded(refusal.status))
        except Exception as error:
            LOG.exception("%s %s", self.command, self.path)
            refusal = RefusalError(500, "InternalError", f"Internal error occurred: {error!r}")
            return Answer(refusal.code, encoded(refusal.status))

    def _user(self) -> User:
        """Whom the front proxy names; raises RefusalError (401) when it is not the front proxy that
        asks."""
        assert isinstance(self.connection, ssl.SSLSocket)
        certificate = (
            x509.load_der_x509_certificate(shown)
            if (shown := self.connection.getpeercert(True))
            else None
        )
        found = (
            certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME) if certificate else []
        )
        names = [attribute.value for attribute in found]
        name = self.headers.get("X-Remote-User")
        if names != [FRONT_PROXY] or not name:
            raise RefusalError(401, "Unauthorized", "Unauthorized")
        groups = tuple(self.headers.get_all("X-Remote-Group") or ())
        extra: dict[str, tuple[str, ...]] = {}
        for key, value in self.headers.items():
            if key.lower().startswith(_EXTRA.lower()):
                short = unquote(key[len(_EXTRA) :]).lower()
                extra[short] = (*extra.get(short, ()), value)
        return User(name, groups, self.headers.get("X-Remote-Uid", ""), extra)

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        for warning in answer.warnings:
            quoted = warning.replace("\\", "\\\\").replace('"', '\\"')
            self.send_header("Warning", f'299 - "{quoted}"')
        if isinstance(answer.body, bytes):
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)
        else:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.flush()
            self._send_pieces(answer.body)

    def _send_pieces(self, pieces: Iterator[bytes]) -> None:
        for piece in pieces:
            if piece:
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_args: object) -> None:
        """Requests are in the API server's audit log already."""
