# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulation's threads: two or three that watch, some that simulate nodes, and a queue of nodes
between them."""

from __future__ import annotations

import heapq
import http.client
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial

from .api import ApiError, Server, Session
from .effects import MANAGED_BY
from .model import Obj
from .operands import Operands
from .programs import Programs
from .published import Published
from .simulator import FEATURES, Simulator
from .store import Store

LOG = logging.getLogger(__name__)
CANNOT_REACH = (OSError, http.client.HTTPException)


class Simulation:
    """Simulates the pods of the simulated nodes of one cluster until `stop` is set.

    With `label_nodes` it also makes node labels of NodeFeature objects, where there is no NFD
    master.
    """

    def __init__(
        self,
        server: Server,
        operands: Operands,
        port: int,
        workers: int,
        programs: Programs,
        *,
        label_nodes: bool,
    ) -> None:
        self.server = server
        self.lock = threading.Condition()
        self.store = Store(operands)
        self.simulator = Simulator(self.store, self.lock, port, time.monotonic, programs)
        self.stop = threading.Event()
        self.workers = workers
        self.label_nodes = label_nodes
        self.unread = {
            "/api/v1/nodes",
            "/api/v1/pods",
        }  # lists that are still to come: nothing is judged before
        self.queue: deque[str] = deque()
        self.queued: set[str] = set()
        self.busy: set[str] = set()
        self.again: set[str] = set()  # changed while a worker was at it
        self.timers: list[tuple[float, str]] = []
        self.due: dict[str, float] = {}

    def start(self) -> None:
        """Learn what an earlier daemon left, then start the threads."""
        self._adopt(self.simulator.features)
        self._adopt(self.simulator.slices)
        store = self.store
        nodes = partial(self._follow, "/api/v1/nodes", {}, store.replace_nodes, self._node_event)
        bound = {"fieldSelector": "spec.nodeName!="}
        pods = partial(self._follow, "/api/v1/pods", bound, store.replace_pods, self._pod_event)
        threads: dict[str, Callable[[], None]] = {"nodes": nodes, "pods": pods}
        if self.label_nodes:
            self.unread.add(FEATURES)
            threads["features"] = partial(
                self._follow, FEATURES, {}, store.replace_features, self._feature_event
            )
        threads.update({f"simulator-{number}": self._work for number in range(self.workers)})
        for name, target in threads.items():
            threading.Thread(target=target, name=name, daemon=True).start()

    def _adopt(self, published: Published) -> None:
        """What an earlier daemon has published: known, so that it is taken away where its pod is gone."""
        selector = {
            "labelSelector": ",".join(f"{key}={value}" for key, value in MANAGED_BY.items())
        }
        try:
            items, _version = Session(self.server).list_all(published.path, selector)
        except (ApiError, *CANNOT_REACH) as error:
            LOG.info("nothing at %s yet: %s", published.path, error)
            return
        for item in items:
            owner = item["metadata"]["ownerReferences"][0]["name"]
            published.adopt(owner, item["metadata"]["name"])

    def _follow(
        self,
        path: str,
        query: dict[str, str],
        on_list: Callable[[list[Obj]], Iterable[str]],
        on_event: Callable[[str, Obj], str | None],
    ) -> None:
        """List, then watch, for ever. After an error the list is read anew."""
        session, failed = Session(self.server), False
        while not self.stop.is_set():
            try:
                items, version = session.list_all(path, query)
                with self.lock:
                    for name in on_list(items):
                        self._enqueue(name)
                    self.unread.discard(path)
                    self.lock.notify_all()
                while not self.stop.is_set():
                    for kind, obj in session.watch(path, query, version):
                        failed = False
                        version = obj["metadata"]["resourceVersion"]
                        if kind != "BOOKMARK":
                            with self.lock:
                                changed = on_event(kind, obj)
                                if changed:
                                    self._enqueue(changed)
            except (ApiError, ValueError, *CANNOT_REACH) as error:
                session.close()
                if not failed:
                    LOG.warning("watch of %s: %s", path, error)
                failed = True
                self.stop.wait(1)

    def _node_event(self, kind: str, obj: Obj) -> str | None:
        if kind == "DELETED":
            return self.store.remove_node(obj["metadata"]["name"])
        return self.store.put_node(obj)

    def _pod_event(self, kind: str, obj: Obj) -> str | None:
        if kind == "DELETED":
            return self.store.remove_pod(obj["metadata"]["uid"], obj["spec"]["nodeName"])
        return self.store.put_pod(obj)

    def _feature_event(self, kind: str, obj: Obj) -> str:
        return self.store.remove_feature(obj) if kind == "DELETED" else self.store.put_feature(obj)

    def _enqueue(self, name: str) -> None:
        if name in self.busy:
            self.again.add(name)
        elif name not in self.queued and (name in self.store.nodes or name in self.store.removed):
            self.queued.add(name)
            self.queue.append(name)
            self.lock.notify()

    def _work(self) -> None:
        session = Session(self.server)
        while not self.stop.is_set():
            name = self._next()
            try:
                due = self.simulator.simulate(name, session)
            except CANNOT_REACH as error:
                LOG.info("node %s: %s", name, error)
                due = time.monotonic() + 2
            except Exception:
                LOG.exception("node %s cannot be simulated", name)
                due = time.monotonic() + 5
            with self.lock:
                self.busy.discard(name)
                if name in self.again:
                    self.again.discard(name)
                    self._enqueue(name)
                elif due is not None:
                    self._alarm(name, due)

    def _alarm(self, name: str, due: float) -> None:
        """Look at the node at that time; an earlier alarm is kept, a later one is left to find
        nothing to do."""
        if due < self.due.get(name, float("inf")):
            self.due[name] = due
            heapq.heappush(self.timers, (due, name))
            self.lock.notify()

    def _next(self) -> str:
        """The next node to simulate; waits for one."""
        with self.lock:
            while True:
                now = time.monotonic()
                while self.timers and self.timers[0][0] <= now:
                    due, name = heapq.heappop(self.timers)
                    if self.due.get(name) == due:
                        del self.due[name]
                        self._enqueue(name)
                if self.queue and not self.unread:
                    name = self.queue.popleft()
                    self.queued.discard(name)
                    self.busy.add(name)
                    return name
                self.lock.wait(self.timers[0][0] - now if self.timers else None)
