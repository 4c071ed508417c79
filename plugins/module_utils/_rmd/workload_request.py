# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What rmd_workload is asked for, and what that means for each node. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Optional

from .._cluster.api_client.connection_request import ConnectionRequest
from .._errors import InvalidInput
from .._nodes.cpuset import parse_cores
from .._schema.requests import ParameterGroup
from .daemon.daemons_request import DaemonsRequest, NodeChoice
from .nodes.node_machine import Dialect
from .nodes.node_results import NodeJob, WriteRequest
from .nodes.rules import senseless
from .workloads import Cache, Mba, Pstate, Workload


@dataclass(frozen=True)
class WorkloadOptions(ParameterGroup):
    """What is said of a workload beside its uuid."""

    core_ids: Optional[Sequence[str]] = None
    policy: Optional[str] = None
    cache: Optional[Cache] = None
    mba: Optional[Mba] = None
    pstate: Optional[Pstate] = None


@dataclass(frozen=True)
class WorkloadItem:
    """A workload as it is given, alone or in a list."""

    uuid: str
    options: WorkloadOptions

    def to_workload(self) -> Workload:
        """What is wanted. Raises InvalidInput for core ids that are none."""
        options = self.options
        return Workload(
            self.uuid,
            parse_cores(options.core_ids or []),
            policy=options.policy or "",
            cache=options.cache,
            mba=options.mba,
            pstate=options.pstate,
        )


@dataclass(frozen=True)
class WorkloadsRequest(ParameterGroup):
    """Whether workloads should run, and which: one, by uuid and options, or a list of them."""

    state: Literal["present", "absent"]
    uuid: Optional[str]
    options: WorkloadOptions
    workloads: Optional[tuple[WorkloadItem, ...]]

    def named(self) -> Sequence[WorkloadItem]:
        """The one workload, or the list. Raises InvalidInput for both, or neither."""
        is_one = self.uuid is not None or self.options != WorkloadOptions()
        if self.workloads is not None and not is_one:
            return self.workloads
        if self.workloads is None and self.uuid is not None:
            return [WorkloadItem(self.uuid, self.options)]
        raise InvalidInput(
            "Cannot tell which workloads are meant",
            why="there is either one workload or a list of them",
            todo="give uuid and its options, or workloads",
        )


@dataclass(frozen=True)
class RmdWorkloadRequest:
    """What rmd_workload is to do, where and how."""

    connection: ConnectionRequest
    daemons: DaemonsRequest
    chosen: NodeChoice
    asked: WorkloadsRequest
    writing: WriteRequest
    run_id: Optional[str]
    dialect: Literal["auto", "v0.2", "v0.3"]

    @property
    def given_dialect(self) -> Optional[Dialect]:
        """None where the daemons tell it."""
        return None if self.dialect == "auto" else Dialect(self.dialect)

    def job(self) -> NodeJob:
        """What should run on each node, and what should not. Raises InvalidInput for what is taken
        on no machine."""
        named = self.asked.named()
        if self.chosen.nodes is None and not self.chosen.node_selector:
            raise InvalidInput(
                "Cannot tell which nodes are meant",
                why="none are named",
                todo="give nodes or node_selector",
            )
        uuids = tuple(workload.uuid for workload in named)
        _refuse_doubles(uuids)
        if self.asked.state == "absent":
            return NodeJob(absent=uuids)
        present = tuple(workload.to_workload() for workload in named)
        _refuse_senseless(present)
        return NodeJob(present)


def _refuse_doubles(uuids: Sequence[str]) -> None:
    """Raises InvalidInput where a uuid is given more than once."""
    if doubles := sorted({uuid for uuid in uuids if uuids.count(uuid) > 1}):
        raise InvalidInput(
            "Cannot ask for a workload twice", why=f"{', '.join(doubles)} is there more than once"
        )


def _refuse_senseless(present: Sequence[Workload]) -> None:
    """Raises InvalidInput for the first workload that neither RMD nor the kernel would take."""
    for workload in present:
        others = [other for other in present if other is not workload]
        found = senseless(workload, others)
        if found:
            why = "; ".join(problem.why for problem in found)
            raise InvalidInput(
                f"Cannot ask for workload {workload.uuid}", why=why, todo=found[0].todo
            )
