# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One request and its answer, over kept-alive connections: TLS, proxy, timeouts, sizes. No logins,
no retries."""

from __future__ import annotations

import os
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Union
from urllib.parse import urlsplit

from .._errors import InvalidInput
from .adapter import ContextAdapter, causes_of, read_limited, root_of
from .policy import RegistryPolicy, Trust
from .registry_errors import NotTrusted, RegistryError, RegistryUnreachable, TimedOut

try:
    import requests
except ImportError:
    requests = None  # type: ignore[assignment]

CONNECT_S = 5.0
READ_S = 30.0
# A manifest has at most 4 MiB (OCI distribution specification); no configuration or token comes
# near that.
LARGEST_IN_MEMORY = 4 * 1024 * 1024
_PIECE = 1024 * 1024
_POOL = 16

Body = Union[bytes, BinaryIO, None]


@dataclass(frozen=True)
class Request:
    """What is sent. task: what for, as it is said in messages ("look up registry/repository:tag").

    registry: host[:port] whose trust counts, where that is not who is asked: whom it names as its
    token server, or redirects to, is trusted as itself.
    """

    method: str
    url: str
    task: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Body = None
    registry: str = ""

    @property
    def host(self) -> str:
        """host[:port] that the request goes to."""
        return urlsplit(self.url).netloc


@dataclass(frozen=True)
class RegistryResponse:
    """What came back. headers: any spelling of their names will do. body: empty where it went into
    a file."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class RegistryConnections:
    """Sends requests. Safe for threads: each takes a connection of its own from the pool."""

    def __init__(self, policy: RegistryPolicy) -> None:
        if requests is None:
            raise InvalidInput(
                "Cannot ask a registry",
                why="the Python package requests is missing",
                todo="install it",
            )
        self._policy = policy
        self._adapters: dict[tuple[str, bool], Any] = {}
        self._lock = threading.Lock()
        self._proxies = policy.proxies.completed(os.environ)

    def send(self, request: Request, sink: BinaryIO | None = None) -> RegistryResponse:
        """Send a request and read its answer; the body of a success goes to sink, if one is given.

        Raises Unreachable where there is no complete answer, NotTrusted, and RegistryError for one
        that is too big.
        """
        # Straight to the adapter: a session would take credentials out of ~/.netrc, keep cookies
        # and follow redirects.
        headers = {
            "User-Agent": "hardware.enablement",
            "Accept-Encoding": "identity",
            **request.headers,
        }
        try:
            prepared = requests.Request(
                request.method, request.url, headers=headers, data=request.body
            ).prepare()
            proxy = self._proxies.for_url(request.url)
            trust = self._policy.trust(request.registry or request.host)
            response = self._adapter(trust).send(
                prepared,
                stream=True,
                timeout=(CONNECT_S, READ_S),
                verify=trust.verify,
                proxies={urlsplit(request.url).scheme: proxy} if proxy else {},
            )
            try:
                to_file = sink is not None and response.status_code < 300
                body = b"" if to_file else self._read(response, request)
                if sink is not None and to_file:
                    for piece in response.iter_content(_PIECE):
                        sink.write(piece)
                return RegistryResponse(response.status_code, response.headers, body)
            finally:
                response.close()
        except requests.RequestException as error:
            raise _failure(request, error) from error

    def _read(self, response: Any, request: Request) -> bytes:
        body = read_limited(response, LARGEST_IN_MEMORY)
        if len(body) > LARGEST_IN_MEMORY:
            why = f"the answer is larger than {LARGEST_IN_MEMORY // 1024**2} MiB"
            todo = "see whether a registry answers there"
            raise RegistryError(
                f"Cannot {request.task}",
                where=request.host,
                why=why,
                todo=todo,
                registry=request.host,
            )
        return body

    def _adapter(self, trust: Trust) -> Any:
        """The connections to all hosts that are trusted alike."""
        key = trust.ca, trust.verify
        with self._lock:
            if key not in self._adapters:
                self._adapters[key] = ContextAdapter(_tls(trust), hosts=_POOL, connections=_POOL)
            return self._adapters[key]


def _tls(trust: Trust) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not trust.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    if not context.cert_store_stats()["x509_ca"]:
        # This Python knows no authorities of the system, or looks for them only when it meets one.
        context.load_verify_locations(cafile=requests.utils.DEFAULT_CA_BUNDLE_PATH)
    if trust.ca:
        try:
            context.load_verify_locations(cadata=trust.ca)
        except (ssl.SSLError, ValueError) as error:
            why = "it holds no certificate in PEM format"
            raise InvalidInput(
                "Cannot use the registries' CA", where=trust.host, why=why, todo="give its PEM text"
            ) from error
    return context


def _failure(request: Request, error: Exception) -> RegistryError:
    what, where = f"Cannot {request.task}", request.host
    kind: type[RegistryUnreachable] = RegistryUnreachable
    causes = list(causes_of(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = f"its certificate cannot be verified: {cause.verify_message or cause.reason}"
            todo = "give the CA that signed it, or a name that is in it"
            return NotTrusted(what, where=where, why=why, todo=todo, registry=where)
    if isinstance(error, requests.exceptions.ProxyError):
        # The proxy's URL may hold a password, and the library's text may hold the URL.
        why, todo = (
            f"the proxy cannot be used ({root_of(causes)})",
            "check the proxy and its exceptions",
        )
    elif any(isinstance(cause, ssl.SSLError) for cause in causes):
        why, todo = (
            f"TLS failed ({root_of(causes)})",
            "check the port; a registry without TLS must be named as plain HTTP",
        )
    elif isinstance(error, requests.exceptions.ConnectTimeout):
        kind = TimedOut
        why, todo = (
            f"no connection within {CONNECT_S:.0f} s",
            "check host, network and proxy, then run again",
        )
    elif isinstance(error, requests.exceptions.Timeout):
        kind = TimedOut
        why, todo = (
            f"no answer within {READ_S:.0f} s",
            "see whether the registry is healthy, then run again",
        )
    elif isinstance(error, requests.exceptions.ConnectionError):
        why, todo = (
            f"no connection, or it was lost ({root_of(causes)})",
            "check host, network and proxy, then run again",
        )
    elif isinstance(error, requests.exceptions.ChunkedEncodingError):
        why, todo = "the connection was cut in the middle of the answer", "run again"
    else:
        why, todo = f"the request failed ({type(error).__name__})", "check the registry's address"
    return kind(what, where=where, why=why, todo=todo, registry=where)
