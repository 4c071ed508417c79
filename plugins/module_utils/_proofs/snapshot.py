# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What validation knows of the cluster right now: a mirror of nodes, pods and workloads that watch
events keep true."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .._cluster.api_objects.controller_references import controller_of
from .._cluster.api_objects.labels import STATE_LABEL, VALIDATION_LABEL
from .._cluster.api_objects.objects import ObjectKey, key_of
from .._json import Obj, elements, part
from .._nodes.facts import NodeFacts
from .._times import seconds
from .feeds import Feed, Watched
from .queries import Query, QueryResult


@dataclass(frozen=True)
class Vanished:
    """A node that has lost the labels of the hardware: since when (seconds since the epoch), what
    becomes of it."""

    since: float
    text: str


@dataclass
class ClusterSnapshot:
    """Nodes by name, pods of DaemonSets by node and state, validation pods by name, workloads by
    key.

    vanished: those of the nodes that have lost the labels of the hardware. pods_known is false as
    long as only the DaemonSets' own counts have been read. answers holds what was asked, feeds what
    proofs look at besides. settled: whether a state's DaemonSet has an available pod on each node that
    it serves, by the state's name, as far as that was asked since a node or workload last changed.
    last_made: when the newest pod
    of a DaemonSet was made, in seconds since the epoch; 0.0 for none.
    """

    nodes: dict[str, NodeFacts] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    vanished: dict[str, Vanished] = field(default_factory=dict)
    workloads: dict[ObjectKey, Obj] = field(default_factory=dict)
    pods: dict[tuple[str, str], dict[str, Obj]] = field(default_factory=lambda: defaultdict(dict))
    validators: dict[str, Obj] = field(default_factory=dict)
    pods_known: bool = False
    answers: dict[Query, QueryResult] = field(default_factory=dict)
    feeds: dict[Watched, Feed] = field(default_factory=dict)
    settled: dict[tuple[str, ObjectKey], bool] = field(default_factory=dict)
    last_made: float = 0.0
    _by_state: dict[str, dict[str, Obj]] = field(default_factory=lambda: defaultdict(dict))
    _places: dict[str, tuple[str, str]] = field(default_factory=dict)
    _unfinished: dict[str, tuple[str, str]] = field(default_factory=dict)

    def feed(self, what: Watched) -> Feed:
        """What is known of all objects of a kind and namespace."""
        return self.feeds.setdefault(what.collection, Feed())

    def put_workload(self, workload: Obj, *, deleted: bool = False) -> bool:
        """Take in a DaemonSet, Deployment, StatefulSet or Job; returns whether it makes every node
        worth a look.

        While its pods come up, a DaemonSet counts them in its status many times a second; the pods
        say that better.
        """
        self.settled.clear()
        key = key_of(workload)
        before = self.workloads.pop(key, None)
        if not deleted:
            self.workloads[key] = workload
        return deleted or before is None or _version(workload) != _version(before)

    def put_node(self, node: NodeFacts, group: str) -> None:
        """Take in a node of a finest group."""
        self.nodes[node.name] = node
        self.groups[node.name] = group
        self.settled.clear()

    def forget_node(self, name: str) -> None:
        """Drop a node that is gone or no longer has the hardware."""
        self.settled.clear()
        self.nodes.pop(name, None)
        self.groups.pop(name, None)
        self.vanished.pop(name, None)

    def put_pod(self, pod: Obj, *, deleted: bool = False) -> set[str]:
        """Take in a pod; returns the nodes that it concerns."""
        if VALIDATION_LABEL in part(pod["metadata"], "labels"):
            nodes = self._put_validator(pod, deleted=deleted)
        else:
            nodes = self._put_pod_of_state(pod, deleted=deleted)
        return nodes - {""}

    def _put_validator(self, pod: Obj, *, deleted: bool) -> set[str]:
        metadata, node = pod["metadata"], node_of(pod) or ""
        name, state = metadata["name"], str(part(metadata, "labels").get(VALIDATION_LABEL))
        self._unfinished.pop(name, None)
        if deleted:
            self.validators.pop(name, None)
            return {node}
        self.validators[name] = pod
        if part(pod, "status").get("phase") not in ("Succeeded", "Failed"):
            self._unfinished[name] = state, node
        return {node}

    def _put_pod_of_state(self, pod: Obj, *, deleted: bool) -> set[str]:
        """Returns the node of the pod, and the one before; "" where it has, or had, none."""
        metadata = pod["metadata"]
        uid, state = metadata["uid"], part(metadata, "labels").get(STATE_LABEL, "")
        place = (node_of(pod) or "", state)
        if uid not in self._places and controller_of(pod).get("kind") == "DaemonSet":
            made = seconds(metadata.get("creationTimestamp")) or 0.0
            self.last_made = max(made, self.last_made)
        before = self._places.pop(uid, place)
        if deleted or before != place:
            self.pods[before].pop(uid, None)
            self._by_state[before[1]].pop(uid, None)
        if not deleted:
            self._places[uid] = place
            self.pods[place][uid] = pod
            self._by_state[state][uid] = pod
        return {place[0], before[0]}

    def running_validators(self, state: str) -> int:
        """How many validation pods of a state have not ended yet; one whose node is gone never
        will."""
        return sum(
            its_state == state and node in self.nodes
            for its_state, node in self._unfinished.values()
        )

    def pods_of_state(self, state: str) -> Iterable[Obj]:
        """The pods that one state runs, wherever."""
        return self._by_state[state].values()

    def pods_of(self, node: str, state: str) -> Iterable[Obj]:
        """The pods that one state runs on one node."""
        return self.pods.get((node, state), {}).values()


def _version(workload: Obj) -> tuple[Any, ...]:
    """What of a workload decides how its pods are judged; for those without a pod on each node, the
    counts too."""
    metadata, status = workload["metadata"], part(workload, "status")
    counts = None if workload.get("kind") == "DaemonSet" else status
    seen = status.get("observedGeneration")
    return (
        metadata.get("uid"),
        metadata.get("generation"),
        metadata.get("annotations"),
        seen,
        counts,
    )


def node_of(pod: Obj) -> str | None:
    """The node of a pod, or the one that it is meant for while it is unscheduled.

    The DaemonSet controller, and our own validation pods, pin a pod by a node affinity on
    metadata.name (kubernetes/pkg/controller/daemon/util, ReplaceDaemonSetPodNodeNameNodeAffinity).
    """
    spec = part(pod, "spec")
    if spec.get("nodeName"):
        return str(spec["nodeName"])
    required = part(
        spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"
    )
    for term in elements(required, "nodeSelectorTerms"):
        for match in elements(term, "matchFields"):
            if match.get("key") == "metadata.name" and match.get("values"):
                return str(match["values"][0])
    return None
