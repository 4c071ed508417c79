# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a killed run has deleted on a node and not replaced: put back before anything else is
done."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ..rmd_errors import RmdError
from ..workloads import RunningWorkload
from .node_lease import NodeLease
from .node_results import NodeJob, WorkloadWrite
from .node_writer import NodeWriter


class Recovery:
    """bodies: what is still to come back. restored: what this run has put back."""

    def __init__(
        self, writer: NodeWriter, lease: NodeLease, bodies: Iterable[Mapping[str, Any]]
    ) -> None:
        """bodies: as far as they are known before the node is held."""
        self.bodies = list(bodies)
        self.restored: list[WorkloadWrite] = []
        self._writer = writer
        self._lease = lease

    def keep(self, more: Iterable[Mapping[str, Any]]) -> None:
        """Save what is still to come back, and more of it. Raises EnablementError."""
        self._lease.save([*self.bodies, *more])

    def put_back(self, job: NodeJob) -> list[str]:
        """Put back what is not meant to be gone; a warning for each that is not back. Raises
        EnablementError."""
        self.bodies = list(self._lease.saved())
        here = {running.uuid for running in self._writer.workloads()} if self.bodies else set()
        wanted = {workload.uuid for workload in job.present}
        kept, problems = [], []
        for uuid, body in _missing(self.bodies, here, job.absent):
            try:
                self._writer.restore(body)
                self.restored.append(WorkloadWrite(uuid, "restore"))
            except RmdError as error:
                problems.append(
                    f"workload {uuid}, which a killed run has deleted, is not back: {error.why}"
                )
                # What is wanted now takes its place.
                if uuid not in wanted:
                    kept.append(body)
        self.bodies = kept
        return problems

    def predicted(self, running: Sequence[RunningWorkload], job: NodeJob) -> list[WorkloadWrite]:
        """What put_back would put back."""
        here = {found.uuid for found in running}
        gone = {uuid for uuid, _body in _missing(self.bodies, here, job.absent)}
        return [WorkloadWrite(uuid, "restore") for uuid in sorted(gone)]


def _missing(
    bodies: Iterable[Mapping[str, Any]], here: Collection[str], absent: Collection[str]
) -> list[tuple[str, Mapping[str, Any]]]:
    named = [(str(body.get("uuid") or ""), body) for body in bodies]
    return [(uuid, body) for uuid, body in named if uuid not in here and uuid not in absent]
