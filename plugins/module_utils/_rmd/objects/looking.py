# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at every node: one GET, more only where something has to be sent or the daemon is not known
yet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, Union

from ..actions import Post, Replace, changes, plan
from ..daemon_client import Daemon
from ..rmd_errors import RmdError
from . import judge
from .capacity import measure, recall
from .placement import wanted_on
from .view import MACHINE_ANNOTATION, View
from .workload_spec import Declared, Name

T = TypeVar("T")
Daemons = Mapping[str, Union[Daemon, RmdError]]


def in_parallel(items: Sequence[T], work: Callable[[T], None], workers: int) -> None:
    """Do the same with all of them, several at a time; raises the first exception."""
    with ThreadPoolExecutor(max(1, workers), thread_name_prefix="rmd-objects") as pool:
        list(pool.map(work, items))


def observe(view: View, daemon: Union[Daemon, RmdError, None]) -> None:
    """See what runs on a node. None: it has no daemon."""
    if daemon is None:
        view.why = f"there is no daemon of RMD on node {view.node}; deploy RMD there, or leave the node out"
        return
    if isinstance(daemon, RmdError):
        view.why = str(daemon).rstrip(".")
        return
    view.machine = recall(view.annotations.get(MACHINE_ANNOTATION, ""), view.daemon)
    try:
        view.running = tuple(daemon.workloads())
        if view.machine is None:
            _measure(view, daemon, mba=False)
    except RmdError as error:
        view.running, view.why = None, str(error).rstrip(".")


def judge_node(
    view: View,
    daemon: Daemon,
    declared: Sequence[Declared],
    targets: Mapping[Name, Collection[str]],
) -> None:
    """Find what has to be sent to a node that was seen, and what of it RMD would refuse."""
    if view.running is None or view.machine is None:
        return
    wanted = wanted_on(view.node, declared, targets, view.running, view.machine.cores, view.owned)
    view.wanted = wanted
    actions = plan(wanted.present, wanted.absent, view.running, adopted=wanted.adopted)
    view.actions, view.refused = list(actions), {}
    if not changes(actions):
        return
    try:
        adding = [action.workload for action in actions if isinstance(action, (Post, Replace))]
        known = judge.RuleMachine(dialect=daemon.dialect)
        mba = any(workload.mba for workload in adding)
        if adding and (view.topology is None or mba):
            _measure(view, daemon, mba=mba)
        if adding:
            known = judge.RuleMachine(view.topology, view.policies, daemon.dialect)
        view.actions, view.refused = judge.judge(actions, view.running, known)
    except RmdError as error:
        view.running, view.why = None, str(error).rstrip(".")


def _measure(view: View, daemon: Daemon, *, mba: bool) -> None:
    """Ask what the node's caches and policies are like just now."""
    view.topology, view.policies = daemon.topology(mba=mba), daemon.policies()
    view.machine = measure(view.topology, view.policies, view.running or ())
