# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Feed the snapshot with the objects that kinds of proof declare to watch: one watch for each kind
and namespace.

A kind that is not served, or may not be read, is one sentence in the proof's verdict; it is tried
again, since its CRD may come during the run."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Union

from ..._cluster.api_client.api_errors import ApiError, UnknownKind
from ..._cluster.api_client.client import Client
from ..._cluster.api_client.watch import WatchEvent, WatchHub
from ..._cluster.api_objects.kinds import Kind
from ..._errors import EnablementError
from ..._proofs.catalog import KINDS
from ..._proofs.feeds import Watched
from ..._proofs.proof import Proof
from ..._proofs.snapshot import ClusterSnapshot
from .phases import StatePlan

RETRY_S = 2.0
WORKERS = 8
ALL = ""


class Feeder:
    """The feeds of one snapshot. namespace is where objects are whose proof names none."""

    def __init__(
        self,
        client: Client,
        snapshot: ClusterSnapshot,
        plans: Sequence[StatePlan],
        namespace: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._snapshot = snapshot
        self._namespace = namespace
        self._clock = clock
        self._proofs = [(plan, proof) for plan in plans for proof in plan.proofs]
        self._groups: dict[str, str] = {}
        self._names: Mapping[Watched, set[str]] | None = None
        self._followed: set[Watched] = set()
        self._again_at: dict[Watched, float] = {}

    def read(self) -> None:
        """Read once what proofs look at in every run: those of the cluster keep no proof of before."""
        wanted = self._wanted(every_run=True)
        calls = [self._reading(what, names) for what, names in wanted.items()]
        for what, found in zip(wanted, self._client.parallel(calls, workers=WORKERS), strict=True):
            if isinstance(found, EnablementError):
                self._snapshot.feed(what).fail(str(found))
            else:
                self._snapshot.feed(what).put_all(found)

    def follow(self, hub: WatchHub) -> set[str]:
        """Watch what is wanted and not watched yet, what failed again after a while; returns who
        has to look again."""
        now = self._clock()
        dirty: set[str] = set()
        if self._names is None or self._groups != self._snapshot.groups:
            self._groups = dict(self._snapshot.groups)
            self._names = self._wanted()
        for what, names in self._names.items():
            if what not in self._followed and self._again_at.get(what, now) <= now:
                dirty |= self._subscribe(hub, what, names)
        return dirty

    def take(self, event: WatchEvent) -> set[str]:
        """Take in an event of a feed; returns the nodes ("" for the cluster) whose proofs looked at
        the object."""
        feed = self._snapshot.feed(event.source)
        if event.type == "SYNCED":
            return feed.end()
        if event.type == "ERROR":
            return self._failed(event.source, event.object["message"])
        return feed.put(event.object, deleted=event.type == "DELETED")

    def _subscribe(self, hub: WatchHub, what: Watched, names: set[str]) -> set[str]:
        try:
            kind = self._client.kind(what.api_version, what.kind, refresh=True)
        except (ApiError, UnknownKind) as error:
            return self._failed(what, str(error))
        self._followed.add(what)
        self._snapshot.feed(what).begin()
        fields = None if _all(names) else f"metadata.name={min(names)}"
        hub.subscribe(kind, namespace=_place(kind, what), fields=fields, source=what)
        return set()

    def _failed(self, what: Watched, error: str) -> set[str]:
        self._followed.discard(what)
        self._again_at[what] = self._clock() + RETRY_S
        return self._snapshot.feed(what).fail(error)

    def _wanted(self, *, every_run: bool = False) -> Mapping[Watched, set[str]]:
        """The names that are looked at, by kind and namespace; ALL where they differ from node to
        node."""
        wanted: dict[Watched, set[str]] = defaultdict(set)
        for plan, proof in self._proofs:
            kind = KINDS[proof.kind]
            if every_run and plan.per_node and not kind.observed:
                continue
            for group, node in self._places(plan, proof):
                for what in kind.watches(kind.settings_of(proof, group, node), self._namespace):
                    wanted[what.collection].add(ALL if proof.varies else what.name)
        return wanted

    def _places(self, plan: StatePlan, proof: Proof) -> Iterator[tuple[str, str]]:
        """Groups and nodes between which a proof's settings differ; one empty pair where they do
        not."""
        if not proof.varies:
            yield "", ""
            return
        for node, group in self._snapshot.groups.items():
            if group in plan.groups.hashes:
                yield group, node

    def _reading(
        self, what: Watched, names: set[str]
    ) -> Callable[[], Union[list[dict[str, Any]], UnknownKind]]:
        def read() -> Union[list[dict[str, Any]], UnknownKind]:
            try:
                kind = self._client.kind(what.api_version, what.kind)
            except UnknownKind as error:
                return error
            if _all(names):
                found = self._client.list(kind, namespace=_place(kind, what), each_alone=True)
                return list(found.items)
            only = self._client.get(kind, min(names), _place(kind, what))
            return [only] if only else []

        return read


def _place(kind: Kind, what: Watched) -> str | None:
    return what.namespace if kind.namespaced else None


def _all(names: set[str]) -> bool:
    """Whether the whole collection is read, and not one object of it."""
    return ALL in names or len(names) > 1
