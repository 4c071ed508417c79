# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Logging in: the header Authorization for a request, from pull secrets and token servers.

A registry says how it wants to be logged in to only when it refuses a request (401). What it says
is remembered for the host, so that later requests come with the right header at once. Credentials
are those for the very image that is asked for at the very host that asks: who only was redirected
to gets none (see transport.py), and a mirror gets its own. A token server may be another host, as
Docker Hub's is: that it gets them is the registry's own word, and only over TLS.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from .._http.http_pool import HttpRequest, HttpResponse
from .._json import parse_json
from .account import Credentials
from .challenge import Challenge, best, is_safe_realm, parse_challenges, union
from .image_names import Reference
from .persistence import Persistence, message, refusal
from .policy import RegistryPolicy
from .registry_errors import Denied, RegistryError, RegistryUnauthorized

# Of the specification, for token servers that do not say how long a token is good.
_DEFAULT_LIFETIME_S = 60.0
# A token is not used to its very end: the registry's clock and the way there count, too.
_SHARE_OF_LIFETIME = 0.9
_CLIENT = "hardware.enablement"


@dataclass(frozen=True)
class RepositoryAccess:
    """What a request wants to do. place: the repository at the host that is asked. scopes: see
    challenge.py."""

    place: Reference
    scopes: tuple[str, ...]
    task: str


@dataclass(frozen=True)
class _Token:
    text: str
    good_until: float


