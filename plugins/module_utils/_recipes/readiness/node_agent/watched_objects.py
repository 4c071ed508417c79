# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API server as the node agent sees it: it reads, and never writes."""

from __future__ import annotations

import http.client
import json
import os
import random
import ssl
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from .configuration import Obj

AGAIN_S = 5.0
# A watch is made anew after so long, or up to twice as long.
WATCH_S = 300

# Nodes that began together do not ask together for ever.
JITTER = random.SystemRandom()

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class ApiServerError(Exception):
    """The API server's answer is an error. status: of HTTP."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the API server answers with {status}")
        self.status = status


# What may come instead of objects.
NO_ANSWER = (
    ApiServerError,
    OSError,
    http.client.HTTPException,
    ValueError,
    KeyError,
    TypeError,
)


class Api:
    """The API server, as the pod's service account."""

    def __init__(self) -> None:
        self._tls = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))

    def get(
        self, path: str, query: Mapping[str, str] | None = None, timeout: float = 10.0
    ) -> Iterator[Obj]:
        """The answer, line by line: one object, or the events of a watch as they come. Raises
        ApiServerError, OSError, HTTPException or ValueError."""
        host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
        connection = http.client.HTTPSConnection(
            host, int(port), timeout=timeout, context=self._tls
        )
        token = (ACCOUNT / "token").read_text("utf-8")
        address = f"{path}?{urllib.parse.urlencode(query)}" if query else path
        try:
            connection.request("GET", address, headers={"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            if answer.status != 200:
                raise ApiServerError(answer.status)
            for line in answer:
                yield json.loads(line)
        finally:
            connection.close()


class WatchedObjects(threading.Thread):
    """Some objects of a kind, as they are. is_read: whether they can be read."""

    def __init__(
        self, api: Api, path: str, query: Mapping[str, str], changed: Callable[[], None]
    ) -> None:
        super().__init__(daemon=True)
        self._api = api
        self._path = path
        self._query = query
        self._changed = changed
        self.objects: dict[str, Obj] = {}
        self.is_read = False

    def run(self) -> None:
        """List, then watch, and again."""
        while True:
            try:
                # From the API server's memory, as kubelets do: thousands of nodes may ask at once.
                (found,) = self._api.get(self._path, {**self._query, "resourceVersion": "0"})
                self.objects = {item["metadata"]["uid"]: item for item in found["items"]}
                version = str(found["metadata"]["resourceVersion"])
            except NO_ANSWER as error:
                say(f"{self._path} cannot be read: {error or type(error).__name__}")
                self.is_read = False
                self._changed()
                time.sleep(JITTER.uniform(AGAIN_S, 2 * AGAIN_S))
                continue
            self.is_read = True
            self._changed()
            try:
                self._follow(version)
            except NO_ANSWER as error:
                say(f"{self._path} cannot be watched: {error or type(error).__name__}")
                time.sleep(JITTER.uniform(0, AGAIN_S))

    def _follow(self, version: str) -> None:
        seconds = JITTER.randint(WATCH_S, 2 * WATCH_S)
        query = {**self._query, "watch": "true", "resourceVersion": version}
        query["timeoutSeconds"] = str(seconds)
        for event in self._api.get(self._path, query, seconds + 30):
            if event["type"] == "ERROR":
                return
            objects, uid = dict(self.objects), event["object"]["metadata"]["uid"]
            if event["type"] == "DELETED":
                objects.pop(uid, None)
            else:
                objects[uid] = event["object"]
            self.objects = objects
            self._changed()


def say(text: str) -> None:
    """One line of the log."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
