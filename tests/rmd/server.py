# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One RMD server: a simulated machine, the daemon on it, and the sockets in front."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.rmd.access import Tls
from tests.rmd.connection import Connection, Seen
from tests.rmd.daemon import Daemon
from tests.rmd.database import Database
from tests.rmd.faults import Dialect, Faults
from tests.rmd.listener import ACCEPTOR
from tests.rmd.machine import Machine, Pools
from tests.rmd.node import Node, Settings
from tests.rmd.policies import Policies
from tests.rmd.resctrl import Resctrl
from tests.rmd.views import Views
from tests.rmd.workload import Workload

DEBUG_PORT, TLS_PORT = 8081, 8443


class RmdServer:
    """Not yet started. tls None: plain HTTP without any check, as RMD's debug port. port 0: one
    that is free.

    machine: by default one that suits mba_mode. resctrl: the tree's folder; database: a JSON file;
    without them both are kept in memory, over restarts, too. policies: tiers by name, or Policies.
    faults: Faults.of(dialect) if None. tasks: process id -> CPUs. log: called with each request as
    soon as its answer is known.
    """

    def __init__(
        self,
        machine: Machine | None = None,
        dialect: Dialect = Dialect.V03,
        *,
        pools: Pools | None = None,
        policies: Policies | Mapping[str, Any] | None = None,
        plugins: tuple[str, ...] = (),
        mba_mode: str = "percentage",
        address: str = "127.0.0.1",
        port: int = 0,
        tls: Tls | None = None,
        faults: Faults | None = None,
        resctrl: Path | None = None,
        database: Path | None = None,
        tasks: Mapping[str, set[int]] | None = None,
        force: bool = False,
        validator_interval: float = 30.0,
        log: Callable[[Seen], None] | None = None,
    ) -> None:
        chosen = machine or Machine(mba_mbps=mba_mode == "mbps")
        known = (
            policies
            if isinstance(policies, Policies)
            else Policies(policies)
            if policies
            else Policies()
        )
        loaded = frozenset(plugins)
        self.settings = Settings(
            dialect, pools or Pools(), known, loaded, mba_mode, force, validator_interval
        )
        self.node = Node(
            chosen,
            Resctrl(chosen, resctrl),
            Database(database),
            faults or Faults.of(dialect),
            dict(tasks or {}),
        )
        self.address, self.port, self.tls = address, port, tls
        self.faults.dice.seed(address)
        self._listening: socket.socket | None = None
        self._connections: set[socket.socket] = set()
        self._log: list[Seen] = []
        self._tell = log
        self._changed = threading.Condition()
        self._tls_context: ssl.SSLContext | None = None
        self.daemon: Daemon | None = None
        self.views: Views | None = None

    @property
    def machine(self) -> Machine:
        """The simulated machine."""
        return self.node.machine

    @property
    def faults(self) -> Faults:
        """The switches, which may be turned at any time."""
        return self.node.faults

    @property
    def url(self) -> str:
        """Without /v1 and without a slash at its end."""
        return f"{'https' if self.tls else 'http'}://{self.address}:{self.port}"

    @property
    def running(self) -> bool:
        """Whether it listens."""
        return self._listening is not None

    def start(self) -> RmdServer:
        """Start the daemon; StartError when it would not start, OSError when the address is taken."""
        if self._listening is not None:
            return self
        self._tls_context = self.tls.context() if self.tls else None
        daemon = Daemon(self.node, self.settings)
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((self.address, self.port))
            listening.listen(128)
        except OSError:
            listening.close()
            raise
        self.port = listening.getsockname()[1]
        self.daemon, self.views = daemon, Views(self.node, self.settings)
        self._listening = listening
        ACCEPTOR.add(listening, self._serve)
        return self

    def stop(self) -> None:
        """End the daemon at once, with all its connections, as kill -9 does. The tree and the
        database stay."""
        with self._changed:
            listening, self._listening = self._listening, None
            connections = list(self._connections)
            self._changed.notify_all()
        if listening is not None:
            ACCEPTOR.remove(listening)
        for connection in connections:
            _shut(connection)

    def restart(self, *, empty_database: bool = False) -> RmdServer:
        """End the daemon and start it again: it applies nothing again, its records stay where their
        groups do."""
        self.stop()
        if empty_database:
            self.node.database.empty()
        return self.start()

    def reboot(self) -> RmdServer:
        """The machine boots: the tree is as new, the database is kept."""
        self.stop()
        self.node.resctrl.reset()
        self.node.tasks.clear()
        return self.start()

    def install(self, dialect: Dialect) -> None:
        """End the daemon and put the other version of it in its place, with that one's faults;
        reboot() starts it."""
        self.stop()
        self.settings = replace(self.settings, dialect=dialect)
        self.node.faults = Faults.of(dialect)

    def requests(self, since: int = 0) -> list[Seen]:
        """The requests so far, or since a mark; answered or not."""
        with self._changed:
            return self._log[since:]

    def mark(self) -> int:
        """Where the log is now, for requests(since)."""
        with self._changed:
            return len(self._log)

    def wait_for(self, seen: Callable[[Seen], bool], timeout: float = 10.0, since: int = 0) -> Seen:
        """The first request that fits, waited for; TimeoutError. A request that hangs is there,
        with status None."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                for entry in self._log[since:]:
                    if seen(entry):
                        return entry
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError(
                        f"{self.url}: no such request within {timeout:g} s, but {self._log[since:]}"
                    )
                self._changed.wait(left)

    def workloads(self) -> list[dict[str, Any]]:
        """What GET /v1/workloads gives."""
        assert self.daemon is not None, "start it first"
        found: list[dict[str, Any]] = json.loads(self.daemon.list().body)
        return found

    def dump(self) -> dict[str, Any]:
        """{"workloads": as GET gives them, "resctrl": groups}: to be compared before and after."""
        return {"workloads": self.workloads(), "resctrl": self.node.resctrl.dump()}

    def seed(self, workload: Workload) -> str:
        """Put a record into the database as it is, say of another origin; its id."""
        self.node.database.create(workload)
        return workload.id

    def die(self) -> None:
        """What Injection(die=True) does."""
        self.stop()

    def held(self, seconds: float) -> bool:
        """Wait, at most until the daemon ends; whether it still runs."""
        with self._changed:
            self._changed.wait_for(lambda: self._listening is None, seconds)
            return self._listening is not None

    def note(self, seen: Seen, status: int | None = None) -> None:
        """Write a request into the log, or its answer's status (0: no answer) onto it."""
        with self._changed:
            if status is None:
                self._log.append(seen)
            else:
                seen.status = status
            self._changed.notify_all()
        if status is not None and self._tell is not None:
            self._tell(seen)

    def _serve(self, raw: socket.socket) -> None:
        with self._changed:
            if self._listening is None:
                raw.close()
                return
            self._connections.add(raw)
        try:
            Connection(self, raw, self._tls_context).run()
        finally:
            with self._changed:
                self._connections.discard(raw)
            _shut(raw)
            raw.close()

    def __enter__(self) -> RmdServer:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        """It is gone already."""
