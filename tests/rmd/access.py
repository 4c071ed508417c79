# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may do what: TLS, client certificates, Basic, and the access list (facts 4.7)."""

from __future__ import annotations

import base64
import binascii
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.rmd.answers import Answer, StartError, text
from tests.rmd.routes import Request

CLIENT_AUTH = ("no", "require", "require_any", "challenge_given", "challenge")
CIPHERS = "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"
# require_any takes any certificate, also a stranger's: Python's ssl cannot, so strangers are
# refused. require asks for one, takes any, and needs none.
_MODES = {
    "challenge": ssl.CERT_REQUIRED,
    "require_any": ssl.CERT_REQUIRED,
    "challenge_given": ssl.CERT_OPTIONAL,
}
_USER_ROLE = "Cert Client User"
_VERSION = re.compile(r"^/v\d+/")
# The daemon's own policy.csv: (who, path with * at its end, methods), and who is what else.
_READ = ("/cache", "/cache/l*", "/policy", "/workloads", "/workloads/*", "/hospitality")
RULES = (
    *(("user", path, "GET") for path in _READ),
    ("root", "/workloads", "POST"),
    ("root", "/workloads/*", "(PATCH)|(DELETE)"),
)
ROLES = (("root", "user"), ("admin", "root"), (_USER_ROLE, "user"))


@dataclass(frozen=True)
class Tls:
    """certificates: folder with ca.pem, rmd-cert.pem, rmd-key.pem. clients: folder with ca.pem.
    clientauth: facts 4.7.

    authorization: signature (a client's certificate lies in the folder admin or user), role (OU) or
    username (CN). accounts: user -> password, for clientauth `no`. rules, roles: of the access
    list.
    """

    certificates: Path
    clients: Path
    clientauth: str = "challenge"
    authorization: str = "signature"
    admin: Path | None = None
    user: Path | None = None
    accounts: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[tuple[str, str, str], ...] = RULES
    roles: tuple[tuple[str, str], ...] = ROLES

    def context(self) -> ssl.SSLContext:
        """TLS 1.2 only, two cipher suites, no HTTP/2; StartError as the daemon at its start."""
        if self.clientauth not in CLIENT_AUTH:
            raise StartError(f"Unknow ClientAuth config setting: {self.clientauth}")
        names = {"cert": "rmd-cert.pem", "ca": "ca.pem", "key": "rmd-key.pem"}
        if missing := [
            kind for kind, name in names.items() if not (self.certificates / name).is_file()
        ]:
            raise StartError(f"Missing enough files for tls config: {', '.join(missing)}")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(CIPHERS)
        try:
            context.load_cert_chain(
                self.certificates / names["cert"], self.certificates / names["key"]
            )
            if self.clientauth in _MODES:
                context.load_verify_locations(self.clients / "ca.pem")
        except (OSError, ssl.SSLError) as error:
            raise StartError(str(error)) from error
        context.verify_mode = _MODES.get(self.clientauth, ssl.CERT_NONE)
        return context

    def refuse(self, request: Request, secured: ssl.SSLSocket) -> Answer | None:
        """The answer to who may not do this, None for who may."""
        if self.clientauth == "no":
            return self._check_account(request)
        if self.clientauth != "challenge":
            return None
        return self._check_certificate(request, secured)

    def _check_account(self, request: Request) -> Answer | None:
        kind, _space, given = request.headers.get("authorization", "").partition(" ")
        try:
            user, colon, password = base64.b64decode(given, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            user = colon = password = ""
        if kind.lower() != "basic" or not colon:
            return text(400, "Malformed credentials\n", sniffed=True)
        if self.accounts.get(user) != password:
            headers = {"WWW-Authenticate": "Basic realm=RMD"}
            return text(401, "Authentication failure\n", sniffed=True, headers=headers)
        return self._enforce(request, user)

    def _check_certificate(self, request: Request, secured: ssl.SSLSocket) -> Answer | None:
        subject = subject_of(secured)
        name = (subject.get("commonName") or [""])[0]
        if self.authorization == "username":
            return self._enforce(request, name)
        if self.authorization == "role":
            units = subject.get("organizationalUnitName", [])
            if any(self._enforce(request, unit.lower()) is None for unit in units):
                return None
            return text(401, f"OU: {', '.join(units)} is not authorized", sniffed=True)
        shown = secured.getpeercert(binary_form=True)
        if shown in _certificates(self.admin):
            return None
        if shown in _certificates(self.user):
            return self._enforce(request, _USER_ROLE)
        return text(401, f"{name} is not authorized", sniffed=True)

    def _enforce(self, request: Request, who: str) -> Answer | None:
        path = _VERSION.sub("/", request.path.rstrip("/") or "/")
        for subject, pattern, methods in self.rules:
            if (
                self._is(who, subject)
                and _fits(path, pattern)
                and re.search(methods, request.method)
            ):
                return None
        return text(403, f'User "{who}" is not authorized to access this resource\n', sniffed=True)

    def _is(self, who: str, subject: str) -> bool:
        return who == subject or any(
            self._is(role, subject) for name, role in self.roles if name == who
        )


def read_rules(file: Path) -> tuple[tuple[tuple[str, str, str], ...], tuple[tuple[str, str], ...]]:
    """(rules, roles) of a policy.csv; StartError if it cannot be read."""
    try:
        lines = [
            [part.strip() for part in line.split(",")] for line in file.read_text().splitlines()
        ]
    except OSError as error:
        raise StartError(
            f"Error to generate an Enforcer! Reason: init Enforcer error: {error}"
        ) from error
    rules = tuple((parts[1], parts[2], parts[3]) for parts in lines if parts[0] == "p")
    return rules, (
        *((parts[1], parts[2]) for parts in lines if parts[0] == "g"),
        (_USER_ROLE, "user"),
    )


def _fits(path: str, pattern: str) -> bool:
    """casbin's keyMatch: a * stands for all that follows."""
    head, star, _rest = pattern.partition("*")
    return path.startswith(head) if star else path == pattern


def _certificates(folder: Path | None) -> set[bytes]:
    """The certificates of a folder, read anew each time, since the daemon watches it."""
    files = folder.glob("*.pem") if folder is not None else ()
    return {ssl.PEM_cert_to_DER_cert(_first_certificate(file.read_text())) for file in files}


def _first_certificate(content: str) -> str:
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    return content[content.index(begin) : content.index(end) + len(end)]


def subject_of(secured: ssl.SSLSocket) -> dict[str, list[str]]:
    """The client certificate's subject, {} without a certificate."""
    certificate: Mapping[str, Any] = secured.getpeercert() or {}
    found: dict[str, list[str]] = {}
    for group in certificate.get("subject", ()):
        for key, value in group:
            found.setdefault(key, []).append(value)
    return found
