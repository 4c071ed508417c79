# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One look at the lock for many writes that are sent at once."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock


class BatchGuard:
    """Looks before the first of some writes, which several threads send, whether the lock is still
    this run's."""

    def __init__(self, before_write: Callable[[], None]) -> None:
        self._before_write = before_write
        self._lock = Lock()
        self._done = False

    def begin(self) -> None:
        """The next write is the first of another batch."""
        self._done = False

    def before_write(self) -> None:
        """Raises LockHeld."""
        with self._lock:
            if not self._done:
                self._before_write()
                self._done = True
