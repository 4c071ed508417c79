# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make RMD on all nodes equal to the RmdWorkload objects, and let the objects say how they stand.

In an order that a run may be killed at any point of, and is repaired by running again: finalizers
and the record of what is ours come before the first POST, statuses after the last, and finalizers
go last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..._cluster import batch
from ..._cluster.api_client.client import Client
from ..._json import Obj, part
from ..._runs.context import RunContext
from ..nodes.execute import each, execute, node_runs
from ..nodes.node_results import WriteSettings
from ..nodes.node_run import NodeRun
from ..nodes.node_writer import Fleet
from . import capacity, node_state, object_store
from .operator_names import FINALIZER, NODE_STATE, WORKLOAD
from .view import OWNED_ANNOTATION, View, owned_text, refuse_collisions, states_of, wanted_on
from .workload_spec import Declared, Name, read
from .workload_state import OnNode, make_status


class Reconciliation:
    """One run. First observe(), then converge(), then tell(); changed says whether anything was, or
    would be, written."""

    def __init__(
        self,
        client: Client,
        snapshot: object_store.RmdObjects,
        fleet: Fleet,
        settings: WriteSettings,
        context: RunContext,
    ) -> None:
        """fleet: the daemons and agents of the nodes that have them."""
        self.changed = False
        self.declared: list[Declared] = []
        self.targets: dict[Name, tuple[str, ...]] = {}
        self.views = {
            node: View(node, state=snapshot.node_states.get(node), boot=_boot(snapshot.nodes[node]))
            for node in sorted(snapshot.nodes)
        }
        here = [node for node in self.views if node in fleet.writers]
        self._runs = dict(zip(here, node_runs(client, fleet, here, settings, context), strict=True))
        for node, run in self._runs.items():
            self.views[node].report = run.report
        self._client = client
        self._snapshot = snapshot
        self._fleet = fleet
        self._settings = settings
        self._context = context

    @property
    def seen(self) -> list[View]:
        """The nodes that have a daemon, or had one."""
        return [
            view
            for view in self.views.values()
            if view.node in self._fleet.writers or view.state is not None
        ]

    def observe(self) -> None:
        """One look at each node: a GET to its daemon, and its agent's report."""
        each(list(self._runs.values()), NodeRun.observe, self._settings)

    def decide(self, workloads: Sequence[Obj]) -> None:
        """Judge all RmdWorkloads, and find what has to be sent to which node."""
        self.declared = refuse_collisions(read(obj) for obj in workloads)
        labels = self._snapshot.labels()
        self.targets = {
            entry.name: entry.nodes(labels, self._snapshot.selector) for entry in self.declared
        }

        for node, run in self._runs.items():
            self._place(self.views[node], run)
        busy = self._busy
        each(busy, NodeRun.judge, self._settings)
        for run in busy:
            self.views[run.node].refused = run.refused

    @property
    def _busy(self) -> list[NodeRun]:
        """The nodes to which something has to be sent."""
        return [run for run in self._runs.values() if not run.failed and run.has_work]

    def _place(self, view: View, run: NodeRun) -> None:
        """Find what should run on a node that was seen, and what that takes."""
        snapshot = view.snapshot
        if snapshot is not None:
            cores = capacity.cores_of(snapshot.report or {})
            view.wanted = wanted_on(
                view.node,
                self.declared,
                self.targets,
                running=snapshot.running,
                cores=cores,
                owned=view.owned,
                is_fresh=view.has_booted,
            )
            run.decide(view.wanted)

    @property
    def has_work(self) -> bool:
        """Whether there is more to write than statuses."""
        return bool(self._busy or self._fresh)

    def converge(self) -> None:
        """Send what differs; in check mode only find out what that would be."""
        busy = self._busy
        if not self._settings.check_mode:
            self._prepare(busy)
        execute(busy, self._settings)
        self.changed |= any(run.report.fate.changed for run in busy)

    def states(self, entry: Declared) -> dict[str, OnNode]:
        """How a workload stands on each node."""
        return states_of(entry, self.targets[entry.name], self.views)

    def tell(self) -> None:
        """Write statuses, node states and what nodes offer, each only where it differs; let go what
        is gone."""
        now = self._context.clock()
        gone: list[Obj] = []
        statuses: list[tuple[Obj, Obj]] = []
        for entry in self.declared:
            if entry.is_deleted and entry.is_held and not self.states(entry):
                gone.append(entry.object)
                continue
            status = self._status(entry, now)
            if status != part(entry.object, "status"):
                statuses.append((entry.object, status))
        batch.write_statuses(self._client, WORKLOAD, statuses)
        self._tell_node_states(now)
        batch.set_finalizer(self._client, WORKLOAD, gone, FINALIZER, held=False)
        self.changed |= bool(statuses or gone)

    def offer(self) -> dict[str, int | None]:
        """Publish the cache ways that nodes offer to pods; returns those that are, or would be,
        changed."""
        wanted = self._wanted_offers()
        nodes = self._snapshot.nodes
        patches = {node: capacity.patch(nodes[node], ways) for node, ways in wanted.items()}
        needed = {node: patch for node, patch in patches.items() if patch is not None}
        if not self._settings.check_mode:
            batch.merge_statuses(
                self._client,
                object_store.NODE,
                [(nodes[node], body) for node, body in needed.items()],
            )
        self.changed |= bool(needed)
        return {node: wanted[node] for node in needed}

    def _wanted_offers(self) -> dict[str, int | None]:
        """Node -> the ways that it should offer, None for no more. One of which that is not known
        keeps what it offers."""
        of_pods = {entry.name for entry in self.declared if entry.pod is not None}
        wanted: dict[str, int | None] = {}
        for view in self.seen:
            ways = _offered(view, of_pods, dry=self._settings.check_mode)
            # Only where we have published it is withdrawn, and not because a daemon starts anew
            # just now.
            is_lost = view.node not in self._fleet.writers and node_state.is_ours(view.state)
            if is_lost or ways is not None:
                wanted[view.node] = None if is_lost else ways
        return wanted

    @property
    def _fresh(self) -> list[Declared]:
        """The objects that nothing was sent for yet."""
        return [
            entry
            for entry in self.declared
            if not (entry.problem or entry.is_deleted or entry.is_held) and self.targets[entry.name]
        ]

    def _prepare(self, busy: Sequence[NodeRun]) -> None:
        """What has to be there before the first POST: finalizers, node states, and in these what is
        ours."""
        fresh = self._fresh
        held = batch.set_finalizer(
            self._client, WORKLOAD, [entry.object for entry in fresh], FINALIZER, held=True
        )
        names = {object_store.name_of(obj) for obj in held}
        lost = {entry.uuid for entry in fresh if entry.name not in names}
        for run in busy:
            self._forget(run, lost)
        self._create_node_states()
        self._own(
            (view, view.owned | view.added) for view in (self.views[run.node] for run in busy)
        )
        self.changed |= bool(held)

    def _forget(self, run: NodeRun, lost: set[str]) -> None:
        """Leave alone what was deleted or changed since it was read; the next run sees it as it is
        then."""
        view = self.views[run.node]
        if view.wanted is not None and lost:
            run.leave(lost)
            view.wanted = view.wanted.without(lost)

    def _create_node_states(self) -> None:
        missing = [view for view in self.seen if view.state is None]
        skeletons = [
            node_state.skeleton(view.node, self._snapshot.nodes[view.node]["metadata"]["uid"])
            for view in missing
        ]
        for state in batch.create_missing(self._client, NODE_STATE, skeletons):
            self.views[state["spec"]["node"]].state = state
        self.changed |= bool(missing)

    def _tell_node_states(self, now: float) -> None:
        self._create_node_states()
        self._write_node_statuses(now)
        # Else it would be in force again when RMD goes, objects of it or not.
        vain = [view.state for view in self.seen if view.state and view.is_declared_in_vain]
        batch.merge_specs(
            self._client, NODE_STATE, [(state, {"workloads": None}) for state in vain]
        )
        self.changed |= bool(vain)
        self._own((view, view.ours) for view in self.seen)

    def _write_node_statuses(self, now: float) -> None:
        """Where they differ."""
        statuses = []
        for view in self.seen:
            if view.state is None:
                continue
            before = part(view.state, "status")
            after = node_state.status(before, view.snapshot, view.why, now, boot=view.boot)
            if after != before:
                statuses.append((view.state, after))
                self.changed |= node_state.is_change(before, after)
        batch.write_statuses(self._client, NODE_STATE, statuses)

    def _own(self, owned: Iterable[tuple[View, frozenset[str]]]) -> None:
        """Write down what is ours on nodes, where that is another than before."""
        records: list[tuple[Obj, dict[str, str | None]]] = []
        for view, uuids in owned:
            if view.state is not None and view.owned != uuids:
                records.append((view.state, {OWNED_ANNOTATION: owned_text(uuids)}))
        batch.annotate(self._client, NODE_STATE, records)
        for state, wanted in records:
            known = part(state["metadata"], "annotations")
            state["metadata"]["annotations"] = {**known, **wanted}
        self.changed |= bool(records)

    def _status(self, entry: Declared, now: float) -> Obj:
        return make_status(
            part(entry.object, "status"),
            self.states(entry),
            problem=entry.problem,
            is_deleted=entry.is_deleted,
            generation=int(entry.object["metadata"].get("generation") or 0),
            now=now,
        )


def _boot(node: Mapping[str, Any]) -> str:
    """Which boot of a node this is."""
    return str(part(node, "status", "nodeInfo").get("bootID") or "")


def _offered(view: View, of_pods: set[Name], *, dry: bool) -> int | None:
    """The ways that a node offers, or in check mode would; None where that is not known."""
    snapshot = view.snapshot
    if snapshot is None or snapshot.report is None or view.wanted is None:
        return None
    uuids = {uuid for uuid, name in view.wanted.objects.items() if name in of_pods}
    running = (view.expected if dry else snapshot.running) or ()
    return capacity.offered(snapshot.report, running, uuids)
