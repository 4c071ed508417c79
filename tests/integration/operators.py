# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that a recipe brings and that act on the API: simulated pods run nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.cluster.errors import ClusterError

TURN_S = 0.3


class Operator(threading.Thread):
    """Reconciles again and again, as an operator does: what fails is tried again in the next
    turn."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.over = threading.Event()

    def reconcile(self) -> None:
        """Do what is to be done now."""
        raise NotImplementedError

    def run(self) -> None:
        """Reconcile until it is over."""
        while not self.over.wait(TURN_S):
            try:
                self.reconcile()
            except ClusterError as error:
                # A kind that is not served yet, an object that is going; in the output of a test
                # that fails.
                print(f"{type(self).__name__} tries again: {error}")

    @contextmanager
    def running(self) -> Iterator[None]:
        """While the block runs."""
        self.start()
        try:
            yield
        finally:
            self.over.set()
            self.join()
