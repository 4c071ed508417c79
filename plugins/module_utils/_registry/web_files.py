# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of web servers, which are trusted, reached and logged in to as registries are."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any
from urllib.parse import urljoin, urlsplit

from .._errors import InvalidInput
from .._http.http_pool import HttpRequest
from .image_names import parse
from .persistence import Persistence, refusal
from .policy import RegistryPolicy

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_LONGEST_CHAIN = 5


def read_file(policy: RegistryPolicy, sleep: Callable[[float], None], url: str, most: int) -> bytes:
    """The file at an https URL, at most so many bytes. Raises RegistryError and InvalidInput.

    The account of the URL's host goes to that host only. Redirects never lead away from TLS.
    """
    persistence = Persistence(policy, sleep)
    host, place = urlsplit(url).netloc, url
    for _hop in range(_LONGEST_CHAIN):
        parts = urlsplit(place)
        if parts.scheme != "https" or "@" in parts.netloc:
            raise InvalidInput(
                "Cannot read a file of a web server",
                where=parts.netloc.rpartition("@")[2],
                why="its address is one without TLS, or has a password in it",
                todo="name an https address; accounts belong into registry_auth_file",
            )
        headers = _account(policy, place) if parts.netloc == host else {}
        request = HttpRequest("GET", place, f"read {url}", headers)
        sink = LimitedFile(url, most)
        answer = persistence.send(request, registry=host, sink=sink)
        if answer.status not in _REDIRECTS:
            if answer.status != 200:
                raise refusal(request, answer)
            return sink.getvalue()
        place = urljoin(place, answer.headers.get("Location", ""))
    raise InvalidInput(f"Cannot read {url}", why="it redirects without an end")


def _account(policy: RegistryPolicy, url: str) -> dict[str, str]:
    parts = urlsplit(url)
    try:
        found = policy.keyring.find(parse(f"{parts.netloc}/{parts.path.strip('/').lower()}"))
    except InvalidInput:
        return {}
    return {"Authorization": f"Basic {found.basic}"} if found else {}


class LimitedFile(io.BytesIO):
    """What is read, as far as it may be."""

    def __init__(self, source: str, most: int) -> None:
        """source: names it in errors. most: bytes."""
        super().__init__()
        self._source, self._most = source, most

    def write(self, data: Any) -> int:
        """Take more of it. Raises InvalidInput where that is too much."""
        if self.tell() + len(data) > self._most:
            raise InvalidInput(
                f"{self._source} is too large", why=f"the limit is {self._most} bytes"
            )
        return super().write(data)
