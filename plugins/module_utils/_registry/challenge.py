# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a registry asks for before it answers: the header WWW-Authenticate, and scopes. Pure.

Sources: RFC 9110 section 11 (challenges), distribution.github.io/distribution/spec/auth/ (token
servers, scopes).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_SCHEME = re.compile(rf"[\s,]*({_TOKEN})(?=\s|,|$)(?!\s*=)")
_PARAMETER = re.compile(rf'[\s,]*({_TOKEN})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|({_TOKEN}))')


@dataclass(frozen=True)
class Challenge:
    """One way to log in. realm of the scheme bearer: URL of the token server. error: why a token
    was not accepted."""

    scheme: str
    realm: str = ""
    service: str = ""
    scopes: tuple[str, ...] = ()
    error: str = ""


def parse_challenges(header: str) -> list[Challenge]:
    """All challenges of a header, or of several that were joined by commas; what cannot be read is
    left out."""
    found: list[Challenge] = []
    at = 0
    while scheme := _SCHEME.match(header, at):
        at = scheme.end()
        parameters: dict[str, str] = {}
        while parameter := _PARAMETER.match(header, at):
            at = parameter.end()
            name, quoted, plain = parameter.groups()
            parameters[name.lower()] = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        found.append(_challenge(scheme[1].lower(), parameters))
    return found


def best(challenges: Sequence[Challenge]) -> Challenge | None:
    """The challenge to answer: a token server's rather than a password's; None if there is none
    that we know."""
    for wanted in ("bearer", "basic"):
        for challenge in challenges:
            if challenge.scheme == wanted and (wanted == "basic" or challenge.realm):
                return challenge
    return None


def pull(repository: str) -> tuple[str, ...]:
    """The scope for reading from a repository."""
    return (f"repository:{repository}:pull",)


def push(repository: str) -> tuple[str, ...]:
    """The scope for writing to a repository."""
    return (f"repository:{repository}:pull,push",)


def union(*parts: Iterable[str]) -> tuple[str, ...]:
    """Scopes that grant all that the given ones do, one for each resource, in a fixed order."""
    actions: dict[str, set[str]] = {}
    for scope in (scope for part in parts for scope in part):
        # The name may hold a port's colon, the kind and the actions hold none.
        resource, _colon, asked = scope.rpartition(":")
        actions.setdefault(resource, set()).update(asked.split(","))
    return tuple(
        f"{resource}:{','.join(sorted(asked))}" for resource, asked in sorted(actions.items())
    )


def is_safe_realm(realm: str, plain_http: frozenset[str]) -> bool:
    """Whether credentials may be sent to a token server: over TLS, or to a host that may be asked
    without it."""
    parts = urlsplit(realm)
    if not parts.hostname or "@" in parts.netloc:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.netloc in plain_http)


def _challenge(scheme: str, parameters: Mapping[str, str]) -> Challenge:
    return Challenge(
        scheme,
        realm=parameters.get("realm", ""),
        service=parameters.get("service", ""),
        scopes=tuple(parameters.get("scope", "").split()),
        error=parameters.get("error", ""),
    )
