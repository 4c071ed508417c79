# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run over many nodes: all look, all prepare, all apply; then all give back, or undo."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from ..._cluster.api_client.client import Client
from ..._errors import EnablementError
from ..._runs.context import RunContext
from .node_lease import NodeLease, all_saved
from .node_results import WriteSettings
from .node_run import NodeRun
from .node_writer import Fleet

# How often the nodes that wait for others renew their Leases; a renewal that is not due costs
# nothing.
_KEEP_S = 5.0


def node_runs(
    client: Client,
    fleet: Fleet,
    nodes: Iterable[str],
    settings: WriteSettings,
    context: RunContext,
) -> list[NodeRun]:
    """A run for each of these nodes, in their order. fleet: with their writers and agents."""
    saved = all_saved(client)
    return [
        NodeRun(
            node,
            fleet.writers[node],
            fleet.agents[node],
            NodeLease(client, node, context),
            settings,
            saved.get(node, ()),
        )
        for node in nodes
    ]


def execute(runs: Sequence[NodeRun], settings: WriteSettings) -> None:
    """Send what follows from what these runs have seen and decided. Raises nothing but bugs.

    With rollback nothing is written anywhere unless all nodes can be prepared, and what was written
    is undone everywhere when one node fails.
    """
    active = [run for run in runs if not run.failed and run.has_work]
    doomed = settings.all_or_nothing and _any_failed(runs)
    if doomed and not settings.check_mode:
        _withhold(active)
        return
    try:
        each(active, NodeRun.prepare, settings)
        if settings.check_mode:
            return
        if settings.all_or_nothing and _any_failed(active):
            _withhold(active)
            return
        _write(active, settings)
    finally:
        each(active, NodeRun.finish, settings)


def _write(prepared: Sequence[NodeRun], settings: WriteSettings) -> None:
    """Apply on all nodes; where one of them ends it for everybody, undo on all."""
    stop = threading.Event()
    each([run for run in prepared if run.is_ready], lambda run: run.apply(stop), settings)
    if stop.is_set():
        each([run for run in prepared if run.has_written], NodeRun.undo, settings)


def each(
    runs: Sequence[NodeRun], phase: Callable[[NodeRun], None], settings: WriteSettings
) -> None:
    """A phase of all nodes, several at a time; those that have gone through it keep their Leases
    meanwhile."""
    with ThreadPoolExecutor(max(1, settings.parallel), thread_name_prefix="rmd") as pool:
        pending: dict[Future[None], NodeRun] = {pool.submit(phase, run): run for run in runs}
        done: list[NodeRun] = []
        while pending:
            finished, _waiting = wait(pending, timeout=_KEEP_S, return_when=FIRST_COMPLETED)
            for future in finished:
                done.append(pending.pop(future))
                future.result()
            if not finished:
                for run in done:
                    _keep(run)


def _any_failed(runs: Iterable[NodeRun]) -> bool:
    return any(run.failed for run in runs)


def _withhold(runs: Sequence[NodeRun]) -> None:
    for run in runs:
        run.withhold()


def _keep(run: NodeRun) -> None:
    # Whether it was lost is found out before the next write.
    with contextlib.suppress(EnablementError):
        if run.lease.is_held:
            run.lease.check()
