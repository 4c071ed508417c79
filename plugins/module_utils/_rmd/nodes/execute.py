# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run over many nodes: all look, all prepare, all apply; then all give back, or undo."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from ..._cluster.client import Client
from ..._errors import EnablementError
from ..._runs.context import RunContext
from ..rmd_errors import RmdError
from .node_fleet import Fleet
from .node_lease import NodeLease, all_saved
from .node_results import FAILED, KEEP, NodeJob, NodeReport, WriteSettings
from .node_run import NodeRun

# How often the nodes that wait for others renew their Leases; a renewal that is not due costs
# nothing.
_KEEP_S = 5.0


def execute(
    client: Client,
    fleet: Fleet,
    jobs: Sequence[NodeJob],
    settings: WriteSettings,
    context: RunContext,
) -> list[NodeReport]:
    """What became of each job, in their order. Raises nothing but bugs, and EnablementError before
    the first write.

    fleet: with a writer and an agent of each job's node. With rollback nothing is written anywhere
    unless all nodes can be prepared, and what was written is undone everywhere when one node fails.
    """
    saved = all_saved(client)
    reports: dict[str, NodeReport] = {}
    runs: list[NodeRun] = []
    for job in jobs:
        writer = fleet.writers[job.node]
        if isinstance(writer, RmdError):
            reports[job.node] = NodeReport(job.node, FAILED, error=writer)
        else:
            lease = NodeLease(client, job.node, context)
            agent = fleet.agents[job.node]
            runs.append(NodeRun(job, writer, agent, lease, settings, saved.get(job.node, [])))
            reports[job.node] = runs[-1].report
    _play(runs, settings, any(isinstance(fleet.writers[job.node], RmdError) for job in jobs))
    return [reports[job.node] for job in jobs]


def _play(runs: Sequence[NodeRun], settings: WriteSettings, one_is_missing: bool) -> None:
    all_or_nothing = settings.on_partial_failure != KEEP
    with ThreadPoolExecutor(max(1, settings.parallel), thread_name_prefix="rmd") as pool:
        _each(pool, runs, NodeRun.observe)
        active = [run for run in runs if not run.failed and run.has_work]
        doomed = all_or_nothing and (one_is_missing or any(run.failed for run in runs))
        if doomed and not settings.check_mode:
            _withhold(active)
            return
        try:
            _each(pool, active, NodeRun.prepare)
            if settings.check_mode:
                return
            if all_or_nothing and any(run.failed for run in active):
                _withhold(active)
                return
            stop = threading.Event()
            _each(pool, [run for run in active if run.is_ready], lambda run: run.apply(stop))
            if stop.is_set():
                _each(pool, [run for run in active if run.has_written], NodeRun.undo)
        finally:
            _each(pool, active, NodeRun.finish)


def _withhold(runs: Sequence[NodeRun]) -> None:
    for run in runs:
        run.withhold()


def _each(
    pool: ThreadPoolExecutor, runs: Sequence[NodeRun], phase: Callable[[NodeRun], None]
) -> None:
    """A phase of all nodes, several at a time; those that have gone through it keep their Leases
    meanwhile."""
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


def _keep(run: NodeRun) -> None:
    # Whether it was lost is found out before the next write.
    with contextlib.suppress(EnablementError):
        if run.lease.is_held:
            run.lease.check()
