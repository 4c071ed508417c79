# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One request to one daemon and its answer, over a kept-alive connection. TLS is verified and never
left out."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from ..._errors import InvalidInput
from ..._http.http_failure import FailureKind, HttpError
from ..._http.http_pool import READ_S, HttpPool, HttpRequest, HttpResponse
from ..rmd_errors import RmdError, Unanswered

# Some hundred workloads are a few hundred kilobytes.
LARGEST = 8 * 1024 * 1024
# What asking again does not help with; a key of classify.ADVICE.
_FINAL = {
    FailureKind.EXPIRED: "expired",
    FailureKind.NOT_TRUSTED: "not_trusted",
    FailureKind.OTHER_NAME: "not_trusted",
    FailureKind.NO_CERTIFICATE: "no_client_certificate",
    FailureKind.BAD_CERTIFICATE: "no_client_certificate",
    FailureKind.NO_TLS: "no_tls",
    FailureKind.TOO_LARGE: "transport",
}


@dataclass(frozen=True)
class Address:
    """Where a daemon listens. server_name: the name that its certificate must hold. where: for
    messages.

    problem: asks what lies between has to say after a failure ("" for nothing).
    """

    host: str
    port: int
    tls: bool
    server_name: str
    where: str
    problem: Callable[[], str] = str

    @property
    def url(self) -> str:
        """URL without a slash at its end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"


class RmdConnection:
    """Sends requests to one daemon. requests counts them by method."""

    def __init__(
        self,
        address: Address,
        context: Optional[ssl.SSLContext],
        *,
        shows_certificate: bool = False,
        account: Optional[tuple[str, str]] = None,
        timeout_s: float = READ_S,
    ) -> None:
        """context: for TLS, which shows a client certificate or not. account: user and password,
        where PAM is asked."""
        if address.tls and context is None:
            why, todo = "no CA is known", "give rmd_ca or tls_secret"
            raise InvalidInput("Cannot ask RMD", where=address.where, why=why, todo=todo)
        self.address = address
        self.requests: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._headers = {"Accept": "application/json"}
        if account is not None:
            encoded = base64.b64encode(":".join(account).encode()).decode()
            self._headers["Authorization"] = f"Basic {encoded}"
        self._pool = HttpPool(
            "the daemon",
            context,
            largest=LARGEST,
            read_s=timeout_s,
            server_name=address.server_name if address.tls else "",
            shows_certificate=shows_certificate,
        )

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def send(
        self, method: str, path: str, task: str, body: Optional[Mapping[str, Any]] = None
    ) -> HttpResponse:
        """Send a request. task: what for ("post workload w"). Raises RmdError, Unanswered where
        nothing came back."""
        with self._lock:
            self.requests[method] += 1
        headers, data = self._headers, None
        if body is not None:
            headers, data = {**headers, "Content-Type": "application/json"}, json.dumps(body)
        request = HttpRequest(
            method, self.address.url + path, task, headers, data.encode() if data else None
        )
        try:
            return self._pool.send(request)
        except HttpError as failure:
            raise self._error(method, task, failure) from failure

    def _error(self, method: str, task: str, failure: HttpError) -> RmdError:
        what, where, why = f"Cannot {task}", self.address.where, failure.why
        if failure.kind in _FINAL:
            kind = "expired" if "expired" in why else _FINAL[failure.kind]
            return RmdError(what, kind=kind, where=where, why=why)
        dropped = failure.was_sent and failure.kind is not FailureKind.READ_TIMEOUT
        kind = "server_panic" if dropped and method != "GET" else "transport"
        hint = self.address.problem()
        return Unanswered(
            what,
            kind=kind,
            was_sent=failure.was_sent,
            timed_out=failure.kind in (FailureKind.READ_TIMEOUT, FailureKind.CONNECT_TIMEOUT),
            where=where,
            why=f"{why} ({hint})" if hint else why,
        )
