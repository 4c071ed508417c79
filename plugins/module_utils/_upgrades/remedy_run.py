# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of node_remedy: free the nodes that are at fault, try the recipe's remedies, and give back
those that are proven again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .._cluster.api_client.client import Client, connect
from .._json import Obj, part
from .._nodes.upgrade_marks import QUARANTINED, NodeUpgrade, read_upgrade
from .._runs.context import RunContext
from .._runs.guard import Guard, given_back
from .._runs.task import Task
from .._states.desired import Desired
from .._states.on_nodes.node_upgrades import write_upgrade
from .._times import timestamp
from .exchange_run import (
    concluded,
    deployed,
    refuse_missing_rights,
    result_of,
    walk,
    what_is_left,
)
from .faulty_nodes import FaultyNodes
from .remedy_settings import NodeRemedyRequest, RemedySettings, make_remedy_settings


def run(request: NodeRemedyRequest, context: RunContext) -> Obj:
    """Plan, release, try remedies one after another."""
    client = connect(request.connection)
    desired = deployed(client, request.given, context)
    settings = make_remedy_settings(desired.prepared, request)
    settings = replace(settings, faults=_of_members(settings.faults, desired, context))
    if not context.check_mode:
        refuse_missing_rights(client, desired)
    with given_back(client, desired.recipe.name, context):
        if settings.released and not context.check_mode:
            _release(client, settings, desired, context)
        fleet, report = walk(
            desired,
            settings.exchange,
            lambda survey: FaultyNodes(survey, settings, context.clock),
            request.exchange.proving,
            context,
        )
        result = result_of(fleet, report)
    left = what_is_left(result, fleet.outcome)
    short = "Not every node was mended"
    return concluded(
        result, left, short, context, require_ready=request.exchange.proving.require_ready
    )


def _of_members(faults: Mapping[str, str], desired: Desired, context: RunContext) -> dict[str, str]:
    """The faults of nodes that are the recipe's; one that has left needs no remedy."""
    members = {node.name for node in desired.members}
    for name in sorted(faults.keys() - members):
        context.notice(f"{name} is no node of {desired.recipe.name}, and nothing is done there")
    return {name: fault for name, fault in faults.items() if name in members}


def _release(
    client: Client, settings: RemedySettings, desired: Desired, context: RunContext
) -> None:
    """Let the proofs end the quarantine of nodes, whose day begins anew."""
    recipe, now = desired.recipe.name, timestamp(context.clock())

    def make(live: Obj) -> NodeUpgrade | None:
        before = read_upgrade(part(live["metadata"], "annotations"), recipe)
        if before is None or before.phase != QUARANTINED:
            return before
        return NodeUpgrade(QUARANTINED, before.target, now, reason="released, and to be proven")

    guard = Guard(client, recipe, context)
    for name in sorted(settings.released):
        guard.before_write()
        write_upgrade(client, name, recipe, make)


TASK = Task(NodeRemedyRequest, run)
