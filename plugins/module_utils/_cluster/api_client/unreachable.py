# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a request to the API server has no answer, and what to do: by what urllib3 raised, and by where
the settings of the connection come from. Pure."""

from __future__ import annotations

import re
import ssl
from collections.abc import Sequence

from ..._http.http_failure import (
    NOT_TLS,
    FailureKind,
    causes_of,
    certificate_failure,
    certificate_words,
    root_of,
    tls_reason,
)
from .connection_source import ConnectionSource

try:
    from urllib3 import exceptions as http
except ImportError:
    http = None  # type: ignore[assignment,unused-ignore]

_LIBRARY_NOISE = re.compile(
    r"^.*?HTTPS?Connection(Pool)?\([^)]*\):\s*|^<[^>]*>:\s*|\s*\(_ssl\.c:\d+\)|\[Errno -?\d+\]\s*"
    r"|Failed to establish a new connection:\s*"
)
# What a proxy says to CONNECT without an account that it knows (RFC 9110, 15.5.8).
_NO_ACCOUNT = " 407 "


def explain(error: Exception, source: ConnectionSource) -> tuple[str, str]:
    """(why, what to do) for a request without an answer."""
    causes = list(causes_of(error))
    if isinstance(error, http.SSLError) and not was_cut(error):
        return _of_tls(causes, source)
    if isinstance(error, http.ReadTimeoutError):
        return "the API server does not answer in time", "see whether it is healthy, then run again"
    if isinstance(error, http.ProxyError):
        return _of_proxy(root_of(causes), source)
    if was_not_sent(error):
        via = f", {source.proxy}" if source.proxy else ""
        return (
            f"the API server cannot be reached: {_words(error)}",
            f"check {source.host}{via} and the network, then run again",
        )
    return (
        f"the connection was lost: {_words(error)}",
        "see whether the API server is healthy, then run again",
    )


def was_not_sent(error: Exception) -> bool:
    """Whether no byte of a request has left."""
    return isinstance(error, (http.NewConnectionError, http.ConnectTimeoutError, http.ProxyError))


def was_cut(error: Exception) -> bool:
    """Whether a TLS connection ended without the farewell that TLS wants, as it does where a server
    is killed."""
    return "EOF" in str(error)


def _words(error: Exception) -> str:
    return " ".join(_LIBRARY_NOISE.sub("", str(error)).split())


def _of_proxy(root: str, source: ConnectionSource) -> tuple[str, str]:
    todo = f"correct {source.proxy}, or see that this proxy runs, then run again"
    if _NO_ACCOUNT in root:
        todo = f"write name and password that the proxy accepts into {source.proxy}"
    return f"the proxy cannot be used: {root}", todo


def _of_tls(causes: Sequence[BaseException], source: ConnectionSource) -> tuple[str, str]:
    refused = next((each for each in causes if isinstance(each, ssl.CertificateError)), None)
    if refused is not None:
        why = f"the API server's certificate cannot be verified: {certificate_words(refused)}"
        return why, _of_certificate(certificate_failure(refused), source)
    if tls_reason(causes) in NOT_TLS:
        return "what answers there speaks no TLS", f"correct {source.host} (https, and its port)"
    return (
        f"TLS failed: {root_of(causes)}",
        "check the client certificate, its key and the host's port",
    )


def _of_certificate(failure: FailureKind, source: ConnectionSource) -> str:
    """What to do where the API server's certificate is refused."""
    if failure is FailureKind.OTHER_NAME:
        own = ", or set tls-server-name there" if source.in_kubeconfig else ""
        return f"name the API server as its certificate does, by {source.host}{own}"
    if failure is FailureKind.EXPIRED:
        return "have the API server's certificate renewed, or set this machine's clock"
    if source.ca:
        return f"give the CA that signed it by {source.ca}, which is another one now"
    return "give the CA that signed it (ca_cert, or certificate-authority in the kubeconfig)"
