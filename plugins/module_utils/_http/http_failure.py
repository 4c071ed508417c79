# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a request has no answer, out of what requests, urllib3 and ssl raise. Pure."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence, Set
from enum import Enum
from typing import Any

# What a TLS peer says when our certificate is missing, or none that it accepts (RFC 5246, 7.2.2;
# RFC 8446, 6.2).
_MISSING = frozenset({"HANDSHAKE_FAILURE", "CERTIFICATE_REQUIRED"})
_UNACCEPTED = frozenset(
    ["UNKNOWN_CA", "BAD_CERTIFICATE", "CERTIFICATE_EXPIRED", "CERTIFICATE_UNKNOWN", "ACCESS_DENIED"]
)
NOT_TLS = frozenset(
    [
        "WRONG_VERSION_NUMBER",
        "HTTP_REQUEST",
        "UNKNOWN_PROTOCOL",
        "PACKET_LENGTH_TOO_LONG",
        "RECORD_LAYER_FAILURE",
    ]
)
# Exceptions by name: urllib3 has two for a name that does not match, and its own for a connection
# that never was.
_NOT_VERIFIED = frozenset({"SSLCertVerificationError", "CertificateError"})
_NOT_SENT = frozenset(
    ["NewConnectionError", "NameResolutionError", "ConnectionRefusedError", "SSLEOFError"]
)
# Of OpenSSL (x509_vfy.h): X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED;
# X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH.
_NOT_NOW = frozenset({9, 10})
_OTHER_NAME = frozenset({62, 64})


class FailureKind(Enum):
    """What went wrong, and how it is said. A proxy's URL may hold a password, and the library's
    text may hold the URL: only the root is shown."""

    EXPIRED = "{peer}'s certificate cannot be verified now: {said}"
    OTHER_NAME = "{peer}'s certificate cannot be verified for this name: {said}"
    NOT_TRUSTED = "{peer}'s certificate cannot be verified: {said}"
    NO_CERTIFICATE = "{peer} wants a client certificate, and none was given"
    BAD_CERTIFICATE = "{peer} does not accept {shown} ({alert})"
    NO_TLS = "what answers there speaks no TLS"
    TLS = "TLS failed ({root})"
    PROXY = "the proxy cannot be used ({root})"
    NO_CONNECTION = "no connection ({root})"
    CONNECT_TIMEOUT = "no connection within {connect_s:g} s"
    READ_TIMEOUT = "no answer within {read_s:g} s"
    LOST = "the connection was lost: it was closed without an answer"
    CUT = "the connection was cut in the middle of the answer"
    TOO_LARGE = "the answer is larger than {largest} MiB"
    OTHER = "the request failed ({name})"


class HttpError(Exception):
    """There is no answer, or none that can be kept. why: half a sentence. root: the operating
    system's or TLS's own words."""

    def __init__(self, kind: FailureKind, root: str = "", **words: Any) -> None:
        self.kind, self.root = kind, root
        self.why = kind.value.format(root=root, **words)
        super().__init__(self.why)

    @property
    def was_sent(self) -> bool:
        """Whether the server may have worked on the request."""
        return self.kind in _SENT


_SENT = frozenset(
    FailureKind[name] for name in ["READ_TIMEOUT", "LOST", "CUT", "TOO_LARGE", "OTHER"]
)


def failure_of(
    error: Exception, peer: str, *, connect_s: float, read_s: float, shows_certificate: bool
) -> HttpError:
    """What a request of requests' that failed means. peer: who was asked ("the registry")."""
    causes = list(causes_of(error))
    untrusted = _first_of(causes, _NOT_VERIFIED)
    reason = tls_reason(causes)
    alert = reason.rpartition("ALERT_")[2] if "ALERT" in reason else ""
    names = {base.__name__ for base in type(error).__mro__}
    tests = (
        (certificate_failure(untrusted), untrusted is not None),
        (FailureKind.PROXY, "ProxyError" in names),
        (FailureKind.NO_CERTIFICATE, alert in _MISSING and not shows_certificate),
        (FailureKind.BAD_CERTIFICATE, alert in _MISSING | _UNACCEPTED),
        (FailureKind.NO_TLS, reason in NOT_TLS),
        (FailureKind.CONNECT_TIMEOUT, "ConnectTimeout" in names),
        (FailureKind.READ_TIMEOUT, "Timeout" in names),
        (FailureKind.NO_CONNECTION, _first_of(causes, _NOT_SENT) is not None),
        (FailureKind.TLS, "SSLError" in names),
        (FailureKind.CUT, "ChunkedEncodingError" in names),
        (FailureKind.LOST, "ConnectionError" in names),
    )
    return HttpError(
        next((kind for kind, holds in tests if holds), FailureKind.OTHER),
        root_of(causes),
        peer=peer,
        said=certificate_words(untrusted),
        shown="our client certificate" if shows_certificate else "a client without a certificate",
        alert=alert.lower().replace("_", " "),
        connect_s=connect_s,
        read_s=read_s,
        name=type(error).__name__,
    )


def certificate_failure(refused: Any) -> FailureKind:
    """What is wrong with a certificate that ssl, or urllib3 for its name, has refused."""
    code = getattr(refused, "verify_code", 0)
    if code in _NOT_NOW:
        return FailureKind.EXPIRED
    of_name = code in _OTHER_NAME or type(refused).__name__ == "CertificateError"
    return FailureKind.OTHER_NAME if of_name else FailureKind.NOT_TRUSTED


def certificate_words(refused: Any) -> str:
    """Why ssl, or urllib3, has refused a certificate."""
    return (getattr(refused, "verify_message", "") or str(refused)).strip(" .")


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """An exception and all that led to it: requests and urllib3 put them into each other in several
    ways."""
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        current = left.pop(0)
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        inner = [
            getattr(current, "reason", None),
            *current.args,
            current.__cause__,
            current.__context__,
        ]
        left += [cause for cause in inner if isinstance(cause, BaseException)]


def _first_of(causes: Sequence[BaseException], names: Set[str]) -> Any:
    """The first exception whose class has one of these names, None where there is none."""
    return next((one for one in causes if type(one).__name__ in names), None)


def tls_reason(causes: Sequence[BaseException]) -> str:
    """The word of OpenSSL for what went wrong, "" where it was not about TLS."""
    reasons = (one.reason for one in causes if isinstance(one, ssl.SSLError))
    return str(next(filter(None, reasons), ""))


def root_of(causes: Sequence[BaseException]) -> str:
    """The operating system's or TLS's own words, else the kind of the innermost exception."""
    for cause in reversed(causes):
        if isinstance(cause, ssl.SSLError) and cause.reason:
            return cause.reason.lower().replace("_", " ")
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        # What a proxy answered to CONNECT (http.client).
        if cause.__class__ is OSError and cause.args:
            return str(cause)
    return type(causes[-1]).__name__
