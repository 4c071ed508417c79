# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One thread that accepts for all servers of this process: a hundred servers do not need a hundred
waiting threads."""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable

Serve = Callable[[socket.socket], None]


class Acceptor:
    """Gives each connection to its server's function, in a thread of its own."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, listening: socket.socket, serve: Serve) -> None:
        """Accept on a listening socket from now on."""
        listening.setblocking(False)
        with self._lock:
            self._selector.register(listening, selectors.EVENT_READ, serve)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="rmd-accept", daemon=True)
                self._thread.start()

    def remove(self, listening: socket.socket) -> None:
        """Accept no more on it, and close it."""
        with self._lock:
            self._selector.unregister(listening)
            listening.close()

    def _run(self) -> None:
        while True:
            # The time-out is for sockets that are added meanwhile, where a selector does not see
            # them at once.
            for key, _events in self._selector.select(1.0):
                with self._lock:
                    connection = _accept(key.fileobj)
                if connection is not None:
                    threading.Thread(
                        target=key.data, args=(connection,), name="rmd-serve", daemon=True
                    ).start()


def _accept(listening: object) -> socket.socket | None:
    assert isinstance(listening, socket.socket)
    try:
        connection, _address = listening.accept()
    except OSError:  # gone again, or the server was removed
        return None
    connection.setblocking(True)
    return connection


ACCEPTOR = Acceptor()
