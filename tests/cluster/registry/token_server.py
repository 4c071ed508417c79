# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The token server, a daemon: python -m tests.cluster.registry.token_server FOLDER PORT.

GET with name and password, or without; POST with a refresh token or a password. It reads
FOLDER/tokens.json for each request, so that a test can change what it does, and prints one JSON
object for each.
"""

from __future__ import annotations

import base64
import binascii
import json
import sys
import time
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.cluster.pki import KeyPair
from tests.cluster.registry.accounts import Account, find_account, find_by_identity_token, granted
from tests.cluster.registry.tokens import claims, signed
from tests.cluster.tls import TlsServer

ISSUER = "test-token-server"
PATH = "/token"
_REFUSAL = {
    "errors": [{"code": "UNAUTHORIZED", "message": "wrong name, password or refresh token"}]
}


@dataclass(frozen=True)
class Behaviour:
    """What tokens are like. lifetime: seconds until the registry refuses one, less its leeway of a
    minute.

    told: the seconds that clients are told; they differ where a clock is wrong.
    """

    lifetime: int = 300
    told: float = 300

    def write(self, folder: Path) -> None:
        """From the next request on the token server of that folder behaves so."""
        partial = folder / "tokens.tmp"
        partial.write_text(json.dumps(asdict(self)))
        partial.rename(folder / "tokens.json")

    @classmethod
    def read(cls, folder: Path) -> Behaviour:
        """What was written last."""
        return cls(**json.loads((folder / "tokens.json").read_text()))


class _Server(TlsServer):
    def __init__(self, folder: Path, port: int) -> None:
        certificate, key = folder / "pki" / "token.crt", folder / "pki" / "token.key"
        super().__init__(port, _Handler, certificate=certificate, key=key)
        self.folder = folder
        self.pair = KeyPair(certificate.read_bytes(), key.read_bytes())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """A token for who gives a password, or for anybody."""
        url = urlsplit(self.path)
        if url.path != PATH:
            self.send_error(404)
            return
        query = parse_qs(url.query)
        header = self.headers.get("Authorization", "")
        account = _basic(header)
        if header and account is None:
            self._send(401, _REFUSAL)
            return
        self._grant(account, query.get("service", [""])[0], query.get("scope", []))

    def do_POST(self) -> None:
        """A token for who gives a refresh token, or (containerd) name and password."""
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        form = {name: values[0] for name, values in parse_qs(content).items()}
        if form.get("grant_type") == "refresh_token":
            account = find_by_identity_token(form.get("refresh_token", ""))
        else:
            account = find_account(form.get("username", ""), form.get("password", ""))
        if account is None:
            self._send(401, _REFUSAL)
            return
        self._grant(account, form.get("service", ""), form.get("scope", "").split())

    def _grant(self, account: Account | None, service: str, scopes: list[str]) -> None:
        assert isinstance(self.server, _Server)
        behaviour = Behaviour.read(self.server.folder)
        access = granted(account, scopes)
        name = account.name if account else ""
        says = claims(
            subject=name,
            service=service,
            issuer=ISSUER,
            access=access,
            now=int(time.time()),
            lifetime=behaviour.lifetime,
        )
        token = signed(says, self.server.pair)
        # GET is answered with the one name, POST with the other; both are allowed for both.
        document = {"token": token, "access_token": token, "expires_in": behaviour.told}
        self._send(200, document, name, scopes)

    def _send(
        self, status: int, document: object, account: str = "", scopes: list[str] | None = None
    ) -> None:
        line = {
            "method": self.command,
            "status": status,
            "account": account,
            "scopes": scopes or [],
        }
        print(json.dumps(line), flush=True)
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """_send prints what a test wants to know."""


def _basic(header: str) -> Account | None:
    scheme, _space, encoded = header.partition(" ")
    try:
        name, _colon, password = base64.b64decode(encoded).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return find_account(name, password) if scheme.lower() == "basic" else None


if __name__ == "__main__":
    _Server(Path(sys.argv[1]), int(sys.argv[2])).serve_forever()
