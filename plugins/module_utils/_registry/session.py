# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to registries: logged in, redirected where that is safe, refusals turned into errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO
from urllib.parse import urljoin, urlsplit

from .._http.http_pool import Body, HttpRequest, HttpResponse
from .image_names import Reference
from .login import Login, RepositoryAccess
from .persistence import Persistence, refusal
from .policy import RegistryPolicy
from .registry_errors import RegistryError

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_LONGEST_CHAIN = 5


@dataclass(frozen=True)
class RegistryRequest:
    """One request about a repository. url: absolute, or relative to the repository
    (`manifests/latest`).

    Working on it twice does no harm. access: the repository, scopes and task. expected: the
    statuses that are answers; others are raised. body: a file is sent from its beginning.
    """

    method: str
    url: str
    access: RepositoryAccess
    expected: frozenset[int]
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Body = None


class RegistrySession:
    """Sends calls. Safe for threads."""

    def __init__(self, policy: RegistryPolicy, sleep: Callable[[float], None]) -> None:
        self._persistence = Persistence(policy, sleep)
        self._login = Login(policy, self._persistence)
        self._plain_http = policy.plain_http

    @property
    def requests(self) -> Counter[str]:
        """How many requests were sent so far, by method; those to token servers count as "token"."""
        return self._persistence.requests

    def base(self, place: Reference) -> str:
        """URL of a repository, with a slash at its end."""
        scheme = "http" if place.host in self._plain_http else "https"
        return f"{scheme}://{place.host}/v2/{place.repository}/"

    def send(self, call: RegistryRequest, sink: BinaryIO | None = None) -> HttpResponse:
        """Send a call; raises a RegistryError. sink: an empty file for the body of a success."""
        url = self._resolve(call, self.base(call.access.place), call.url)
        answer = self._logged_in(call, url, sink)
        hops = 0
        while answer.status in _REDIRECTS and call.method in ("GET", "HEAD"):
            hops += 1
            if hops > _LONGEST_CHAIN:
                raise self._error(
                    call, "it redirects without an end", "check the registry's storage settings"
                )
            url = self._resolve(call, url, answer.headers.get("Location", ""))
            answer = self._logged_in(call, url, sink)
        if answer.status not in call.expected:
            raise self._refused(call, url, answer)
        return answer

    def _logged_in(self, call: RegistryRequest, url: str, sink: BinaryIO | None) -> HttpResponse:
        """Send with credentials, if the URL belongs to the registry; a token is asked for anew
        once."""
        own = _origin(url) == _origin(self.base(call.access.place))
        used = self._login.header(call.access) if own else ""
        answer = self._attempt(call, url, used, sink)
        if answer.status == 401 and own:
            used = self._login.renewed(call.access, used, answer)
            answer = self._attempt(call, url, used, sink)
        return answer

    def _attempt(
        self, call: RegistryRequest, url: str, authorization: str, sink: BinaryIO | None
    ) -> HttpResponse:
        headers = {**call.headers, **({"Authorization": authorization} if authorization else {})}
        request = HttpRequest(call.method, url, call.access.task, headers, call.body)
        host = call.access.place.host
        return self._persistence.send(request, registry=host, sink=sink)

    def _refused(self, call: RegistryRequest, url: str, answer: HttpResponse) -> RegistryError:
        if answer.status == 401 and _origin(url) == _origin(self.base(call.access.place)):
            return self._login.refused(call.access, answer)
        return refusal(HttpRequest(call.method, url, call.access.task), answer)

    def _resolve(self, call: RegistryRequest, base: str, location: str) -> str:
        """An absolute URL from what the registry says, which may never lead away from TLS."""
        if not location:
            raise self._error(
                call, "it names no place to go on at", "check the registry's settings"
            )
        url = urlsplit(urljoin(base, location))
        before = urlsplit(base)
        if url.scheme == "http" and before.scheme == "https" and url.netloc not in self._plain_http:
            if url.hostname != before.hostname:
                why = f"it leads to {url.netloc} without TLS"
                raise self._error(call, why, "correct the registry's settings for its storage")
            # A registry behind a proxy that ends TLS does not always know that it is asked over
            # TLS.
            url = url._replace(scheme="https", netloc=before.netloc)
        return url.geturl()

    def _error(self, call: RegistryRequest, why: str, todo: str) -> RegistryError:
        host = call.access.place.host
        return RegistryError(
            f"Cannot {call.access.task}", where=host, why=why, todo=todo, registry=host
        )


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return (
        parts.scheme,
        parts.hostname or "",
        parts.port or (443 if parts.scheme == "https" else 80),
    )
