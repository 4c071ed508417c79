# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests over kept-alive connections: what may be sent again, for how long, and what a failure means."""

from __future__ import annotations

import contextlib
import itertools
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.connection import Connection
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.errors import ApiError, Unreachable
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.status import error_from_body

try:
    from urllib3 import Timeout
    from urllib3 import exceptions as http
except ImportError:
    Timeout = http = None  # type: ignore[assignment,misc]

JSON = "application/json"
CONNECT_S = 5.0
READ_S = 30.0
# How long to try again in all. A wrong address should be said at once, an API server that restarts be waited for.
PATIENCE_S = 8.0
FIRST_PATIENCE_S = 1.5
_PAUSES_S = (0.1, 0.2, 0.4, 0.8, 1.6)
_LATER = frozenset({429, 500, 502, 503, 504})
_LIBRARY_NOISE = re.compile(
    r"^.*?HTTPS?Connection(Pool)?\([^)]*\):\s*|^<[^>]*>:\s*|\s*\(_ssl\.c:\d+\)|\[Errno -?\d+\]\s*"
    r"|Failed to establish a new connection:\s*"
)


@dataclass(frozen=True)
class Call:
    """One request. verb and target are for messages and counts; repeatable: sending it twice does no harm.

    read_s: the longest silence of an answer that is not streamed.
    """

    method: str
    path: str
    verb: str
    target: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = JSON
    accept: str = JSON
    count_as: str = ""
    repeatable: bool = False
    patience_s: float = PATIENCE_S
    read_s: float = READ_S


@dataclass(frozen=True)
class Answer:
    """A successful answer (status 2xx)."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Sends calls. Safe for threads: each takes a connection of its own from the pool."""

    def __init__(self, connection: Connection) -> None:
        self.host = connection.host
        self.requests: Counter[str] = Counter()
        self._connection = connection
        self._count_lock = threading.Lock()
        self._answered = False

    @property
    def context(self) -> str:
        """The context of the kubeconfig that is used, "" where there is none."""
        return self._connection.context

    def send(self, call: Call) -> Answer:
        """Send a call, again where that is safe, for patience_s seconds; raises an ApiError."""
        patience = call.patience_s if self._answered else min(call.patience_s, FIRST_PATIENCE_S)
        deadline = time.monotonic() + patience
        pauses = itertools.chain(_PAUSES_S, itertools.repeat(_PAUSES_S[-1]))
        while True:
            try:
                response = self._open(call, preload=True, read_s=call.read_s)
            except http.HTTPError as error:
                failure: ApiError = self._unreachable(call, error)
                again = (call.repeatable or _was_not_sent(error)) and not isinstance(error, http.SSLError)
                pause = 0.0
            else:
                self._answered = True
                if 200 <= response.status < 300:
                    return Answer(response.status, response.headers, response.data)
                failure = self._refusal(call, response.status, response.data)
                pause, again = _asked_to_wait(call, response)
            pause = pause or next(pauses)
            if not again or time.monotonic() + pause > deadline:
                raise failure
            time.sleep(pause)

    def stream(self, call: Call, read_s: float) -> Stream:
        """Open an answer without an end. read_s: the longest silence before ReadTimeoutError ends it."""
        try:
            response = self._open(call, preload=False, read_s=read_s)
        except http.HTTPError as error:
            raise self._unreachable(call, error) from error
        self._answered = True
        if response.status != 200:
            body = response.read(100_000)
            response.close()
            raise self._refusal(call, response.status, body)
        return Stream(response, self, call)

    def port_forward(self, path: str, port: int, target: str) -> Any:
        """A stream to a pod's port: kubernetes.stream's PortForward. Raises ApiError."""
        with self._count_lock:
            self.requests["forward"] += 1
        return self._connection.port_forward(path, port, target)

    def _open(self, call: Call, *, preload: bool, read_s: float) -> Any:
        with self._count_lock:
            self.requests[call.count_as or call.verb] += 1
        headers = self._connection.headers()
        headers["Accept"] = call.accept
        if call.body is not None:
            headers["Content-Type"] = call.content_type
        url = self.host + call.path
        if call.query:
            url = f"{url}?{urlencode(call.query)}"
        return self._connection.pool.request(
            call.method,
            url,
            body=call.body,
            headers=headers,
            timeout=Timeout(connect=CONNECT_S, read=read_s),
            retries=False,
            redirect=False,
            preload_content=preload,
        )

    def _refusal(self, call: Call, status: int, body: bytes) -> ApiError:
        return error_from_body(status, body, where=self.host, verb=call.verb, target=call.target)

    def _unreachable(self, call: Call, error: Exception) -> Unreachable:
        why, todo = _explain(error)
        what = f"Cannot {call.verb} {call.target}"
        return Unreachable(what, where=self.host, why=why, todo=todo, verb=call.verb, target=call.target)


class Stream:
    """The lines of an answer as they come. stop() may be called by another thread and ends the iteration."""

    def __init__(self, response: Any, transport: Transport, call: Call) -> None:
        self._response = response
        self._transport = transport
        self._call = call
        self._stopped = False

    def lines(self) -> Iterator[bytes]:
        """The lines; ends at the answer's end or after stop(); raises Unreachable when the connection is cut."""
        rest = b""
        try:
            for chunk in self._response.stream(amt=None, decode_content=False):
                *whole, rest = (rest + chunk).split(b"\n")
                yield from (line for line in whole if line)
        except (http.HTTPError, OSError, ValueError, AttributeError) as error:
            # A socket that stop() has shut down fails in one of several ways, depending on where it was read.
            if not self._stopped:
                raise self._transport._unreachable(self._call, error) from error
        finally:
            self._response.close()

    def stop(self) -> None:
        """End the iteration from any thread."""
        self._stopped = True
        connection = getattr(self._response, "connection", None) or getattr(self._response, "_connection", None)
        sock = getattr(connection, "sock", None)
        if sock is not None:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)


def _was_not_sent(error: Exception) -> bool:
    return isinstance(error, (http.NewConnectionError, http.ConnectTimeoutError, http.ProxyError))


def _asked_to_wait(call: Call, response: Any) -> tuple[float, bool]:
    """(seconds to wait, whether to send again) after a refusal."""
    if response.status not in _LATER:
        return 0.0, False
    after = response.headers.get("Retry-After", "")
    pause = float(after) if after.isdigit() else 0.0
    if response.status == 429 and after:
        return pause, True
    # A 500 to a dry run is a webhook's or a conversion's failure, which the next attempt would meet again.
    return pause, call.repeatable and (response.status != 500 or call.method == "GET")


def _explain(error: Exception) -> tuple[str, str]:
    """(why, what to do) for a request without an answer."""
    text = str(error)
    why = " ".join(_LIBRARY_NOISE.sub("", text).split())
    if isinstance(error, http.SSLError):
        if "CERTIFICATE_VERIFY_FAILED" in text or "doesn't match" in text:
            why = why.rpartition("certificate verify failed: ")[2] or why
            todo = "give the CA that signed it (ca_cert, or certificate-authority in the kubeconfig)"
            return f"the API server's certificate cannot be verified: {why}", todo
        return f"TLS failed: {why}", "check the client certificate, its key and the host's port"
    if isinstance(error, http.ReadTimeoutError):
        return "the API server does not answer in time", "see whether it is healthy, then run again"
    if isinstance(error, http.ProxyError):
        return f"the proxy cannot be used: {why}", "check the option proxy"
    if _was_not_sent(error):
        return f"the API server cannot be reached: {why}", "check host, network and proxy, then run again"
    return f"the connection was lost: {why}", "see whether the API server is healthy, then run again"
