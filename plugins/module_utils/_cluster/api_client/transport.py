# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests over kept-alive connections: sent again where that is safe, and what it means where no
answer comes."""

from __future__ import annotations

import contextlib
import copy
import math
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlencode

from ..._http.retries import LONGEST_WAIT_S
from .api_errors import ApiError, RequestFailure, TooLarge, Unauthorized, Unreachable
from .connection import Connection
from .decoding import JSON, ApiResponse, DecodingError
from .refusals import error_from_answer, unreadable
from .repetition import Fate, Repetition
from .unreachable import explain, was_cut, was_not_sent

try:
    from urllib3 import Timeout
    from urllib3 import exceptions as http
except ImportError:
    Timeout = http = None  # type: ignore[assignment,misc]

T = TypeVar("T")

CONNECT_S = 5.0
READ_S = 30.0
# How long to try again in all. A wrong address should be said at once, an API server that restarts
# be waited for; one that says when to come back is for LONGEST_WAIT_S.
PATIENCE_S = 8.0
FIRST_PATIENCE_S = 1.5
# etcd takes no object of more than 1.5 MiB, by default.
LONGEST_LINE = 16 * 2**20
_PIECE = 2**20


@dataclass(frozen=True)
class RequestName:
    """What a request does, and to what, as messages say it. count_as: as what it is counted, else
    the verb."""

    verb: str
    target: str
    count_as: str = ""


@dataclass(frozen=True)
class RequestBody:
    """What is sent, and the media type that is wanted of the answer."""

    content: bytes | None = None
    media_type: str = JSON
    accept: str = JSON


@dataclass(frozen=True)
class RepetitionPolicy:
    """When a request is sent again.

    repeatable: doing it twice does no harm. unconditional: it names no version of the object, so
    that who was slower than another may try again. once: the caller itself asks again, later.
    """

    repeatable: bool = False
    unconditional: bool = False
    once: bool = False


READING = RepetitionPolicy(repeatable=True)
# Also after somebody else has written the object.
WRITING = RepetitionPolicy(repeatable=True, unconditional=True)


@dataclass(frozen=True)
class ApiRequest:
    """One request. relayed_read_s: how long a pod or a kubelet may be silent whose answer the API
    server relays; None where it answers itself. most_bytes: of its answer, which is TooLarge with
    more; None for no limit."""

    method: str
    path: str
    name: RequestName
    query: Mapping[str, str] = field(default_factory=dict)
    body: RequestBody = field(default_factory=RequestBody)
    repetition: RepetitionPolicy = field(default_factory=RepetitionPolicy)
    relayed_read_s: float | None = None
    most_bytes: int | None = None


class ApiTransport:
    """Sends calls. Safe for threads: each takes a connection of its own from the pool."""

    def __init__(
        self,
        connection: Connection,
        *,
        sleep: Callable[[float], None] = time.sleep,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        """ticks: seconds that never jump."""
        self.host = connection.host
        self.requests: Counter[str] = Counter()
        self._connection = connection
        self._sleep = sleep
        self._ticks = ticks
        self._read_s = READ_S
        self._limit_s = math.inf
        self._count_lock = threading.Lock()
        self._answered = False

    @property
    def context(self) -> str:
        """The context of the kubeconfig that is used, "" where there is none."""
        return self._connection.context

    def hurried(self, read_s: float, patience_s: float) -> ApiTransport:
        """The same, over the same connections, but no call takes longer than this."""
        other = copy.copy(self)
        other._read_s, other._limit_s = read_s, patience_s
        return other

    def send(self, call: ApiRequest, read: Callable[[ApiResponse], T]) -> T:
        """Send a call, again where that is safe, for a bounded time; raises an ApiError.

        read makes of an answer what is returned, and raises DecodingError where it is none of an
        API server.
        """
        policy = call.repetition
        repetition = Repetition(
            repeatable=policy.repeatable, unconditional=policy.unconditional, now=self._ticks()
        )
        while True:
            try:
                return self._exchange(call, read)
            except ApiError as error:
                error.attempts = repetition.attempts
                patience_s = 0.0 if policy.once else self._patience_after(error)
                pause = repetition.next(error.fate, error.asked_s, patience_s, self._ticks())
                if pause is None:
                    raise
            self._sleep(pause)

    def _patience_after(self, error: ApiError) -> float:
        """For how long a request may be sent again that has failed so, in seconds."""
        if error.asked_s:
            return min(LONGEST_WAIT_S, self._limit_s)
        return min(PATIENCE_S if self._answered else FIRST_PATIENCE_S, self._limit_s)

    def stream(self, call: ApiRequest, read_s: float) -> Stream:
        """Open an answer without an end. read_s: the longest silence before ReadTimeoutError ends
        it."""
        try:
            response = self._open(call, preload=False, read_s=read_s)
            answer = ApiResponse(response.status, response.headers, b"")
            if response.status == 200 and answer.content_type in ("", JSON):
                self._answered = True
                return Stream(response, self, call)
            body = response.read(100_000)
            response.close()
        except http.HTTPError as error:
            raise self._unreachable(call, error) from error
        answer = ApiResponse(response.status, response.headers, body)
        if 200 <= response.status < 300:
            raise self.unreadable(call, answer, "a watch is due")
        raise self._refusal(call, answer)

    def _exchange(self, call: ApiRequest, read: Callable[[ApiResponse], T]) -> T:
        read_s = READ_S if call.relayed_read_s is None else call.relayed_read_s
        try:
            response = self._open(call, preload=False, read_s=min(read_s, self._read_s))
            body = self._body(call, response)
        except http.HTTPError as error:
            raise self._unreachable(call, error) from error
        self._answered = True
        answer = ApiResponse(response.status, response.headers, body)
        if not 200 <= response.status < 300:
            raise self._refusal(call, answer)
        try:
            return read(answer)
        except DecodingError as error:
            raise self.unreadable(call, answer, str(error)) from error

    def _body(self, call: ApiRequest, response: Any) -> bytes:
        """All of an answer; raises TooLarge before more than the request takes is kept."""
        pieces, size = [], 0
        for piece in response.stream(_PIECE):
            pieces.append(piece)
            size += len(piece)
            if call.most_bytes is not None and size > call.most_bytes:
                response.close()
                raise TooLarge(
                    f"Cannot {call.name.verb} {call.name.target}",
                    where=self.host,
                    why=f"the answer has more than {call.most_bytes // 2**20} MiB",
                    todo="see which object is that large, and who has written that into it",
                    request=RequestFailure(response.status, fate=Fate.REFUSED),
                )
        response.release_conn()
        return b"".join(pieces)

    def port_forward(self, path: str, port: int, target: str) -> Any:
        """A stream to a pod's port: kubernetes.stream's PortForward. Raises ApiError."""
        with self._count_lock:
            self.requests["forward"] += 1
        return self._connection.port_forward(path, port, target)

    def _open(self, call: ApiRequest, *, preload: bool, read_s: float) -> Any:
        with self._count_lock:
            self.requests[call.name.count_as or call.name.verb] += 1
        body, headers = call.body, self._connection.headers()
        headers["Accept"] = body.accept
        if body.content is not None:
            headers["Content-Type"] = body.media_type
        url = self.host + call.path
        if call.query:
            url = f"{url}?{urlencode(call.query)}"
        return self._connection.pool.request(
            call.method,
            url,
            body=body.content,
            headers=headers,
            timeout=Timeout(connect=CONNECT_S, read=read_s),
            retries=False,
            redirect=False,
            preload_content=preload,
        )

    def unreadable(self, call: ApiRequest, answer: ApiResponse, wrong: str) -> ApiError:
        """The error for what is no answer; wrong: what is due instead."""
        name = call.name
        return unreadable(answer, wrong, where=self.host, verb=name.verb, target=name.target)

    def _refusal(self, call: ApiRequest, answer: ApiResponse) -> ApiError:
        error = error_from_answer(
            answer,
            where=self.host,
            verb=call.name.verb,
            target=call.name.target,
            relayed=call.relayed_read_s is not None,
        )
        if isinstance(error, Unauthorized):
            error.todo = f"renew {self._connection.source.credentials}"
        return error

    def _unreachable(self, call: ApiRequest, error: Exception) -> Unreachable:
        why, todo = explain(error, self._connection.source)
        return Unreachable(
            f"Cannot {call.name.verb} {call.name.target}",
            where=self.host,
            why=why,
            todo=todo,
            request=RequestFailure(fate=_fate(error)),
        )


class Stream:
    """The lines of an answer as they come. stop() may be called by another thread and ends the
    iteration."""

    def __init__(self, response: Any, transport: ApiTransport, call: ApiRequest) -> None:
        self._response = response
        self._transport = transport
        self._call = call
        self._stopped = False

    def lines(self) -> Iterator[bytes]:
        """The lines; ends at the answer's end or after stop(); raises Unreachable when the
        connection is cut."""
        rest = b""
        try:
            for chunk in self._response.stream(amt=None, decode_content=False):
                *whole, rest = (rest + chunk).split(b"\n")
                yield from (line for line in whole if line)
                if len(rest) > LONGEST_LINE:
                    raise ValueError("a line without an end")
        except (http.HTTPError, OSError, ValueError, AttributeError) as error:
            # A socket that stop() has shut down fails in one of several ways, depending on where it
            # was read.
            if not self._stopped:
                raise self._transport._unreachable(self._call, error) from error
        finally:
            self._response.close()

    def stop(self) -> None:
        """End the iteration from any thread."""
        self._stopped = True
        connection = getattr(self._response, "connection", None) or getattr(
            self._response, "_connection", None
        )
        sock = getattr(connection, "sock", None)
        if sock is not None:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)


def _fate(error: Exception) -> Fate:
    """What became of a request without an answer."""
    if isinstance(error, http.SSLError) and not was_cut(error):
        return Fate.REFUSED
    return Fate.PUT_OFF if was_not_sent(error) else Fate.UNCLEAR
