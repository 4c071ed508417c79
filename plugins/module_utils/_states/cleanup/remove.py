# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove what states own, in the reverse of the order in which they were made, and wait until it is
gone."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._cluster.api_client.client import Client
from ..._cluster.api_objects.changes import Change
from ..._cluster.api_objects.labels import state_of
from ..._cluster.api_objects.objects import ObjectKey
from ..._cluster.executing import execute
from ..._cluster.removal import delete_and_wait
from ..._errors import EnablementError
from ..._json import Obj
from ..._recipes.loading.recipe import State
from ..._runs.context import RunContext
from ..._runs.guard import Guard
from ..._runs.wait_progress import WaitProgress
from ..._schema.requests import ParameterGroup
from ..on_nodes.holders import find_holders, in_words
from ..on_nodes.leftovers import find_marked
from ..preparation.prepare import Prepared
from ..record import adopted, record_store
from .dependency_order import refuse_while_needed
from .ownership import find_owned, gone_states
from .prune import NEVER
from .removal_order import removal_stages
from .removal_report import report_removal


@dataclass(frozen=True)
class RemovalRequest(ParameterGroup):
    """force: also where devices are in use, or something depends on them. wait_timeout: seconds until
    all has to be gone."""

    force: bool = False
    wait_timeout: int = 300


def states(
    client: Client,
    prepared: Prepared,
    chosen: Sequence[State],
    request: RemovalRequest,
    context: RunContext,
    *,
    show: bool,
) -> Obj:
    """Remove the chosen states' objects; Namespaces and CRDs stay, and so does what another state
    owns. show: whether what would only be removed is shown."""
    record = record_store.read(client, prepared.recipe.name)
    if not request.force:
        refuse_while_needed(client, prepared.recipe.name, prepared.recipe.source.name)
        refuse_while_used(client, prepared)
    names = [state.name for state in chosen]
    names += gone_states(prepared, names, record)
    removal = _plan(client, prepared, names, record)
    changes = removal.changes
    if changes and not context.check_mode:
        _carry_out(removal, client, prepared, context, float(request.wait_timeout))
    result: Obj = {
        "changed": bool(changes),
        "states": [{"name": name, "changes": removal.rows(name)} for name in names],
        "release_role": prepared.recipe.removal.release_role,
        "instance": prepared.recipe.name,
    }
    if context.diff:
        result["diff"] = context.diff_of(changes)
    elif changes and (show or not context.check_mode):
        lines = report_removal(
            [change.key for change in removal.gone],
            [change.key for change in removal.restored],
            named=context.verbosity > 0,
            would=context.check_mode,
        )
        context.notice("\n".join(lines))
    return result


@dataclass(frozen=True)
class PlannedRemoval:
    """What goes or is given back, of objects as they are (live)."""

    changes: Sequence[Change]
    live: Mapping[ObjectKey, Obj]

    @property
    def gone(self) -> list[Change]:
        """What is deleted."""
        return [change for change in self.changes if change.action == "delete"]

    @property
    def restored(self) -> list[Change]:
        """What was there before us, and becomes again what it was."""
        return [change for change in self.changes if change.action == "restore"]

    def rows(self, state: str) -> list[dict[str, str]]:
        """The changes to a state's objects."""
        return [
            {"action": change.action, "object": str(change.key)}
            for change in self.changes
            if state_of(self.live[change.key]) == state
        ]


def _plan(
    client: Client, prepared: Prepared, names: Sequence[str], record: Mapping[str, Any] | None
) -> PlannedRemoval:
    """What the named states own."""
    live = find_owned(client, prepared, names, record)
    keys = [key for key in live if key.kind not in NEVER]
    taken_over = adopted.read(record)
    return PlannedRemoval([adopted.removal(key, live[key], taken_over) for key in keys], live)


def _carry_out(
    removal: PlannedRemoval,
    client: Client,
    prepared: Prepared,
    context: RunContext,
    timeout_s: float,
) -> None:
    """Take the lock, delete in stages, waiting for each, and give back what was taken over."""
    guard = Guard(client, prepared.recipe.name, context)
    guard.before_write()
    say = WaitProgress(context)
    deadline = time.monotonic() + timeout_s
    going = [change.key for change in removal.gone]
    uids = {key: removal.live[key]["metadata"]["uid"] for key in going}
    for stage in removal_stages(going, removal.live, prepared.recipe):
        left_s = max(deadline - time.monotonic(), 0)
        delete_and_wait(client, stage, timeout=left_s, guard=guard.before_write, say=say, uids=uids)
    execute(client, removal.restored, guard=guard.before_write)


def refuse_while_used(client: Client, prepared: Prepared) -> None:
    """Raise EnablementError where pods still hold the recipe's devices."""
    # Another instance may serve the same resource on other nodes.
    ours = {node["metadata"]["name"] for node in find_marked(client, prepared.recipe.name)}
    held = find_holders(client, prepared, ours or None)
    if held:
        raise EnablementError(
            f"{prepared.recipe.name} is in use, so it is not removed",
            where=in_words(pod for pods in held.values() for pod in pods),
            why="they hold its devices",
            todo="end these pods first, or set force (in the playbooks hardware_enablement_force)",
        )
