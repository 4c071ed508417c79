# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A forward proxy, as HTTPS_PROXY names one: it opens tunnels (CONNECT) to where it is asked to."""

from __future__ import annotations

import base64
import threading
from http.server import ThreadingHTTPServer
from types import TracebackType

from tests.cluster.tunnels import TunnelHandler


class ForwardProxy:
    """Listens on loopback from its beginning on; as a context manager it ends at the end.

    tunnels: the host:port pairs that were asked for. password: of the user `user`, "" if anybody
    may use it.
    """

    def __init__(self, password: str = "") -> None:
        self.tunnels: list[str] = []
        self._password = password
        self._server = _Server(
            self, base64.b64encode(f"user:{password}".encode()).decode() if password else ""
        )
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """As a proxy's setting names it, with the password."""
        account = f"user:{self._password}@" if self._password else ""
        return f"http://{account}127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> ForwardProxy:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, proxy: ForwardProxy, account: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxy = proxy
        self.account = account


class _Handler(TunnelHandler):
    def admits(self) -> bool:
        """Whoever knows the password."""
        assert isinstance(self.server, _Server)
        given = self.headers.get("Proxy-Authorization", "").removeprefix("Basic ")
        if self.server.account and given != self.server.account:
            self.send_response(407)
            self.send_header("Proxy-Authenticate", 'Basic realm="proxy"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return False
        self.server.proxy.tunnels.append(self.path)
        return True
