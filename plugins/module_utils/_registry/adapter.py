# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all that is sent with requests shares: connections that trust whom we say, and what led to a
failure."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence
from typing import Any

try:
    from requests.adapters import HTTPAdapter
except ImportError:
    HTTPAdapter = object  # type: ignore[assignment,misc]

_PIECE = 1024 * 1024


class ContextAdapter(HTTPAdapter):
    """Pools of connections that trust whom the context says."""

    def __init__(
        self, context: ssl.SSLContext, *, hosts: int, connections: int, **pool: Any
    ) -> None:
        """hosts, connections: how many hosts, and connections to each, are kept. pool: more of
        urllib3's settings."""
        self._context = context
        self._pool = pool
        super().__init__(pool_connections=hosts, pool_maxsize=connections)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **{**kwargs, **self._pool, "ssl_context": self._context})

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        return super().proxy_manager_for(
            proxy, ssl_context=self._context, proxy_ssl_context=self._context, **kwargs
        )

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:  # noqa: ARG002
        """Leave it to the context; requests would load its own list of authorities with each
        connection."""
        conn.cert_reqs = "CERT_REQUIRED" if verify else "CERT_NONE"


def read_limited(response: Any, largest: int) -> bytes:
    """The body of a streamed response, or a little more than largest bytes of one that is larger."""
    pieces = []
    size = 0
    for piece in response.iter_content(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > largest:
            break
    return b"".join(pieces)


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and all that led to it: requests and urllib3 put them into each other in several
    ways."""
    seen: set[int] = set()
    left = [error]
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


def root_of(causes: Sequence[BaseException]) -> str:
    """The operating system's or TLS's own words, else the kind of the innermost exception."""
    for cause in reversed(causes):
        if isinstance(cause, ssl.SSLError) and cause.reason:
            return cause.reason.lower().replace("_", " ")
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
    return type(causes[-1]).__name__
