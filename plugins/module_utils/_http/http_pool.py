# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One request and its answer, over kept-alive connections: TLS, proxy, timeouts, sizes. No logins,
no retries."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Union
from urllib.parse import urlsplit

from .._errors import PackageNotFound
from .._json import parse_json
from .http_failure import FailureKind, HttpError, failure_of

try:
    import requests
    from requests.adapters import HTTPAdapter
except ImportError:
    requests, HTTPAdapter = None, object  # type: ignore[assignment,misc]

CONNECT_S = 5.0
READ_S = 30.0
_PIECE = 1024 * 1024

Body = Union[bytes, BinaryIO, None]


@dataclass(frozen=True)
class HttpRequest:
    """What is sent. task: what for, as it is said in messages ("look up registry/repository:tag")."""

    method: str
    url: str
    task: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Body = None

    @property
    def host(self) -> str:
        """host[:port] that the request goes to."""
        return urlsplit(self.url).netloc


@dataclass(frozen=True)
class HttpResponse:
    """What came back, whatever its status. headers: any spelling of their names will do. body:
    empty where it went into a file."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode(errors="replace")

    def json(self) -> Any:
        """The body, or None where it is no JSON: many a refusal is plain text."""
        with contextlib.suppress(ValueError):
            return parse_json(self.body)
        return None


class HttpPool:
    """Connections to all who are trusted alike. Safe for threads: each takes one of its own."""

    def __init__(
        self,
        peer: str,
        context: ssl.SSLContext | None,
        *,
        largest: int,
        size: int = 1,
        read_s: float = READ_S,
        server_name: str = "",
        shows_certificate: bool = False,
    ) -> None:
        """peer: who is asked, for messages ("the registry"). context: for TLS. largest: bytes of an
        answer that is kept in memory. size: hosts, and connections to each, that are kept.
        server_name: what the certificate must hold, where that is not the host."""
        if requests is None:
            raise PackageNotFound(f"Cannot ask {peer}", "requests")
        self._peer = peer
        self._largest = largest
        self._read_s = read_s
        self._shows_certificate = shows_certificate
        settings = {"server_hostname": server_name} if server_name else {}
        self._adapter: Any = _ContextAdapter(context, size, settings)

    def close(self) -> None:
        """Close the connections."""
        self._adapter.close()

    def send(
        self, request: HttpRequest, *, proxy: str = "", sink: BinaryIO | None = None
    ) -> HttpResponse:
        """Send a request and read its answer; the body of a success goes to sink, if one is given.

        Raises HttpError where there is no complete answer.
        """
        headers = {
            "User-Agent": "hardware.enablement",
            "Accept-Encoding": "identity",
            **request.headers,
        }
        try:
            # Straight to the adapter: a session would take credentials out of ~/.netrc, keep
            # cookies, read the environment's proxies in its own way and follow redirects.
            prepared = requests.Request(
                request.method, request.url, headers=headers, data=request.body
            ).prepare()
            response = self._adapter.send(
                prepared,
                stream=True,
                timeout=(CONNECT_S, self._read_s),
                proxies={urlsplit(request.url).scheme: proxy} if proxy else {},
            )
            with contextlib.closing(response):
                body = self._read(response, sink if response.status_code < 300 else None)
                return HttpResponse(response.status_code, response.headers, body)
        except requests.RequestException as error:
            raise failure_of(
                error,
                self._peer,
                connect_s=CONNECT_S,
                read_s=self._read_s,
                shows_certificate=self._shows_certificate,
            ) from error

    def _read(self, response: Any, sink: BinaryIO | None) -> bytes:
        body = bytearray()
        for piece in response.iter_content(_PIECE):
            if sink is not None:
                sink.write(piece)
                continue
            body += piece
            if len(body) > self._largest:
                raise HttpError(FailureKind.TOO_LARGE, largest=self._largest // 1024**2)
        return bytes(body)


class _ContextAdapter(HTTPAdapter):
    """Pools of connections that trust whom the context says."""

    def __init__(
        self, context: ssl.SSLContext | None, size: int, settings: Mapping[str, Any]
    ) -> None:
        self._context = context
        self._settings = settings
        super().__init__(pool_connections=size, pool_maxsize=size)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(
            *args, **{**kwargs, **self._settings, "ssl_context": self._context}
        )

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        return super().proxy_manager_for(
            proxy, ssl_context=self._context, proxy_ssl_context=self._context, **kwargs
        )

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:  # noqa: ARG002
        """Leave it to the context; requests would load its own list of authorities with each
        connection."""
        unverified = self._context is not None and self._context.verify_mode is ssl.CERT_NONE
        conn.cert_reqs = "CERT_NONE" if unverified else "CERT_REQUIRED"
