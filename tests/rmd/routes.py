# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which part answers a request: the paths, methods and content types of go-restful's router (facts
4)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.rmd.answers import Answer, text
from tests.rmd.daemon import Daemon
from tests.rmd.views import Views

JSON = "application/json"
_ROUTER = {
    404: "404: Page Not Found",
    405: "405: Method Not Allowed",
    406: "406: Not Acceptable",
    415: "415: Unsupported Media Type",
}
_LEVEL = re.compile(r"l([23]|lc)")
_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS", "DELETE", "TRACE")


@dataclass(frozen=True)
class Request:
    """headers: names in lower case."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def parts(self) -> list[str]:
        """The path's parts."""
        return [part for part in urlsplit(self.path).path.split("/") if part]


def answer(request: Request, daemon: Daemon, views: Views) -> Answer:
    """The daemon's answer; CrashError when its handler crashes."""
    daemon.tick()
    parts = request.parts
    if len(parts) < 2 or parts[0] != "v1":
        return _refuse(404)
    methods = _methods(parts[1:], daemon)
    if not methods:
        return _refuse(404)
    if request.method not in methods:
        return _refuse(405)
    if wrong := _types(request):
        return _refuse(wrong)
    if parts[1] == "workloads":
        return _workloads(request, parts[2:], daemon)
    with daemon.locked():
        return _shown(request, parts[1:], views)


def _methods(parts: list[str], daemon: Daemon) -> tuple[str, ...]:
    """The methods of a path, none for a path that does not exist."""
    match parts:
        case ["workloads"]:
            return ("GET", "POST")
        case ["workloads", _key]:
            return ("GET", "PATCH", "DELETE")
        case ["hospitality"]:
            return ("POST",)
        case ["cache"] | ["policy"] | ["mba"]:
            return ("GET",)
        case ["cache", level] | ["cache", level, _] if _LEVEL.fullmatch(level):
            return ("GET",)
        case [plugin] if plugin in daemon.settings.plugins:
            return ("GET",)
    return ()


def _types(request: Request) -> int:
    """The status for a content type or an Accept header that is not served, 0 for none."""
    kind = request.headers.get("content-type", "").split(";")[0].strip()
    if (kind or request.method not in _WITHOUT_BODY) and kind not in (JSON, "*/*"):
        return 415
    accepted = [
        item.split(";")[0].strip() for item in request.headers.get("accept", "*/*").split(",")
    ]
    return 0 if {JSON, "*/*", ""} & set(accepted) else 406


def _workloads(request: Request, rest: list[str], daemon: Daemon) -> Answer:
    if not rest:
        return daemon.post(request.body) if request.method == "POST" else daemon.list()
    if request.method == "PATCH":
        return daemon.patch(rest[0], request.body)
    return daemon.delete(rest[0]) if request.method == "DELETE" else daemon.show(rest[0])


def _shown(request: Request, parts: list[str], views: Views) -> Answer:
    match parts:
        case ["cache"]:
            return views.summary()
        case ["cache", level]:
            return views.level(level)
        case ["cache", level, key]:
            return views.cache(level, key)
        case ["policy"]:
            return views.policy()
        case ["mba"]:
            return views.mba()
        case ["hospitality"]:
            return views.hospitality(request.body)
    return views.plugin(parts[0])


def _refuse(status: int) -> Answer:
    return text(status, _ROUTER[status], sniffed=True)
