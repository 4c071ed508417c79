# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock of a run that applies states: with it the record is written, before anything is made that
it has to find again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from .._runs.guard import Guard

Plan = TypeVar("Plan")


class RecordLock(Generic[Plan]):
    """Not taken yet, or taken. plan_and_record: what is done once, when it is taken: plan anew, since
    the cluster may have changed before, and write that down."""

    def __init__(self, guard: Guard, plan_and_record: Callable[[], Plan]) -> None:
        self._guard = guard
        self._plan_and_record = plan_and_record
        self._taken = False

    def take(self) -> Plan | None:
        """Take it, and plan anew; None where this run has it already: whether it still has is looked
        at before each batch of writes."""
        if self._taken:
            return None
        self._guard.before_write()
        self._taken = True
        return self._plan_and_record()

    def before_write(self) -> None:
        """Take it, or look whether it is still this run's."""
        if self._taken:
            self._guard.before_write()
        else:
            self.take()
