# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All objects of this server, their changes in order, and the file that both survive in."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.builds_api.kinds import Obj, Resource
from tests.cluster.builds_api.refusals import gone

_REMEMBERED = 1000
_SILENCE_S = 30.0
ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"
Key = tuple[str, str, str, str]  # group, plural, namespace, name


@dataclass(frozen=True)
class Change:
    """One change. old: the object before it, None for a new one; new: after it, or as it was when
    it went."""

    version: int
    type: str
    key: Key
    old: Obj | None
    new: Obj


class Store:
    """Objects by resource, namespace and name.

    Objects in it are never changed: who wants another one makes a copy and puts it. `lock` is held
    around everything that reads in order to write; it is also notified of every change.
    """

    def __init__(self, file: Path) -> None:
        """Read the file, if there is one."""
        self.lock = threading.Condition(threading.RLock())
        self._file = file
        self._objects: dict[Key, Obj] = {}
        # Larger than any version of an earlier life in which the file was lost.
        self._version = int(time.time())
        if file.exists():
            found = json.loads(file.read_text())
            self._version = found["version"]
            self._objects = {tuple(key): obj for key, obj in found["objects"]}
        self._oldest = self._version
        self._changes: deque[Change] = deque(maxlen=_REMEMBERED)

    @property
    def version(self) -> int:
        """The version of the newest change."""
        return self._version

    def get(self, resource: Resource, namespace: str, name: str) -> Obj | None:
        """An object, or None."""
        return self._objects.get((resource.group, resource.plural, namespace, name))

    def list(self, resource: Resource, namespace: str = "") -> list[Obj]:
        """All objects of a resource, or those of one namespace, in order of their keys."""
        with self.lock:
            items = sorted(self._objects.items())
        wanted = (resource.group, resource.plural)
        return [obj for key, obj in items if key[:2] == wanted and namespace in ("", key[2])]

    def put(self, resource: Resource, obj: Obj) -> Obj:
        """Store a new object or a new state of one; returns it with its version."""
        meta = obj["metadata"]
        key = (resource.group, resource.plural, meta.get("namespace", ""), meta["name"])
        with self.lock:
            old = self._objects.get(key)
            return self._change(MODIFIED if old else ADDED, key, old, obj)

    def remove(self, resource: Resource, obj: Obj) -> Obj:
        """Take an object out; returns it as watches tell it."""
        meta = obj["metadata"]
        key = (resource.group, resource.plural, meta.get("namespace", ""), meta["name"])
        with self.lock:
            return self._change(DELETED, key, self._objects[key], obj)

    def changes(self, resource: Resource, since: int, until: float) -> Iterator[Change | None]:
        """Changes of a resource after a version, as they come, up to a moment of time.monotonic().

        None after a while of silence. Raises RefusalError (410) when so old changes are not
        remembered.
        """
        wanted = (resource.group, resource.plural)
        while True:
            with self.lock:
                if since < self._oldest:
                    raise gone(since, self._oldest)
                if since == self._version:
                    left = until - time.monotonic()
                    if left <= 0:
                        return
                    self.lock.wait(min(left, _SILENCE_S))
                fresh = [change for change in self._changes if change.version > since]
                since = self._version
            if not fresh:
                yield None
            yield from (change for change in fresh if change.key[:2] == wanted)

    def _change(self, kind: str, key: Key, old: Obj | None, new: Obj) -> Obj:
        self._version += 1
        stored = {**new, "metadata": {**new["metadata"], "resourceVersion": str(self._version)}}
        if kind == DELETED:
            del self._objects[key]
        else:
            self._objects[key] = stored
        if len(self._changes) == _REMEMBERED:
            self._oldest = self._changes[0].version
        self._changes.append(Change(self._version, kind, key, old, stored))
        self._save()
        self.lock.notify_all()
        return stored

    def _save(self) -> None:
        partial = self._file.with_suffix(".tmp")
        partial.write_text(
            json.dumps({"version": self._version, "objects": list(self._objects.items())})
        )
        partial.rename(self._file)
