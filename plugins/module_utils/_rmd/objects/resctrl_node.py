# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node whose agent divides the cache: what should run there is declared in its RmdNodeState, one
entry for each workload, and the agent makes it true, again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Optional

from ..._cluster.api_client.api_errors import ApiError, NotFound
from ..._cluster.api_client.client import Client
from ..._json import Obj, elements, part
from ..._nodes.cpuset import to_strings
from ..daemon.dialect import decode
from ..nodes.agents import Agent
from ..nodes.node_machine import L3, Dialect, Machine, MbaSupport, Topology
from ..nodes.report_fields import (
    Report,
    all_ways_of,
    bandwidth_of,
    caches_of,
    groups_of,
    masks_of,
    pools_of,
)
from ..rmd_errors import RmdError
from ..workloads import BESTEFFORT, DECLARED, GUARANTEED, SHARED, RunningWorkload, Workload
from .node_state import skeleton
from .object_store import NODE
from .operator_names import HOME_NAMESPACE, NODE_STATE, node_state_name


class ResctrlNode:
    """A NodeWriter whose word is the API server's: an entry that is there is declared, and whether
    it is in force the agent's report says."""

    def __init__(self, client: Client, node: str, agent: Agent) -> None:
        self.dialect: Optional[Dialect] = Dialect.RESCTRL
        self.requests: Counter[str] = Counter()
        self._client = client
        self._node = node
        self._agent = agent
        self._name = node_state_name(node)

    @property
    def where(self) -> str:
        """For messages."""
        return f"node {self._node}, RmdNodeState {self._name}"

    def workloads(self) -> list[RunningWorkload]:
        """What is declared, by uuid."""
        self.requests["GET"] += 1
        try:
            state = self._client.get(NODE_STATE, self._name, HOME_NAMESPACE)
        except ApiError as error:
            raise self._error("list the workloads", error) from error
        return declared_in(state or {})

    def machine(self, *, mba: bool, policies: bool, may_write: bool = False) -> Machine:  # noqa: ARG002
        """What the agent says of its node."""
        return Machine(topology_of(self._agent.report()), None, self.dialect)

    def add(self, workload: Workload) -> RunningWorkload:
        """Declare a workload."""
        entry = entry_of(workload)
        self._declare(workload.uuid, entry, f"declare workload {workload.uuid}")
        return running_of(workload.uuid, entry)

    def remove(self, running: RunningWorkload) -> None:
        """Declare it no more."""
        self._declare(running.uuid, None, f"remove workload {running.uuid}")

    def restore(self, body: Mapping[str, Any]) -> None:
        """Declare a workload as it was."""
        self._declare(str(body["uuid"]), body["entry"], f"restore workload {body['uuid']}")

    def _declare(self, uuid: str, entry: Optional[Mapping[str, Any]], task: str) -> None:
        """One merge patch; it names one entry, so that those of others stay as they are."""
        self.requests["PATCH"] += 1
        body = {"spec": {"workloads": {uuid: entry}}}
        try:
            try:
                self._client.patch(NODE_STATE, self._name, HOME_NAMESPACE, body)
            except NotFound:
                node = self._client.get(NODE, self._node) if entry is not None else None
                if node is not None:
                    self._client.create(skeleton(self._node, node["metadata"]["uid"]))
                    self._client.patch(NODE_STATE, self._name, HOME_NAMESPACE, body)
        except ApiError as error:
            raise self._error(task, error) from error

    def _error(self, task: str, error: ApiError) -> RmdError:
        return RmdError(
            f"Cannot {task}", kind="api", where=self.where, why=str(error.why), todo=error.todo
        )


def declared_in(state: Mapping[str, Any]) -> list[RunningWorkload]:
    """The entries of an RmdNodeState. Pure."""
    found = part(state, "spec", "workloads")
    return [running_of(uuid, entry or {}) for uuid, entry in sorted(found.items())]


def entry_of(workload: Workload) -> Obj:
    """A workload as the RmdNodeState has it. Pure."""
    entry: Obj = {"coreIds": to_strings(workload.cores)}
    if workload.cache is not None:
        entry["cache"] = {"max": workload.cache.max, "min": workload.cache.min}
    if workload.mba is not None:
        entry["mba"] = workload.mba.given()
    return {**entry, "pod": workload.pod} if workload.pod else entry


def running_of(uuid: str, entry: Mapping[str, Any]) -> RunningWorkload:
    """An entry as a run sees it: its group, and whether it is in force, are the agent's to say.
    Pure."""
    parts = {name: entry[name] for name in ("cache", "mba") if entry.get(name)}
    body = {
        "id": uuid,
        "uuid": uuid,
        "status": DECLARED,
        "core_ids": elements(entry, "coreIds"),
        "rdt": parts,
        "entry": dict(entry),
    }
    return decode(body)


def topology_of(report: Report) -> Topology:
    """The caches of a node, and what groups leave of each pool. Pure."""
    full, pools = all_ways_of(report), pools_of(report)
    taken = _taken_ways(groups_of(report), full)
    caches = []
    for cache, cores in caches_of(report).items():
        free = full & ~taken.get(cache, 0)
        caches.append(L3(cache, cores, full.bit_length(), free, _free_ways(pools, free)))
    bandwidth = bandwidth_of(report)
    has_mba = bool(bandwidth)
    mba = MbaSupport(
        supported=has_mba,
        enabled=has_mba,
        step=bandwidth.get("step"),
        least=bandwidth.get("least"),
    )
    return Topology(tuple(caches), mba)


def _taken_ways(groups: Mapping[str, Any], full: int) -> dict[str, int]:
    """L3 cache -> the ways that groups keep from others."""
    everybodys = masks_of(part(groups, ""))
    taken: dict[str, int] = {}
    for name, group in groups.items():
        for cache, mask in masks_of(group).items():
            # Who has memory bandwidth alone has the ways of all others, and takes none.
            if name and mask not in (full, everybodys.get(cache)):
                taken[cache] = taken.get(cache, 0) | mask
    return taken


def _free_ways(pools: Mapping[str, Any], free: int) -> dict[str, tuple[int, ...]]:
    """Pool -> those of its ways that are free; pools lie one above the other, the system's lowest."""
    low, left = int(pools.get("os") or 0), {}
    for pool in (GUARANTEED, BESTEFFORT, SHARED):
        ways = range(low, low + int(pools.get(pool) or 0))
        left[pool] = tuple(way for way in ways if free >> way & 1)
        low = ways.stop
    return left
