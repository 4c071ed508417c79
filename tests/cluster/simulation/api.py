# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small client for one API server: kept-alive connections, JSON, lists in pages, watches.

http.client instead of the kubernetes client, since thousands of pods are simulated by one process on a
busy machine.
"""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import yaml

from tests.cluster.errors import ClusterError

from .model import Obj

MERGE = "application/merge-patch+json"


class ApiError(ClusterError):
    """An answer outside 2xx; `status` is its code."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


@dataclass(frozen=True)
class Server:
    """Where the API server is and how to show who we are."""

    host: str
    port: int
    context: ssl.SSLContext | None
    token: str = ""


def load_kubeconfig(path: str | Path) -> Server:
    """The current context's server, with client certificate or token; KeyError when the file lacks
    a part."""
    path = Path(path)
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    contexts = {item["name"]: item["context"] for item in data["contexts"]}
    context = contexts[data["current-context"]]
    cluster = next(
        item["cluster"] for item in data["clusters"] if item["name"] == context["cluster"]
    )
    user = next(item["user"] for item in data["users"] if item["name"] == context["user"])
    url = urlsplit(cluster["server"])
    if url.scheme != "https":
        return Server(url.hostname or "", url.port or 80, None, user.get("token", ""))
    authority = _content(path, cluster, "certificate-authority")
    tls = ssl.create_default_context(cadata=authority.decode() if authority else None)
    if cluster.get("insecure-skip-tls-verify"):
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    certificate, key = (
        _content(path, user, "client-certificate"),
        _content(path, user, "client-key"),
    )
    if certificate and key:
        # ssl reads a certificate chain from files only.
        with tempfile.NamedTemporaryFile(suffix=".pem") as file:
            file.write(certificate + b"\n" + key)
            file.flush()
            tls.load_cert_chain(file.name)
    return Server(url.hostname or "", url.port or 443, tls, user.get("token", ""))


def _content(path: Path, values: Obj, key: str) -> bytes:
    if f"{key}-data" in values:
        return base64.b64decode(values[f"{key}-data"])
    return (path.parent / values[key]).read_bytes() if key in values else b""


class Session:
    """One kept-alive connection; not to be shared by threads."""

    def __init__(self, server: Server, timeout: float = 30) -> None:
        self.server = server
        self.timeout = timeout
        self.connection: http.client.HTTPConnection | None = None

    def request(
        self,
        method: str,
        path: str,
        body: Obj | None = None,
        content_type: str = "application/json",
        *,
        acts_as: str = "",
    ) -> Obj:
        """The answer's JSON. ApiError for other than 2xx; OSError or HTTPException when the server
        cannot be reached. acts_as: the user whose rights count, "" for our own.

        A GET or DELETE on a connection that the server has closed meanwhile is sent once more.
        """
        payload = json.dumps(body).encode() if body is not None else None
        for attempt in (1, 2):
            fresh = self.connection is None
            try:
                response = self._send(method, path, payload, content_type, acts_as)
                data = response.read()
                break
            except (OSError, http.client.HTTPException):
                self.close()
                if fresh or attempt == 2:
                    raise
        if response.status >= 300:
            raise ApiError(response.status, _message(data))
        answer: Obj = json.loads(data)
        return answer

    def list_all(self, path: str, query: dict[str, str] | None = None) -> tuple[list[Obj], str]:
        """(items, resource version) of a list, read in pages."""
        items: list[Obj] = []
        asked = dict(query or {}, limit="500")
        while True:
            page = self.request("GET", f"{path}?{urlencode(asked)}")
            items.extend(page["items"])
            if not page["metadata"].get("continue"):
                return items, str(page["metadata"]["resourceVersion"])
            asked["continue"] = page["metadata"]["continue"]

    def watch(
        self, path: str, query: dict[str, str], version: str, timeout: int = 300
    ) -> Iterator[tuple[str, Obj]]:
        """(type, object) of each change from the version on, bookmarks included; ends when the
        server ends it."""
        asked = dict(
            query,
            watch="1",
            resourceVersion=version,
            allowWatchBookmarks="true",
            timeoutSeconds=str(timeout),
        )
        self.timeout = timeout + 30
        self.close()
        response = self._send("GET", f"{path}?{urlencode(asked)}", None, "")
        if response.status >= 300:
            raise ApiError(response.status, _message(response.read()))
        try:
            for line in response:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise ApiError(
                        int(event["object"].get("code", 500)), event["object"].get("message", "")
                    )
                yield event["type"], event["object"]
        finally:
            self.close()

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def _send(
        self, method: str, path: str, payload: bytes | None, content_type: str, acts_as: str = ""
    ) -> http.client.HTTPResponse:
        if self.connection is None:
            server = self.server
            if server.context is None:
                self.connection = http.client.HTTPConnection(
                    server.host, server.port, timeout=self.timeout
                )
            else:
                self.connection = http.client.HTTPSConnection(
                    server.host, server.port, timeout=self.timeout, context=server.context
                )
        headers = {"Accept": "application/json", "User-Agent": "hardware-enablement-simulation"}
        if payload is not None:
            headers["Content-Type"] = content_type
        if acts_as:
            headers["Impersonate-User"] = acts_as
        if self.server.token:
            headers["Authorization"] = f"Bearer {self.server.token}"
        self.connection.request(method, path, body=payload, headers=headers)
        return self.connection.getresponse()


def _message(data: bytes) -> str:
    try:
        return str(json.loads(data)["message"])
    except (ValueError, KeyError, TypeError):
        return data.decode(errors="replace")[:200]
