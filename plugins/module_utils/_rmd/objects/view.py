# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One node while the objects are made true: what was seen, what is wanted, what became of it. Pure.

What outlives a run is in the node's RmdNodeState: the uuids that were put there for objects,
written before the first POST, and which boot of the node that was in."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Optional

from ..._cluster.api_objects.labels import DOMAIN
from ..._json import Obj, parse_json, part
from ..nodes.actions import Action, posted_by, removed_by
from ..nodes.node_machine import Dialect
from ..nodes.node_results import WITHHELD, NodeReport, WorkloadWrite
from ..nodes.node_snapshot import NodeSnapshot
from ..rmd_errors import Refusal
from ..workloads import RunningWorkload
from .placement import WantedWorkloads

OWNED_ANNOTATION = f"{DOMAIN}/rmd-owned"


@dataclass
class View:
    """A node. report: what a run has seen and done there; None where it has no daemon. refused: by
    uuid, why workloads are not sent.

    boot: which boot of the node this is.
    """

    node: str
    state: Optional[Obj] = None
    boot: str = ""
    report: Optional[NodeReport] = None
    wanted: Optional[WantedWorkloads] = None
    refused: Mapping[str, Refusal] = field(default_factory=dict)

    @property
    def snapshot(self) -> Optional[NodeSnapshot]:
        """The last one; None where it cannot be looked at."""
        return self.report.seen.after if self.report is not None else None

    @property
    def is_without_rmd(self) -> bool:
        """Whether its agent divides its cache."""
        return self.report is not None and self.report.dialect is Dialect.RESCTRL

    @property
    def is_declared_in_vain(self) -> bool:
        """Whether RMD has taken the node over, and what its agent was to enforce is declared
        still."""
        there = part(self.state or {}, "spec").get("workloads")
        return bool(there) and self.snapshot is not None and not self.is_without_rmd

    @property
    def why(self) -> str:
        """Why it cannot be looked at, or what else went wrong."""
        if self.report is None:
            return f"there is no daemon of RMD on node {self.node}; deploy RMD there, or leave the node out"
        return str(self.report.fate.error or "").rstrip(".")

    @property
    def actions(self) -> tuple[Action, ...]:
        """Those that are sent."""
        return self.report.actions if self.report is not None else ()

    @property
    def writes(self) -> list[WorkloadWrite]:
        """What was done, or would be."""
        return self.report.writes if self.report is not None else []

    @property
    def has_booted(self) -> bool:
        """Whether the node has booted since anything was seen in force there."""
        before = part(self.state or {}, "status").get("bootID")
        return bool(before and self.boot and before != self.boot)

    @property
    def owned(self) -> frozenset[str]:
        """The uuids that runs have put there for objects."""
        annotations = part(self.state or {}, "metadata", "annotations")
        with contextlib.suppress(ValueError, TypeError):
            found = parse_json(annotations.get(OWNED_ANNOTATION) or "[]")
            return frozenset(str(uuid) for uuid in found)
        return frozenset()

    @property
    def ours(self) -> frozenset[str]:
        """The uuids that run there for objects now; those of before where nobody can tell."""
        if self.snapshot is None or self.wanted is None:
            return self.owned
        wanted = {workload.uuid for workload in self.wanted.present}
        known = self.owned | wanted | set(self.wanted.objects)
        return frozenset({found.uuid for found in self.snapshot.running} & known)

    @property
    def added(self) -> frozenset[str]:
        """The uuids that are posted."""
        return frozenset(workload.uuid for workload in posted_by(self.actions))

    @property
    def expected(self) -> Optional[tuple[RunningWorkload, ...]]:
        """What will run when the actions are done, as far as that can be told before."""
        if self.snapshot is None:
            return None
        removed = {old.id for old in removed_by(self.actions)}
        kept = [found for found in self.snapshot.running if found.id not in removed]
        added = posted_by(self.actions)
        return (*kept, *(RunningWorkload.expected(workload) for workload in added))

    def problem_of(self, uuid: str) -> str:
        """Why a workload is not as asked for after the run, "" where the run knows of nothing."""
        if self.report is not None and self.report.fate.outcome == WITHHELD:
            return "nothing was sent, since another node failed"
        said = (write.problem for write in self.writes if write.uuid == uuid)
        return next(filter(None, said), self.why)

    def is_changed(self, uuid: str) -> bool:
        """Whether this run has made the workload."""
        return any(
            write.uuid == uuid and write.action in ("post", "replace") for write in self.writes
        )


def owned_text(uuids: Collection[str]) -> str | None:
    """The annotation's value; None for no annotation."""
    return json.dumps(sorted(uuids), separators=(",", ":")) if uuids else None
