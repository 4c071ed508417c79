# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes to one daemon whose end is known afterwards, also where no answer came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .daemon_client import Daemon
from .dialect import encode, restorable
from .rmd_errors import RmdError, Unanswered
from .workloads import RunningWorkload, Workload


class WorkloadWriter:
    """All methods raise RmdError. Nothing is ever sent again that the daemon may have worked on."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon

    def delete(self, running: RunningWorkload) -> None:
        """Remove a workload; what is not there any more is fine."""
        try:
            self._daemon.delete(running)
        except Unanswered as error:
            if not error.was_sent or any(
                left.id == running.id for left in self._daemon.workloads()
            ):
                raise

    def post(self, workload: Workload) -> RunningWorkload:
        """Make a workload; raises where it is not there afterwards, or RMD says that it is not in
        force."""
        try:
            made = self._daemon.post(encode(workload, self._daemon.learn_dialect()))
        except Unanswered as error:
            found = [
                running for running in self._daemon.workloads() if running.uuid == workload.uuid
            ]
            if not error.was_sent or not found:
                raise
            made = found[0]
        if made.is_enforced:
            return made
        self.delete(made)
        why = (
            f'RMD took it, with status "{made.status}" and group "{made.cos_name}", but set nothing'
        )
        raise RmdError(
            f"Cannot post workload {workload.uuid}",
            kind="not_enforced",
            where=self._daemon.where,
            why=why,
        )

    def restore(self, body: Mapping[str, Any]) -> None:
        """Make a workload from what the daemon once said of it."""
        wanted = restorable(body)
        try:
            self._daemon.post(wanted)
        except Unanswered as error:
            here = {running.uuid for running in self._daemon.workloads()}
            if not error.was_sent or wanted.get("uuid") not in here:
                raise
        except RmdError as error:
            if error.kind != "conflict_id":
                raise
            # Somebody else has the id by now.
            self._daemon.post({key: value for key, value in wanted.items() if key != "id"})
