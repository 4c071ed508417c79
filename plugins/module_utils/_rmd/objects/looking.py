# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is seen on a node, and what would have to be sent to it. Asks, and changes nothing yet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, Union

from ..nodes.actions import changes, plan
from ..nodes.agents import Agent
from ..nodes.checks import check, machine_for
from ..nodes.node_snapshot import look_at
from ..nodes.node_writer import NodeWriter
from ..rmd_errors import RmdError
from .capacity import cores_of
from .placement import wanted_on
from .view import View
from .workload_spec import Declared, Name

T = TypeVar("T")


def in_parallel(items: Sequence[T], work: Callable[[T], None], workers: int) -> None:
    """Do the same with all of them, several at a time; raises the first exception."""
    with ThreadPoolExecutor(max(1, workers), thread_name_prefix="rmd-objects") as pool:
        list(pool.map(work, items))


def observe(
    view: View, writer: Union[NodeWriter, RmdError, None], agent: Union[Agent, None]
) -> None:
    """Look at a node. None: it has no daemon."""
    if writer is None or agent is None:
        view.why = f"there is no daemon of RMD on node {view.node}; deploy RMD there, or leave the node out"
        return
    if isinstance(writer, RmdError):
        view.why = str(writer).rstrip(".")
        return
    try:
        view.look = look_at(writer, agent)
    except RmdError as error:
        view.why = str(error).rstrip(".")


def judge_node(
    view: View,
    writer: NodeWriter,
    declared: Sequence[Declared],
    targets: Mapping[Name, Collection[str]],
) -> None:
    """Find what has to be sent to a node that was seen, and what of it RMD would refuse."""
    look = view.look
    if look is None:
        return
    cores = cores_of(look.report or {})
    wanted = wanted_on(view.node, declared, targets, look.running, cores, view.owned)
    view.wanted = wanted
    broken = {running.id for running in look.running} if view.has_booted else look.broken
    actions = plan(
        wanted.present,
        wanted.absent,
        look.running,
        adopted=wanted.adopted,
        broken=broken,
        strays=look.strays,
    )
    view.actions, view.refused = list(actions), {}
    if not changes(actions):
        return
    try:
        machine = machine_for(actions, writer)
        view.actions, view.refused = check(actions, look.running, machine, look.report or {})
    except RmdError as error:
        view.look, view.why = None, str(error).rstrip(".")
