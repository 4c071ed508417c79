# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes and validation pods behind the scripted API server: lists, watches, patches, and what it
refuses."""

from __future__ import annotations

import json
import queue
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
)

Obj = dict[str, Any]
Answer = tuple[int, dict[str, str], Any]

KINDS = {"nodes": "Node", "pods": "Pod", "daemonsets": "DaemonSet"}


def refusal(code: int, reason: str, message: str = "no, says a webhook") -> Answer:
    """An answer of the API server that says no."""
    body = {
        "kind": "Status",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
    }
    return code, {}, body


class _Stream(list[Any]):
    """The events of a watch as they come; it never ends by itself."""

    def __init__(self, events: queue.SimpleQueue[Obj]) -> None:
        super().__init__()
        self._events = events

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield self._events.get()


class ScriptedCluster:
    """objects: by plural and name. refuse: gets each request, returns an answer instead of the
    usual one, or None.

    patched: (node, patch) as they came. on_watch: called when the watch of nodes has begun.
    start_pod: gets each pod that is created.
    """

    def __init__(self, fake: FakeServer, *nodes: Obj) -> None:
        self.objects: dict[str, dict[str, Obj]] = {"nodes": {}, "pods": {}, "daemonsets": {}}
        self.refuse: Callable[[Asked], Answer | None] = lambda _asked: None
        self.patched: list[tuple[str, Obj]] = []
        self.deleted: list[str] = []
        self.on_watch: Callable[[], None] = lambda: None
        self.start_pod: Callable[[Obj], None] = lambda pod: self.put("pods", pod)
        self._watches: dict[str, list[queue.SimpleQueue[Obj]]] = defaultdict(list)
        self._version = 1
        for node in nodes:
            self.put("nodes", node)
        fake.answer = self._answer

    def put(self, plural: str, obj: Obj) -> None:
        """Make or change an object."""
        name = obj["metadata"]["name"]
        kind = "MODIFIED" if name in self.objects[plural] else "ADDED"
        self.objects[plural][name] = obj
        self._tell(plural, kind, obj)

    def remove(self, plural: str, name: str) -> None:
        """Take an object away."""
        self._tell(plural, "DELETED", self.objects[plural].pop(name))

    def labels(self, node: str) -> dict[str, str]:
        """The labels of ours that a node carries, without the domain."""
        found = self.objects["nodes"][node]["metadata"]["labels"]
        return {
            name.partition("/")[2]: value
            for name, value in found.items()
            if name.startswith("hardware-en")
        }

    def _tell(self, plural: str, kind: str, obj: Obj) -> None:
        self._version += 1
        obj["metadata"]["resourceVersion"] = str(self._version)
        for events in self._watches[plural]:
            events.put({"type": kind, "object": json.loads(json.dumps(obj))})

    def _answer(self, asked: Asked) -> Answer:
        refused = self.refuse(asked)
        if refused:
            return refused
        url = urlsplit(asked.path)
        parts = url.path.strip("/").split("/")
        plural = next((part for part in reversed(parts) if part in KINDS), "")
        if not plural:
            return refusal(404, "NotFound", "not here")
        name = parts[-1] if parts[-1] != plural else ""
        if asked.method == "GET" and "watch" in parse_qs(url.query):
            return 200, {}, self._watch(plural)
        verbs = {"GET": self._get, "PATCH": self._patch, "POST": self._post, "DELETE": self._delete}
        return verbs[asked.method](plural, name, asked)

    def _watch(self, plural: str) -> _Stream:
        events: queue.SimpleQueue[Obj] = queue.SimpleQueue()
        self._watches[plural].append(events)
        if plural == "nodes":
            self.on_watch()
        return _Stream(events)

    def _get(self, plural: str, name: str, _asked: Asked) -> Answer:
        if not name:
            found = list(self.objects[plural].values())
            return (
                200,
                {},
                {
                    "kind": "List",
                    "metadata": {"resourceVersion": str(self._version)},
                    "items": found,
                },
            )
        one = self.objects[plural].get(name)
        return (200, {}, one) if one else refusal(404, "NotFound", "it is gone")

    def _patch(self, plural: str, name: str, asked: Asked) -> Answer:
        body = json.loads(asked.body)
        self.patched.append((name, body))
        node = self.objects[plural].get(name)
        if node is None:
            return refusal(404, "NotFound", f'nodes "{name}" not found')
        for part, entries in body["metadata"].items():
            carried = node["metadata"][part]
            carried.update(entries)
            for key in [key for key, value in entries.items() if value is None]:
                del carried[key]
        self._tell(plural, "MODIFIED", node)
        return 200, {}, node

    def _post(self, _plural: str, _name: str, asked: Asked) -> Answer:
        pod = json.loads(asked.body)
        pod["metadata"]["uid"] = f"uid-{pod['metadata']['name']}"
        self.start_pod(pod)
        return 201, {}, pod

    def _delete(self, plural: str, name: str, _asked: Asked) -> Answer:
        self.deleted.append(name or f"all {plural}")
        if name in self.objects[plural]:
            self.remove(plural, name)
        return 200, {}, {"kind": "Status", "status": "Success"}
