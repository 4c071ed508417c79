# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of pods on nodes with NUMA nodes, and what exporters tell of it, in time or late."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import numa
from .api import Session
from .exporters import Exporters
from .model import Node, Obj, Pod
from .numa import Assignments
from .store import Store

_ROLE = "topology-exporter"


class Topologies:
    """Of all nodes. Only the worker of a node touches what is kept of it."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._assignments: dict[str, Assignments] = {}
        self._exporters = Exporters()
        # node -> (what is to be published, since when)
        self._wanted: dict[str, tuple[Obj, float]] = {}
        # node -> when it is written anew
        self._ticks: dict[str, float] = {}
        self._turned: dict[str, bool] = {}

    def refusal(self, node: Node, pod: Pod, pods: Sequence[Pod]) -> str:
        """Why the kubelet refuses a new pod, "" where it does not: "Reason: sentence"."""
        if node.numa is None:
            return ""
        assignments = self._of(node, pods)
        return "" if assignments.admit(pod, node.numa) else numa.REFUSED

    def publish(self, node: Node, pods: Sequence[Pod], session: Session) -> float | None:
        """Let the node's exporter publish what has changed; when to ask again."""
        serving = [
            pod for pod in pods if pod.operand.role == _ROLE and pod.serves and not pod.deleting
        ]
        if not serving or node.numa is None:
            self._exporters.forget(node.name)
            self._wanted.pop(node.name, None)
            return None
        pod = serving[0]
        behaviour = node.behaviour_for(pod)
        exporter = self._exporters.configured(pod, session)
        if behaviour.name in ("dead", "mute") or exporter.settings.paused:
            return None
        counted = [each for each in pods if not each.finished]
        topology = numa.topology(
            node.name, node.uid, node.numa, self._of(node, pods), counted, exporter.settings
        )
        known, since = self._wanted.get(node.name, ({}, 0.0))
        if known != topology:
            known, since = topology, self._clock()
            self._wanted[node.name] = (known, since)
        late = behaviour.seconds if behaviour.name == "lag" else 0.0
        if self._clock() < since + late:
            return since + late
        every = exporter.settings.interval
        if every and self._clock() >= self._ticks.get(node.name, 0.0):
            self._ticks[node.name] = self._clock() + every
            self._turned[node.name] = not self._turned.get(node.name, False)
        written = numa.turned(topology) if self._turned.get(node.name) else topology
        self._exporters.publish(pod, written, exporter, session)
        return self._ticks[node.name] if every else None

    def _of(self, node: Node, pods: Sequence[Pod]) -> Assignments:
        assignments = self._assignments.setdefault(node.name, Assignments())
        assignments.forget_all_but(pod.uid for pod in pods if not pod.finished)
        return assignments
