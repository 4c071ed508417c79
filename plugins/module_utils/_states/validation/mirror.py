# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep the snapshot true: lists for one look, watches for a wait; says which nodes a change
concerns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..._cluster.api_client.api_errors import ApiError
from ..._cluster.api_client.client import Client
from ..._cluster.api_client.rights import READ, Right
from ..._cluster.api_client.watch import WatchHub
from ..._cluster.api_objects.labels import RECIPE_LABEL
from ..._json import Obj
from ..._nodes.facts import NodeFacts
from ..._nodes.grouping import Grouping
from ..._nodes.selectors import label_selector
from ..._proofs.snapshot import ClusterSnapshot
from ..on_nodes.strays import Strays
from .feeder import Feeder
from .phases import StatePlan

WORKERS = 8


# What is watched to see how states stand, whatever kinds they are made of.
RIGHTS = (
    Right("apps", ("daemonsets", "deployments", "statefulsets"), READ, read_only=READ),
    Right("", ("pods",), READ, read_only=READ),
)


class ClusterMirror:
    """Feeds one snapshot from one cluster, for the nodes of one selector and the objects of one
    recipe."""

    def __init__(
        self,
        client: Client,
        snapshot: ClusterSnapshot,
        plans: Sequence[StatePlan],
        members: Strays,
        recipe: str,
        namespace: str,
        grouping: Grouping,
    ) -> None:
        self._client = client
        self._snapshot = snapshot
        self._members = members
        self._selectors = [*map(label_selector, members.selector), *members.watched]
        self._labels = f"{RECIPE_LABEL}={recipe}"
        self._namespace = namespace
        self._grouping = grouping
        self._feeder = Feeder(client, snapshot, plans, namespace)
        kinds = {(key.api_version, key.kind) for plan in plans for key in plan.workloads} | {
            ("apps/v1", "DaemonSet")
        }
        self._kinds = [client.kind(api_version, kind) for api_version, kind in sorted(kinds)]
        self._met: set[str] = set()
        self._departed: set[str] = set()

    @property
    def left(self) -> list[str]:
        """The nodes that were there at some time, and are not now."""
        return sorted(self._met - self._snapshot.nodes.keys())

    def take_departed(self) -> set[str]:
        """The nodes that left since the last call, also one that has come back since: that is
        another one."""
        departed, self._departed = self._departed, set()
        return departed

    def forget(self, name: str) -> None:
        """Drop a node that is gone, or no longer has the hardware."""
        if name in self._snapshot.nodes:
            self._snapshot.forget_node(name)
            self._departed.add(name)

    def take_nodes(self, nodes: Sequence[NodeFacts]) -> None:
        """Take in nodes that somebody has listed."""
        for node in nodes:
            self._take_if_ours(node)

    def list_workloads(self) -> None:
        """Read the workloads, whose counts are enough for the quick look."""
        for kind in self._kinds:
            for workload in self._client.list(
                kind, namespace=self._namespace, labels=self._labels
            ).items:
                self._snapshot.put_workload(
                    {"apiVersion": kind.api_version, "kind": kind.kind, **workload}
                )

    def read_feeds(self) -> None:
        """Read the objects that proofs look at besides, for the quick look."""
        self._feeder.read()

    def watch(self, hub: WatchHub) -> None:
        """Start to watch, and return when everything has been seen once, and nodes that left before
        are forgotten."""
        listed = list(self._snapshot.nodes.values())
        for node in listed:
            self._snapshot.forget_node(node.name)
        for labels in self._selectors:
            hub.subscribe(self._client.kind("v1", "Node"), labels=labels, leanly=True)
        for kind in self._kinds:
            hub.subscribe(kind, namespace=self._namespace, labels=self._labels)
        pod = self._client.kind("v1", "Pod")
        hub.subscribe(pod, namespace=self._namespace, labels=self._labels, leanly=True)
        self._feeder.follow(hub)
        while not hub.synced:
            self.take_events(hub, 0.25)
        self._departed.update(
            node.name for node in listed if not self._is_there(node.name, node.uid)
        )
        self._snapshot.pods_known = True

    def take_events(self, hub: WatchHub, timeout: float) -> set[str]:
        """Wait for events (seconds at most) and take them in; returns the names of the nodes that
        they concern."""
        dirty: set[str] = set()
        left: set[str] = set()
        for event in hub.next(timeout):
            gone, kind, metadata = (
                event.type == "DELETED",
                event.object.get("kind"),
                event.object.get("metadata", {}),
            )
            if event.source is not None:
                dirty.update(self._feeder.take(event))
            elif kind == "Node" and gone:
                # Another watch may have told already of a new node of this name.
                if self._is_there(metadata["name"], metadata["uid"]):
                    left.add(metadata["name"])
            elif kind == "Node":
                left.discard(metadata["name"])
                dirty.update(self._take_if_ours(NodeFacts.from_object(event.object)))
            elif kind == "Pod":
                dirty.update(self._snapshot.put_pod(event.object, deleted=gone))
            elif self._snapshot.put_workload(event.object, deleted=gone):
                dirty.update(self._snapshot.nodes)
        for name in self._confirmed(sorted(left)):
            self.forget(name)
        dirty.update(self._feeder.follow(hub))
        return dirty & self._snapshot.nodes.keys()

    def _is_there(self, name: str, uid: str) -> bool:
        known = self._snapshot.nodes.get(name)
        return known is not None and known.uid == uid

    def _take_node(self, facts: NodeFacts) -> None:
        if not self._is_there(facts.name, facts.uid):
            self.forget(facts.name)
        self._met.add(facts.name)
        self._snapshot.put_node(facts, self._grouping.id_of(facts))
        vanished = self._members.lost(facts)
        if vanished is None:
            self._snapshot.vanished.pop(facts.name, None)
        else:
            self._snapshot.vanished.setdefault(facts.name, vanished)

    def _take_if_ours(self, facts: NodeFacts) -> set[str]:
        """Returns the node's name where something of it is new."""
        known = self._snapshot.nodes.get(facts.name)
        if not self._members.counts(facts):
            self.forget(facts.name)
            return set()
        self._take_node(facts)
        # A heartbeat changes nothing that validation looks at.
        return set() if known == facts else {facts.name}

    def _confirmed(self, left: Sequence[str]) -> list[str]:
        """Of the nodes that left a watch, by deletion or since their labels changed, those that are
        ours no more.

        Where that cannot be told, the watch is believed: who is there after all comes back with its
        next event.
        """
        if len(self._selectors) < 2:
            return list(left)
        kind = self._client.kind("v1", "Node")
        found = self._client.parallel(
            [partial(self._client.get, kind, name) for name in left], workers=WORKERS
        )
        return [name for name, node in zip(left, found, strict=True) if not self._is_ours(node)]

    def _is_ours(self, node: Obj | ApiError | None) -> bool:
        return isinstance(node, dict) and self._members.counts(NodeFacts.from_object(node))