class Login:
    """Knows how each host wants to be logged in to, and keeps tokens while they are good."""

    def __init__(
        self,
        policy: RegistryPolicy,
        persistence: Persistence,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._policy = policy
        self._persistence = persistence
        self._clock = clock
        self._challenges: dict[str, Challenge] = {}
        self._tokens: dict[tuple[Challenge, Credentials | None], _Token] = {}
        # Also makes the second of two threads that need the same token wait for the first one's.
        self._lock = threading.RLock()

    def header(self, access: RepositoryAccess) -> str:
        """The header for a first attempt; "" where the host has not asked for any so far."""
        challenge = self._challenges.get(access.place.host)
        return self._answer(challenge, access) if challenge else ""

    def renewed(self, access: RepositoryAccess, used: str, answer: HttpResponse) -> str:
        """The header for a second attempt, after a 401; raises Unauthorized when there is nothing
        else to try.

        used: the header of the first attempt.
        """
        challenge = best(parse_challenges(answer.headers.get("WWW-Authenticate", "")))
        if challenge is None:
            raise self.refused(access, answer)
        with self._lock:
            # The scopes are those of this request, and the error is about the token that is given
            # up here.
            self._challenges[access.place.host] = replace(challenge, scopes=(), error="")
            self._forget(used)
            header = self._answer(challenge, access)
        if not header or header == used:
            raise self.refused(access, answer)
        return header

    def refused(self, access: RepositoryAccess, answer: HttpResponse) -> RegistryError:
        """The error for a 401 that is final."""
        challenge = best(parse_challenges(answer.headers.get("WWW-Authenticate", "")))
        credentials = self._credentials(access)
        kind: type[RegistryError] = RegistryUnauthorized
        if credentials is None:
            why = "there are no credentials for it (some registries say so, too, where there is no such repository)"
            todo = "give a pull secret with an account for it"
        elif challenge is None or challenge.scheme == "basic":
            why = f"it does not accept the credentials of {_who(credentials)}"
            todo = "correct the pull secret"
        elif challenge.error == "invalid_token":
            why = f"it does not accept the token that {challenge.realm} has just given (expired, or not meant for it)"
            todo = "compare the clocks of registry and token server, and the service's name in their settings"
        elif challenge.error == "insufficient_scope":
            kind = Denied
            why = f"the token that {challenge.realm} gives {_who(credentials)} does not allow it"
            todo = "give the account the right, or another pull secret"
        else:
            # RFC 6750, 3.1 knows no more errors; some registries name none, whatever is wrong.
            why = f"it does not accept the token that {challenge.realm} gives {_who(credentials)}, and does not say why"
            todo = "see whether the registry trusts that token server, and whether the account has the right"
        return self._error(kind, access, why, todo, answer.status)

    def _answer(self, challenge: Challenge, access: RepositoryAccess) -> str:
        """The header that a challenge asks for; "" where there are no credentials for it."""
        if challenge.scheme == "basic":
            credentials = self._credentials(access)
            return f"Basic {credentials.basic}" if credentials else ""
        return f"Bearer {self._token(challenge, access)}"

    def _token(self, challenge: Challenge, access: RepositoryAccess) -> str:
        wanted = replace(challenge, scopes=union(access.scopes, challenge.scopes), error="")
        credentials = self._credentials(access)
        with self._lock:
            token = self._tokens.get((wanted, credentials))
            if token is None or token.good_until <= self._clock():
                token = self._fetch(wanted, credentials, access)
                self._tokens[wanted, credentials] = token
            return token.text

    def _fetch(
        self, challenge: Challenge, credentials: Credentials | None, access: RepositoryAccess
    ) -> _Token:
        if not is_safe_realm(challenge.realm, self._policy.plain_http):
            why = f'it names "{challenge.realm}" as its token server, which does not use TLS'
            raise self._error(RegistryUnauthorized, access, why, "correct the registry's settings")
        request = _token_request(challenge, credentials, access.task)
        asked = self._clock()
        # A redirect is not followed: the credentials are meant for the server that the registry
        # names.
        answer = self._persistence.send(request, registry=access.place.host, count_as="token")
        if answer.status in (401, 403):
            whom = _who(credentials) if credentials else "somebody without an account"
            why = f"its token server {request.host} refuses {whom}: {message(answer)}"
            raise self._error(
                RegistryUnauthorized,
                access,
                why,
                "give a pull secret with a valid account",
                answer.status,
            )
        if answer.status != 200:
            raise refusal(request, answer)
        return self._read(answer, asked, access)

    def _read(self, answer: HttpResponse, asked: float, access: RepositoryAccess) -> _Token:
        try:
            document: Mapping[str, Any] = parse_json(answer.body)
            text = str(document.get("token") or document["access_token"])
            lifetime_s = float(document.get("expires_in") or _DEFAULT_LIFETIME_S)
        except (ValueError, LookupError, TypeError, AttributeError):
            # The body may hold half a token.
            why = "its token server's answer holds no token"
            raise self._error(
                RegistryError, access, why, "check the token server", answer.status
            ) from None
        return _Token(text, asked + lifetime_s * _SHARE_OF_LIFETIME)

    def _forget(self, header: str) -> None:
        text = header.partition(" ")[2]
        self._tokens = {key: token for key, token in self._tokens.items() if token.text != text}

    def _credentials(self, access: RepositoryAccess) -> Credentials | None:
        return self._policy.keyring.find(access.place)

    def _error(
        self,
        kind: type[RegistryError],
        access: RepositoryAccess,
        why: str,
        todo: str,
        status: int = 0,
    ) -> RegistryError:
        host = access.place.host
        return kind(
            f"Cannot {access.task}", where=host, why=why, todo=todo, status=status, registry=host
        )


def _token_request(challenge: Challenge, credentials: Credentials | None, task: str) -> HttpRequest:
    """How a token is asked for: with name and password in a header, with a refresh token in a form,
    or by anybody."""
    known = {"service": challenge.service} if challenge.service else {}
    if credentials and credentials.identity_token:
        form = {
            "grant_type": "refresh_token",
            "client_id": _CLIENT,
            "scope": " ".join(challenge.scopes),
            "refresh_token": credentials.identity_token,
            **known,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return HttpRequest("POST", challenge.realm, task, headers, urlencode(form).encode())
    query = urlencode([*known.items(), *(("scope", scope) for scope in challenge.scopes)])
    url = f"{challenge.realm}{'&' if '?' in challenge.realm else '?'}{query}"
    return HttpRequest(
        "GET", url, task, {"Authorization": f"Basic {credentials.basic}"} if credentials else {}
    )


def _who(credentials: Credentials) -> str:
    return (
        f"the account {credentials.username}"
        if credentials.username
        else "the pull secret's account"
    )
