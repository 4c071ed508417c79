# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What writes to a node's resctrl, as a run needs it: RMD's daemon, or another one. All methods
raise RmdError."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, Optional, Protocol

from ..rmd_errors import RmdError
from ..workloads import RunningWorkload, Workload
from .agents import Agent
from .node_machine import Dialect, Machine


class NodeWriter(Protocol):
    """The writer of one node. How what it was asked for has ended is known when a method returns."""

    dialect: Optional[Dialect]

    @property
    def where(self) -> str:
        """For messages."""

    @property
    def requests(self) -> Counter[str]:
        """How many requests were sent so far, by method."""

    def workloads(self) -> list[RunningWorkload]:
        """What runs, in the writer's order."""

    def machine(self, *, mba: bool, policies: bool, may_write: bool = False) -> Machine:
        """What is known of the node. mba, policies: whether these are asked for. may_write: whether
        it may be found out by a request that could write."""

    def add(self, workload: Workload) -> RunningWorkload:
        """Make a workload; raises where it is not there afterwards."""

    def remove(self, running: RunningWorkload) -> None:
        """Remove a workload; what is not there any more is fine."""

    def restore(self, body: Mapping[str, Any]) -> None:
        """Make a workload from the body that it once had."""


class UnreachableWriter:
    """The writer of a node that has none to talk to: whatever it is asked, it raises why."""

    dialect: Optional[Dialect] = None

    def __init__(self, why: RmdError) -> None:
        self._why = why
        self.where = why.where
        self.requests: Counter[str] = Counter()

    def _refuse(self, *_args: Any, **_options: Any) -> NoReturn:
        raise self._why

    workloads = machine = add = remove = restore = _refuse


@dataclass
class Fleet:
    """The writer of each node, and its agent."""

    writers: dict[str, NodeWriter] = field(default_factory=dict)
    agents: dict[str, Agent] = field(default_factory=dict)

    @property
    def requests(self) -> dict[str, int]:
        """How many requests all writers were sent so far, by method."""
        total: Counter[str] = Counter()
        for writer in self.writers.values():
            total += writer.requests
        return dict(total)
