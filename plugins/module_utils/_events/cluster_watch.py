# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the event source watches: nodes, SpecialResources, their pods and what products declare, each
listed once and then watched."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from contextlib import contextmanager

from .._cluster.api_client.api_errors import UnknownKind, Unreachable
from .._cluster.api_client.client import Client
from .._cluster.api_client.identity import identify
from .._cluster.api_client.rights import CLUSTER, Right
from .._cluster.api_client.watch import WatchEvent, WatchHub
from .._cluster.api_objects.labels import RECIPE_LABEL
from .._json import Obj
from .._nodes.facts import NodeFacts
from .._products import PRODUCTS
from .._states.record.crd import RECORD
from . import triggers
from .debounce import Debounce
from .event_types import POD_CRASHED
from .pod_crashes import SELECTION, PodCrashes
from .triggers import EnabledRecipe

# How often a kind is asked for whose CRD is not there yet.
INTERVAL_S = 30.0

# What comes of texts and fields that are not as we write them.
_ODD = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
_READ = ("list", "watch")
RIGHTS = tuple(
    Right(group, (plural,), _READ, CLUSTER, read_only=_READ)
    for group, plural in (("", "nodes"), (RECORD.group, RECORD.plural))
) + (Right("", ("pods",), _READ, read_only=_READ),)
# By the name of the kind; its product has the rights to watch it.
_OF_PRODUCTS = {each.kind.kind: (product, each) for product in PRODUCTS for each in product.watched}


