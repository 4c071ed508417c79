# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What this agent is told by the API server: objects of one kind, listed, then watched.

Standard library only: http.client, the service account's token, read anew for each request since it
is replaced while a pod runs, and its CA."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

Obj = Mapping[str, Any]
# How long one watch lasts, and one silent connection; how soon it is tried again.
_WATCH_S = 240
_SILENT_S = 20.0
_PAUSES_S = (0.2, 1.0, 5.0)


class ApiServer:
    """Where the API server is, and who we are. url: https://HOST:PORT. credentials: the folder of
    token and ca.crt."""

    def __init__(self, url: str, credentials: Path) -> None:
        self._url = urllib.parse.urlsplit(url)
        self._credentials = credentials

    def get(self, path: str, query: Mapping[str, str]) -> Obj:
        """The JSON of an answer. Raises OSError, http.client.HTTPException, ValueError."""
        connection, answer = self._request(path, query, _SILENT_S)
        try:
            found = json.loads(answer.read())
        finally:
            connection.close()
        if not isinstance(found, dict):
            raise ValueError("an answer that is no object")
        return found

    def stream(self, path: str, query: Mapping[str, str]) -> Iterator[Obj]:
        """The events of a watch, until it ends. Raises as get does."""
        connection, answer = self._request(path, query, _WATCH_S + _SILENT_S)
        try:
            for text in answer:
                yield json.loads(text)
        finally:
            connection.close()

    def _request(
        self, path: str, query: Mapping[str, str], timeout: float
    ) -> tuple[http.client.HTTPSConnection, http.client.HTTPResponse]:
        token = (self._credentials / "token").read_text(encoding="utf-8").strip()
        trust = ssl.create_default_context(cafile=str(self._credentials / "ca.crt"))
        connection = http.client.HTTPSConnection(
            self._url.hostname or "", self._url.port, timeout=timeout, context=trust
        )
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        try:
            connection.request("GET", f"{path}?{urllib.parse.urlencode(query)}", headers=headers)
            answer = connection.getresponse()
            if answer.status != 200:
                raise OSError(f"{answer.status} {answer.reason} for {path}")
        except BaseException:
            connection.close()
            raise
        return connection, answer


class Watch:
    """The objects of one kind and field selector, kept up to date by a thread of its own."""

    def __init__(
        self, server: ApiServer, path: str, selector: str, changed: Callable[[], None]
    ) -> None:
        """changed is called after each change."""
        self._server = server
        self._path = path
        self._selector = {"fieldSelector": selector}
        self._changed = changed
        self._lock = threading.Lock()
        self._objects: dict[str, Obj] | None = None
        self._problem = "the API server has not answered yet"
        self._stopped = threading.Event()

    @property
    def objects(self) -> list[Obj] | None:
        """As last heard of; None where nothing was heard yet."""
        with self._lock:
            return None if self._objects is None else list(self._objects.values())

    @property
    def problem(self) -> str:
        """Why what is known may be old; "" for nothing."""
        with self._lock:
            return self._problem

    def start(self) -> None:
        """Listen from now on."""
        threading.Thread(target=self._run, daemon=True).start()

    def stop(self) -> None:
        """Listen no more."""
        self._stopped.set()

    def _run(self) -> None:
        failures = 0
        while not self._stopped.is_set():
            try:
                self._follow(self._list())
                failures = 0
            except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
                with self._lock:
                    before, self._problem = self._problem, f"the API server: {error}"
                if before != self._problem:
                    self._changed()
                self._stopped.wait(_PAUSES_S[min(failures, len(_PAUSES_S) - 1)])
                failures += 1

    def _list(self) -> str:
        found = self._server.get(self._path, self._selector)
        objects = {str(obj["metadata"]["uid"]): obj for obj in found.get("items") or []}
        with self._lock:
            self._objects, self._problem = objects, ""
        self._changed()
        return str(found["metadata"]["resourceVersion"])

    def _follow(self, version: str) -> None:
        query = {
            **self._selector,
            "watch": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(_WATCH_S),
        }
        for event in self._server.stream(self._path, query):
            if self._stopped.is_set() or event["type"] == "ERROR":
                return
            obj = event["object"]
            with self._lock:
                objects = self._objects = dict(self._objects or {})
                if event["type"] == "DELETED":
                    objects.pop(str(obj["metadata"]["uid"]), None)
                else:
                    objects[str(obj["metadata"]["uid"])] = obj
            self._changed()
