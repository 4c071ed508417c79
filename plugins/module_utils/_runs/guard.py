# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The run's lock as cores use it: taken before the first write, kept while waiting, never taken by
a mere look."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .._cluster.api_client.client import Client
from .._cluster.lease import RunLock, read
from .._errors import EnablementError
from .context import RunContext


class Guard:
    """before_write takes the lock or checks it; keep renews it where it was taken. In check mode
    both do nothing."""

    def __init__(self, client: Client, recipe: str, context: RunContext) -> None:
        self._lock = RunLock(client, recipe, context.run_id, info=context.run_info)
        self._dry = context.check_mode
        self._held = False

    def before_write(self, wait_s: float = 0.0) -> None:
        """Take the lock, waiting so long for another run, or check that it is still this run's;
        raises LockHeld."""
        if self._dry:
            return
        if self._held:
            self._lock.check()
        else:
            self._lock.acquire(wait_s)
            self._held = True

    def keep(self) -> None:
        """Renew the lock in time, if it is held."""
        if self._held:
            self._lock.keep()


@contextmanager
def given_back(client: Client, recipe: str, context: RunContext) -> Iterator[None]:
    """Around a task that may be all of a run: what lock it takes it gives back, also after an
    error.

    A lock that the run had before stays, since other tasks follow.
    """
    if context.check_mode:
        yield
        return
    before = read(client, recipe)
    try:
        yield
    finally:
        if before is None or before.holder != context.run_id:
            # Where the API server is gone, so is the reason to say more than that; the lock ends by
            # itself.
            with suppress(EnablementError):
                RunLock(client, recipe, context.run_id).release()