class ClusterWatch:
    """The events of one cluster, for as long as next() is called."""

    def __init__(
        self,
        client: Client,
        *,
        recipes: Collection[str],
        events: Collection[str],
        debounce_s: float,
        resync_s: float,
        ticks: Callable[[], float] = time.monotonic,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """recipes: names of SpecialResources to look at; all where none is named. events: the types
        that are told. ticks: seconds that never jump; clock: seconds since the epoch. Raises
        ApiError where the cluster does not answer."""
        self._client = client
        self._only = frozenset(recipes)
        self._ticks = ticks
        self._clock = clock
        self._cluster = identify(client).uid
        self._debounce = Debounce(debounce_s, resync_s, frozenset(events))
        self._hub = WatchHub(client)
        self._hub.subscribe(client.kind("v1", "Node"), leanly=True)
        declared = [each.kind for _product, each in _OF_PRODUCTS.values() if each.event in events]
        self._missing = [RECORD, *declared]
        self._looked_at = -INTERVAL_S
        self._nodes: dict[str, NodeFacts] = {}
        self._recipes: dict[str, EnabledRecipe] = {}
        # What was told before it is known which recipes there are.
        self._unseen: set[str] = set()
        self._deleted: dict[str, NodeFacts] = {}
        self._crashed = PodCrashes() if POD_CRASHED in events else None
        # The instances whose pods are watched, each with its namespace.
        self._watched: set[tuple[str, str]] = set()
        # Why an object cannot be read, by its kind and name: what was known of it holds.
        self._unread: dict[str, str] = {}

    @property
    def trouble(self) -> str:
        """Why nothing is heard right now, or one object cannot be read; "" where all is well."""
        return self._hub.trouble or next(iter(self._unread.values()), "")

    def next(self, timeout: float) -> list[Obj]:
        """The events that are due, waiting for at most timeout seconds. Raises the ApiError that
        ended a watch."""
        self._subscribe()
        wait_s = self._debounce.wait_s(self._ticks())
        for event in self._hub.next(timeout if wait_s is None else min(timeout, wait_s)):
            self._take(event)
        if not self._hub.synced:
            return []
        now = self._ticks()
        self._observe(now)
        moment = self._clock()
        return [event.to_object(self._cluster, moment) for event in self._debounce.due(now)]

    def close(self) -> None:
        """End the watches."""
        self._hub.close()

    def _subscribe(self) -> None:
        """Watch what the API server did not serve before."""
        if not self._missing or self._ticks() - self._looked_at < INTERVAL_S:
            return
        self._looked_at = self._ticks()
        for kind in [*self._missing]:
            try:
                self._client.kind(kind.api_version, kind.kind, refresh=True)
            except (UnknownKind, Unreachable):
                continue
            self._missing.remove(kind)
            self._hub.subscribe(kind)

    def _watch_pods(self, recipe: EnabledRecipe) -> None:
        """Hear of a recipe's pods. Who may not, or no longer, hears of all else."""
        place = recipe.instance, recipe.namespace
        if self._crashed is None or not recipe.namespace or place in self._watched:
            return
        self._watched.add(place)
        labels = f"{RECIPE_LABEL}={recipe.instance},{SELECTION}"
        kind = self._client.kind("v1", "Pod")
        self._hub.subscribe(
            kind, namespace=recipe.namespace, labels=labels, source=recipe.instance, leanly=True
        )

    def _take(self, event: WatchEvent) -> None:
        if event.source is not None:
            self._take_pod(event)
            return
        kind, name = event.object["kind"], event.object["metadata"]["name"]
        is_gone = event.type == "DELETED"
        with self._reading(kind, name):
            if kind == "Node":
                self._take_node(name, event.object, is_gone=is_gone)
            elif kind == RECORD.kind:
                self._take_record(name, event.object, is_gone=is_gone)
            else:
                self._take_declared(name, event.object, is_gone=is_gone)

    @contextmanager
    def _reading(self, kind: str, name: str) -> Iterator[None]:
        """What is written into an object by whoever may costs that object alone."""
        place = f"{kind} {name}"
        try:
            yield
        except _ODD as error:
            self._unread[place] = (
                f"{place} cannot be read, and counts as it was before ({type(error).__name__}):"
                " see what was written into it last (kubectl get -o yaml --show-managed-fields)"
            )
        else:
            self._unread.pop(place, None)

    def _take_pod(self, event: WatchEvent) -> None:
        """An event of a watch of pods, whose source is the instance."""
        if event.type == "ERROR":
            self._unread[f"pods of {event.source}"] = event.object["message"]
        elif event.type != "SYNCED" and self._crashed:
            with self._reading("Pod", event.object["metadata"]["name"]):
                self._crashed.take(event.source, event.object, is_gone=event.type == "DELETED")

    def _take_node(self, name: str, node: Obj, *, is_gone: bool) -> None:
        facts = NodeFacts.from_object(node)
        self._unseen.add(name)
        self._deleted.pop(name, None)
        if is_gone:
            known = self._nodes.pop(name, None)
            self._deleted[name] = known or facts
        else:
            self._nodes[name] = facts

    def _take_record(self, name: str, record: Obj, *, is_gone: bool) -> None:
        recipe = None if is_gone else EnabledRecipe.from_record(record)
        if recipe is not None and self._only and name not in self._only:
            return
        if recipe != self._recipes.get(name):
            self._unseen |= self._nodes.keys()
        if recipe is None:
            self._recipes.pop(name, None)
        else:
            self._recipes[name] = recipe
            self._watch_pods(recipe)
        if self._crashed:
            self._crashed.reconsider()
        found = triggers.record_triggers(recipe, record) if recipe else frozenset()
        self._debounce.see(f"{RECORD.kind} {name}", found, self._ticks(), is_gone=is_gone)

    def _take_declared(self, name: str, declared: Obj, *, is_gone: bool) -> None:
        """An object of a product. One that is gone was let go by the run of the product."""
        product, watched = _OF_PRODUCTS[declared["kind"]]
        found = frozenset() if is_gone else triggers.product_triggers(product, watched, declared)
        key = f"{watched.kind.kind} {declared['metadata']['namespace']}/{name}"
        self._debounce.see(key, found, self._ticks(), is_gone=is_gone)

    def _observe(self, now: float) -> None:
        """Find the triggers of all nodes that have changed.

        One that is not ready, or that Node Feature Discovery has not looked at since it booted,
        keeps those that it had: a run could do nothing for it yet.
        """
        recipes = self._recipes.values()
        for name in self._unseen:
            if name in self._deleted:
                found = triggers.triggers_of_deleted(self._deleted.pop(name), recipes)
                self._debounce.see(name, found, now, is_gone=True)
            elif _is_up(self._nodes[name]):
                with self._reading("Node", name):
                    found = triggers.node_triggers(self._nodes[name], recipes)
                    self._debounce.see(name, found, now)
        if self._crashed:
            self._observe_crashes(self._crashed.take_changed(self._unseen), now)
        self._unseen.clear()

    def _observe_crashes(self, crashed: Mapping[str, Set[tuple[str, str]]], now: float) -> None:
        """Find the triggers of pods that crash. crashed: instances and states by node; on one that is
        not ready they stay what they were."""
        for name, states in crashed.items():
            node = self._nodes.get(name)
            if states and node and not _is_up(node):
                continue
            with self._reading("Node", name):
                found = (
                    triggers.crash_triggers(node, states, self._recipes) if node else frozenset()
                )
                self._debounce.see(f"pods on {name}", found, now, is_gone=not states)


def _is_up(node: NodeFacts) -> bool:
    """Whether a run could do something for a node, and its labels are of the kernel that runs."""
    return node.readiness.ready and not node.system.in_transition
