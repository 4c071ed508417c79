# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One request to one daemon and its answer, over a kept-alive connection. TLS is verified and never
left out."""

from __future__ import annotations

import contextlib
import json
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from .._errors import InvalidInput
from .._registry.adapter import ContextAdapter, causes_of, read_limited, root_of
from .rmd_errors import RmdError, Unanswered

try:
    import requests
    from requests.adapters import HTTPAdapter
except ImportError:
    requests = HTTPAdapter = None  # type: ignore[assignment,misc]

CONNECT_S = 5.0
# Some hundred workloads are a few hundred kilobytes.
LARGEST = 8 * 1024 * 1024
# What a TLS peer says when our certificate is missing, or none that it accepts (RFC 5246, 7.2.2;
# RFC 8446, 6.2).
_NO_CERTIFICATE = ("HANDSHAKE_FAILURE", "CERTIFICATE_REQUIRED")
# Exceptions by name: urllib3 has two for a name that does not match, and its own for a connection
# that never was.
_NOT_VERIFIED = ("SSLCertVerificationError", "CertificateError")
_EXPIRED = 10  # X509_V_ERR_CERT_HAS_EXPIRED
_NOT_SENT = ("NewConnectionError", "NameResolutionError", "ConnectionRefusedError", "SSLEOFError")
_NOT_TLS = (
    "WRONG_VERSION_NUMBER",
    "HTTP_REQUEST",
    "UNKNOWN_PROTOCOL",
    "PACKET_LENGTH_TOO_LONG",
    "RECORD_LAYER_FAILURE",
)
_BAD_CERTIFICATE = (
    "UNKNOWN_CA",
    "BAD_CERTIFICATE",
    "CERTIFICATE_EXPIRED",
    "CERTIFICATE_UNKNOWN",
    "ACCESS_DENIED",
)


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


@dataclass(frozen=True)
class RmdResponse:
    """What came back, whatever its status."""

    status: int
    text: str

    def json(self) -> Any:
        """The body, or None where it is no JSON: most refusals are plain text."""
        with contextlib.suppress(ValueError):
            return json.loads(self.text)
        return None


class RmdConnection:
    """Sends requests to one daemon. requests counts them by method."""

    def __init__(
        self,
        address: Address,
        context: Optional[ssl.SSLContext],
        *,
        shows_certificate: bool = False,
        account: Optional[tuple[str, str]] = None,
        timeout_s: float = 30.0,
    ) -> None:
        """context: for TLS, which shows a client certificate or not. account: user and password,
        where PAM is asked."""
        if requests is None:
            raise InvalidInput(
                "Cannot ask RMD", why="the Python package requests is missing", todo="install it"
            )
        self.address = address
        self.requests: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._shows_certificate = shows_certificate
        self._account = account
        self._timeout_s = timeout_s
        self._adapter: Any = _adapter(address, context)

    def close(self) -> None:
        """Close the connections."""
        self._adapter.close()

    def send(
        self, method: str, path: str, task: str, body: Optional[Mapping[str, Any]] = None
    ) -> RmdResponse:
        """Send a request. task: what for ("post workload w"). Raises RmdError, Unanswered where
        nothing came back."""
        with self._lock:
            self.requests[method] += 1
        headers = {
            "User-Agent": "hardware.enablement",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        try:
            # Straight to the adapter: a session would take credentials out of ~/.netrc, use
            # proxies, follow redirects.
            url = self.address.url + path
            prepared = requests.Request(
                method, url, headers=headers, data=data, auth=self._account
            ).prepare()
            response = self._adapter.send(
                prepared, stream=True, timeout=(CONNECT_S, self._timeout_s), verify=True
            )
            try:
                content = read_limited(response, LARGEST)
            finally:
                response.close()
        except requests.RequestException as error:
            raise self._failure(method, task, error) from error
        if len(content) > LARGEST:
            why = f"the answer is larger than {LARGEST // 1024**2} MiB"
            raise RmdError(f"Cannot {task}", kind="transport", where=self.address.where, why=why)
        return RmdResponse(response.status_code, content.decode(errors="replace"))

    def _failure(self, method: str, task: str, error: Exception) -> RmdError:
        """What a request without an answer means."""
        what, where, causes = f"Cannot {task}", self.address.where, list(causes_of(error))
        untrusted = next((cause for cause in causes if type(cause).__name__ in _NOT_VERIFIED), None)
        if untrusted is not None:
            said = getattr(untrusted, "verify_message", "") or str(untrusted)
            why = f"the daemon's certificate cannot be verified: {said}"
            expired = getattr(untrusted, "verify_code", 0) == _EXPIRED
            return RmdError(
                what, kind="expired" if expired else "not_trusted", where=where, why=why
            )
        reason = next(
            (
                str(cause.reason)
                for cause in causes
                if isinstance(cause, ssl.SSLError) and cause.reason
            ),
            "",
        )
        refused = self._refused(reason)
        if refused:
            return RmdError(what, kind="no_client_certificate", where=where, why=refused)
        if reason in _NOT_TLS:
            return RmdError(
                what, kind="no_tls", where=where, why="what answers there speaks no TLS"
            )
        kind, why, was_sent = self._lost(error, causes)
        kind = "server_panic" if kind == "dropped" and method != "GET" else "transport"
        hint = self.address.problem()
        return Unanswered(
            what, kind=kind, was_sent=was_sent, where=where, why=f"{why} ({hint})" if hint else why
        )

    def _refused(self, reason: str) -> str:
        """Why a daemon does not take our certificate; "" where that is not what it says."""
        if "ALERT" not in reason:
            return ""
        alert = reason.rpartition("ALERT_")[2]
        if alert in _NO_CERTIFICATE and not self._shows_certificate:
            return "the daemon wants a client certificate, and none was given"
        if alert in (*_NO_CERTIFICATE, *_BAD_CERTIFICATE):
            said = alert.lower().replace("_", " ")
            given = (
                "our client certificate"
                if self._shows_certificate
                else "a client without a certificate"
            )
            return f"the daemon does not accept {given} ({said})"
        return ""

    def _lost(self, error: Exception, causes: Sequence[BaseException]) -> tuple[str, str, bool]:
        """(kind, why, whether the daemon may have worked on the request)."""
        root = root_of(causes)
        if isinstance(error, requests.ConnectTimeout):
            return "transport", f"no connection within {CONNECT_S:.0f} s", False
        if isinstance(error, requests.Timeout):
            return "transport", f"no answer within {self._timeout_s:g} s", True
        if any(type(cause).__name__ in _NOT_SENT for cause in causes):
            return "transport", f"no connection ({root})", False
        if isinstance(error, requests.exceptions.SSLError):
            return "transport", f"TLS failed ({root})", False
        return "dropped", "the connection was closed without an answer", True


def _adapter(address: Address, context: Optional[ssl.SSLContext]) -> Any:
    if not address.tls:
        return HTTPAdapter(pool_connections=1, pool_maxsize=1)
    if context is None:
        raise InvalidInput(
            "Cannot ask RMD",
            where=address.where,
            why="no CA is known",
            todo="give rmd_ca or tls_secret",
        )
    return ContextAdapter(context, hosts=1, connections=1, server_hostname=address.server_name)
