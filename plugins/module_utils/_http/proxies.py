# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which proxy a request goes through: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, read as Go's programs
do. Pure.

The container runtimes of the nodes are such programs (golang.org/x/net/http/httpproxy), and one
setting should mean the same to all. One thing differs: hosts of the loopback interface are no
exceptions by themselves.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Proxies:
    """http, https: URLs of proxies, which may hold a password. exceptions: NO_PROXY's list. None:
    the environment's."""

    http: str | None = None
    https: str | None = None
    exceptions: str | None = None

    def __repr__(self) -> str:
        return "Proxies(...)"

    def completed(self, environment: Mapping[str, str]) -> Proxies:
        """With the environment's values where none is given; lower-case names win, as with curl."""

        def value(given: str | None, name: str) -> str:
            return (
                given
                if given is not None
                else environment.get(name) or environment.get(name.upper()) or ""
            )

        return Proxies(
            value(self.http, "http_proxy"),
            value(self.https, "https_proxy"),
            value(self.exceptions, "no_proxy"),
        )

    def for_url(self, url: str) -> str:
        """URL of the proxy for a request, "" for none."""
        parts = urlsplit(url)
        proxy = (self.https if parts.scheme == "https" else self.http) or ""
        if not proxy or _excepted(
            parts.hostname or "", parts.port or _PORTS[parts.scheme], self.exceptions or ""
        ):
            return ""
        return proxy if "://" in proxy else f"http://{proxy}"


def _excepted(host: str, port: int, exceptions: str) -> bool:
    entries = [entry.strip().lower() for entry in exceptions.split(",")]
    return any(_matches(host.lower(), port, entry) for entry in entries if entry)


def _matches(host: str, port: int, entry: str) -> bool:
    """An entry is *, an address, a range of addresses, or a domain: with a dot in front only what
    is below it."""
    if entry == "*":
        return True
    address = _address(host)
    if "/" in entry:
        try:
            return address is not None and address in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
    name, colon, number = entry.rpartition(":")
    if colon and number.isdigit() and _address(entry) is None:
        if int(number) != port:
            return False
        entry = name
    if address is not None:
        return address == _address(entry)
    entry = entry.removeprefix("*")
    return (
        host.endswith(entry)
        if entry.startswith(".")
        else host == entry or host.endswith(f".{entry}")
    )


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None
