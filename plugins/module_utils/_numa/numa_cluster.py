# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a check is, and what it looks at: all that was read of a cluster. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._json import Obj
from .._nodes.facts import NodeFacts
from .kubelet_pools import Declaration
from .node_topology import NodeTopology
from .numa_workloads import Exporter, Profile, Scheduler
from .pods_on_nodes import NumaPod

ERROR, WARNING, INFO = SEVERITIES = ("error", "warning", "info")

# What is read, and may be refused or left out; a check says which of it it needs.
KUBELETS = "kubelets"
TOPOLOGIES = "NodeResourceTopologies"
DEFINITION = "the CustomResourceDefinition"
CONFIG_MAPS = "ConfigMaps"
LEASES = "Leases"
DECLARATIONS = "KubeletConfigs"
DUMPS = "the scheduler's cache"


@dataclass(frozen=True)
class CacheDump:
    """What the scheduler made of a node when it last compared fingerprints. pods: that it counted."""

    expected: str
    computed: str
    pods: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class NumaNodes:
    """facts: of the nodes that are looked at. pools: name -> names of its nodes. all_names: of all
    nodes there are."""

    facts: Mapping[str, NodeFacts]
    pools: Mapping[str, Sequence[str]]
    all_names: frozenset[str]


@dataclass(frozen=True)
class KubeletFacts:
    """running: node -> settings. silent: node -> why they are not known. declarations: what objects
    of the cluster ask of kubelets."""

    running: Mapping[str, Obj]
    silent: Mapping[str, str]
    declarations: Sequence[Declaration]


@dataclass(frozen=True)
class TopologyFacts:
    """The NodeResourceTopology objects. are_served: whether the cluster has the API. stored: versions
    in which they are, or were, stored."""

    by_node: Mapping[str, NodeTopology]
    are_served: bool
    stored: Sequence[str]


@dataclass(frozen=True)
class NumaWorkloads:
    """What runs in the cluster. pods: all that have not succeeded. dumps: node -> what the scheduler
    printed of it."""

    pods: Sequence[NumaPod]
    exporters: Sequence[Exporter]
    schedulers: Sequence[Scheduler]
    dumps: Mapping[str, CacheDump]

    @property
    def profiles(self) -> Iterator[tuple[Scheduler, Profile]]:
        """Each profile with its scheduler."""
        return (
            (scheduler, profile)
            for scheduler in self.schedulers
            for profile in scheduler.config.profiles
        )

    @property
    def caches(self) -> bool:
        """Whether any scheduler compares fingerprints."""
        return any(scheduler.caches for scheduler in self.schedulers)


@dataclass(frozen=True)
class ReadingOutcome:
    """What is not known. unread: what could not be read -> why. left_out: what nobody wanted to be
    read -> why."""

    unread: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> frozenset[str]:
        """What checks do without."""
        return frozenset((*self.unread, *self.left_out))


@dataclass(frozen=True)
class NumaCluster:
    """A cluster as it was read. now: seconds since the epoch. version: (major, minor) of the API
    server."""

    now: float
    version: tuple[int, int]
    nodes: NumaNodes
    kubelets: KubeletFacts
    topologies: TopologyFacts
    workloads: NumaWorkloads
    reading: ReadingOutcome

    @property
    def looked_at(self) -> Iterator[NodeTopology]:
        """The topologies of the nodes that are looked at."""
        found = self.topologies.by_node
        return (found[node] for node in self.nodes.facts if node in found)


@dataclass(frozen=True)
class Mismatch:
    """A place where a check does not hold. detected and expected: half a sentence. object: what it
    is about, where that is no node."""

    detected: str
    expected: str
    node: str = ""
    pool: str = ""
    object: str = ""

    @property
    def place(self) -> str:
        """Where that is, for messages."""
        if self.object:
            return self.object
        if self.node:
            return f"node {self.node}"
        return f"pool {self.pool}" if self.pool else "the cluster"


@dataclass(frozen=True)
class CheckText:
    """What a check says. component and setting: what it is about. meaning: why it has to hold, half
    a sentence. remediation: an imperative half sentence."""

    component: str
    setting: str
    meaning: str
    remediation: str


@dataclass(frozen=True)
class NumaCheck:
    """Something that has to hold.

    id: never changes. needs: what has to be read for it. settles: whether it may fail for a moment
    while pods come and go.
    """

    id: str
    severity: str
    text: CheckText
    find: Callable[[NumaCluster], Iterable[Mismatch]]
    needs: frozenset[str] = frozenset()
    settles: bool = False

    def finding(self, mismatch: Mismatch, pool: str) -> dict[str, Any]:
        """What a task returns of a mismatch. pool: of its node."""
        text = self.text
        return {
            "id": self.id,
            "severity": self.severity,
            "node": mismatch.node,
            "pool": mismatch.pool or pool,
            "object": mismatch.object,
            "component": text.component,
            "setting": text.setting,
            "expected": mismatch.expected,
            "detected": mismatch.detected,
            "remediation": text.remediation,
            "message": f"{mismatch.place}: {text.component}, {text.setting}: {mismatch.detected}, "
            f"where {mismatch.expected} is due",
        }
