# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to registries, trusted and by the proxy as the policy says, and sent again while the
server says "later" or does not answer, for a bounded time."""

from __future__ import annotations

import datetime
import os
import threading
from collections import Counter
from collections.abc import Callable
from typing import BinaryIO

from .._errors import InvalidInput
from .._http.http_failure import FailureKind, HttpError
from .._http.http_pool import READ_S, Body, HttpPool, HttpRequest, HttpResponse
from .._http.retries import asked_in_words, may_pass, pause_before, retry_after_s
from .._http.tls_context import system_context
from .policy import RegistryPolicy, Trust
from .registry_errors import (
    Denied,
    ImageNotFound,
    NotTrusted,
    RegistryError,
    RegistryUnauthorized,
    RegistryUnreachable,
    ServerError,
    TimedOut,
    TooManyRequests,
)

_LONGEST = 300
# A manifest has at most 4 MiB (OCI distribution specification); no configuration or token comes
# near that.
LARGEST_IN_MEMORY = 4 * 1024 * 1024
_POOL = 16
_NO_WAY = "check host, network and proxy, then run again"
_PORT = "check the port; a registry without TLS must be named as plain HTTP"
_CA = "give the CA that signed it (registry_ca)"
# Registries are shown none. A server that shares no cipher with us says just what one says that
# wants a certificate.
_SHOWN = (
    "have it take clients without a certificate and with today's ciphers, or use a mirror that does"
)
_OF_CLIENTS = (FailureKind.NO_CERTIFICATE, FailureKind.BAD_CERTIFICATE)
_OF_TLS = (*_OF_CLIENTS, FailureKind.NO_TLS, FailureKind.TLS)
_FAILURES: dict[FailureKind, tuple[type[RegistryError], str]] = {
    FailureKind.NOT_TRUSTED: (NotTrusted, _CA),
    FailureKind.EXPIRED: (NotTrusted, "have it renewed, or set this machine's clock"),
    FailureKind.OTHER_NAME: (NotTrusted, "name the registry as its certificate does"),
    **dict.fromkeys(_OF_TLS, (RegistryUnreachable, _PORT)),
    **dict.fromkeys(_OF_CLIENTS, (RegistryUnreachable, _SHOWN)),
    **dict.fromkeys((FailureKind.NO_CONNECTION, FailureKind.LOST), (RegistryUnreachable, _NO_WAY)),
    FailureKind.PROXY: (RegistryUnreachable, "check the proxy and its exceptions"),
    FailureKind.CONNECT_TIMEOUT: (TimedOut, _NO_WAY),
    FailureKind.READ_TIMEOUT: (TimedOut, "see whether the registry is healthy, then run again"),
    FailureKind.CUT: (RegistryUnreachable, "run again"),
    FailureKind.TOO_LARGE: (RegistryError, "see whether a registry answers there"),
    FailureKind.OTHER: (RegistryUnreachable, "check the registry's address"),
}


class Persistence:
    """Sends requests until there is an answer that says more than "later". Safe for threads."""

    def __init__(self, policy: RegistryPolicy, sleep: Callable[[float], None]) -> None:
        self.requests: Counter[str] = Counter()
        self._policy = policy
        self._proxies = policy.proxies.completed(os.environ)
        self._pools: dict[tuple[str, bool], HttpPool] = {}
        self._sleep = sleep
        self._lock = threading.Lock()
        # Hosts that did not answer for a whole round of attempts: waiting for each of many images
        # would take minutes.
        self._silent: set[str] = set()

    def send(
        self,
        request: HttpRequest,
        *,
        registry: str,
        sink: BinaryIO | None = None,
        count_as: str = "",
    ) -> HttpResponse:
        """The answer, whatever its status; raises TooManyRequests, ServerError,
        RegistryUnreachable, NotTrusted, and RegistryError for an answer that is too large.

        registry: host[:port] whose trust counts, also for its token server and those whom it
        redirects to. sink: an empty file for the body of a success.
        """
        attempt, waited_s = 1, 0.0
        while True:
            with self._lock:
                self.requests[count_as or request.method] += 1
            _rewind(request.body, sink)
            try:
                answer = self._attempt(request, registry, sink)
            except RegistryUnreachable as error:
                pause = self._pause_after_silence(request.host, error, attempt)
                if pause is None:
                    raise
            else:
                self._silent.discard(request.host)
                if not may_pass(answer.status):
                    return answer
                pause = pause_before(attempt + 1, _asked_s(answer), waited_s)
                if pause is None:
                    raise refusal(request, answer)
            attempt += 1
            waited_s += pause
            self._sleep(pause)

    def _pause_after_silence(
        self, host: str, error: RegistryUnreachable, attempt: int
    ) -> float | None:
        """How long to wait for a host that did not answer; None where it is given up, from now on
        after its first attempt."""
        # Who did not answer in time is asked once more: that has taken long enough.
        tired = host in self._silent or (isinstance(error, TimedOut) and attempt > 1)
        pause = None if tired else pause_before(attempt + 1)
        if pause is None:
            self._silent.add(host)
        return pause

    def _attempt(self, request: HttpRequest, registry: str, sink: BinaryIO | None) -> HttpResponse:
        pool = self._pool(self._policy.trust(registry))
        try:
            return pool.send(request, proxy=self._proxies.for_url(request.url), sink=sink)
        except HttpError as error:
            kind, todo = _FAILURES[error.kind]
            why = f"TLS failed ({error.root})" if error.kind in _OF_TLS else error.why
            what, host = f"Cannot {request.task}", request.host
            raise kind(what, where=host, why=why, todo=todo, registry=host) from error

    def _pool(self, trust: Trust) -> HttpPool:
        """The connections to all hosts that are trusted alike."""
        with self._lock:
            key = trust.ca, trust.verify
            if key not in self._pools:
                try:
                    context = system_context(trust.ca, verify=trust.verify)
                except ValueError as error:
                    what, todo = "Cannot use the registries' CA", "give its PEM text"
                    raise InvalidInput(what, where=trust.host, why=str(error), todo=todo) from error
                self._pools[key] = HttpPool(
                    "the registry", context, largest=LARGEST_IN_MEMORY, size=_POOL, read_s=READ_S
                )
            return self._pools[key]


def _rewind(body: Body, sink: BinaryIO | None) -> None:
    """What an attempt before this one has read or written counts no more."""
    if body is not None and not isinstance(body, bytes):
        body.seek(0)
    if sink is not None:
        sink.seek(0)
        sink.truncate()


def refusal(request: HttpRequest, answer: HttpResponse) -> RegistryError:
    """The error that an answer tells, whatever its status."""
    status = answer.status
    kind, todo = _KINDS.get(status, (RegistryError, ""))
    if status >= 500:
        kind, todo = ServerError, "see whether the registry is healthy, then run again"
    why = message(answer) + (asked_in_words(_asked_s(answer)) if status == 429 else "")
    return kind(
        f"Cannot {request.task}",
        where=request.host,
        why=why,
        todo=todo,
        status=status,
        registry=request.host,
    )


def message(answer: HttpResponse) -> str:
    """What a refusal's body says: the registry's own errors, else the status."""
    try:
        errors = answer.json()["errors"]
        texts = [str(error.get("message") or error.get("code") or "") for error in errors]
    except (ValueError, LookupError, TypeError, AttributeError):
        texts = []
    text = "; ".join(" ".join(text.split()) for text in texts if text)
    return f"it answers {answer.status}" + (f" ({text[:_LONGEST]})" if text else "")


_KINDS: dict[int, tuple[type[RegistryError], str]] = {
    401: (RegistryUnauthorized, "give a pull secret with an account for it"),
    403: (Denied, "give the account the right, or another pull secret"),
    404: (ImageNotFound, "correct the name, or make the repository"),
    429: (TooManyRequests, "run again later, use a mirror, or log in to be granted more"),
}


def _asked_s(answer: HttpResponse) -> float:
    now = datetime.datetime.now(datetime.timezone.utc)
    return retry_after_s(answer.headers.get("Retry-After", ""), now)
