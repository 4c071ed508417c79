# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove what states own, in the reverse of the order in which they were made, and wait until it is
gone."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

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
from ..on_nodes.holders import find_holders, in_words
from ..on_nodes.leftovers import find_marked
from ..preparation.prepare import Prepared
from ..record import adopted, record_store
from .dependency_order import refuse_while_needed
from .ownership import find_owned, gone_states
from .prune import NEVER
from .removal_order import removal_stages
from .removal_report import report_removal


def states(
    client: Client,
    prepared: Prepared,
    chosen: Sequence[State],
    context: RunContext,
    *,
    force: bool,
    timeout_s: float,
) -> Obj:
    """Remove the chosen states' objects; Namespaces and CRDs stay, and so does what another state
    owns. force: also where they are in use, or something depends on them."""
    record = record_store.read(client, prepared.recipe.name)
    if not force:
        refuse_while_needed(client, prepared.recipe.name, prepared.recipe.recipe)
        refuse_while_used(client, prepared)
    names = [state.name for state in chosen]
    names += gone_states(prepared, names, record)
    live = find_owned(client, prepared, names, record)
    keys = [key for key in live if key.kind not in NEVER]
    taken_over = adopted.read(record)
    changes = [adopted.removal(key, live[key], taken_over) for key in keys]
    gone = [change for change in changes if change.action == "delete"]
    restored = [change for change in changes if change.action == "restore"]
    if changes and not context.check_mode:
        guard = Guard(client, prepared.recipe.name, context)
        guard.before_write()
        deadline = time.monotonic() + timeout_s
        stages = removal_stages([change.key for change in gone], live, prepared.recipe)
        for stage in stages:
            left_s = max(deadline - time.monotonic(), 0)
            delete_and_wait(client, stage, timeout=left_s, guard=guard.before_write)
        execute(client, restored, guard=guard.before_write)
    result: Obj = {
        "changed": bool(changes),
        "states": [{"name": name, "changes": _rows(name, changes, live)} for name in names],
        "release_role": prepared.recipe.release_role,
    }
    if context.diff:
        result["diff"] = context.diff_of(changes)
    elif changes:
        lines = report_removal(
            [change.key for change in gone],
            [change.key for change in restored],
            named=context.verbosity > 0,
            would=context.check_mode,
        )
        context.notice("\n".join(lines))
    return result


def _rows(
    state: str, changes: Sequence[Change], live: Mapping[ObjectKey, Obj]
) -> list[dict[str, str]]:
    """The changes to a state's objects."""
    return [
        {"action": change.action, "object": str(change.key)}
        for change in changes
        if state_of(live[change.key]) == state
    ]


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
