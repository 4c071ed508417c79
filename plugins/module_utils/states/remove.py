# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove what states own, in the reverse of the order in which they were made, and wait until it is gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.apply import Change, delete_and_wait
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.diff import render_diff
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.labels import STATE_LABEL, summary_label
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.rights import CLUSTER, Right
from ansible_collections.hardware.enablement.plugins.module_utils.errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.model import State
from ansible_collections.hardware.enablement.plugins.module_utils.states.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils.states.guard import Guard
from ansible_collections.hardware.enablement.plugins.module_utils.states.ownership import find_owned
from ansible_collections.hardware.enablement.plugins.module_utils.states.prepare import Prepared
from ansible_collections.hardware.enablement.plugins.module_utils.states.prune import NEVER
from ansible_collections.hardware.enablement.plugins.module_utils.states.record import store

Obj = dict[str, Any]


# Whether somebody still holds the devices of what is removed.
RIGHTS = (Right("", ("pods",), ("list",), CLUSTER),)


def states(
    client: Client, prepared: Prepared, chosen: Sequence[State], params: Mapping[str, Any], context: RunContext
) -> Obj:
    """Remove the chosen states' objects; Namespaces and CRDs stay, and so does what another state owns."""
    record = store.read(client, prepared.recipe.name)
    if not params["force"]:
        refuse_while_used(client, prepared)
    names = [state.name for state in chosen]
    live = find_owned(client, prepared, names, record)
    keys = [key for key in live if key.kind not in NEVER]
    changes = [Change(key, "delete", live[key], None) for key in keys]
    if keys and not context.check_mode:
        guard = Guard(client, prepared.recipe.name, context)
        guard.before_write()
        delete_and_wait(client, keys, timeout=float(params["wait_timeout"]), guard=guard.before_write)
    result: Obj = {
        "changed": bool(changes),
        "states": [
            {
                "name": name,
                "changes": [
                    {"action": "delete", "object": str(key)}
                    for key in keys
                    if (live[key]["metadata"].get("labels") or {}).get(STATE_LABEL) == name
                ],
            }
            for name in names
        ],
    }
    if context.diff:
        result["diff"] = render_diff(changes)
    return result


def refuse_while_used(client: Client, prepared: Prepared) -> None:
    """Raise EnablementError where pods still hold the recipe's devices."""
    holders = []
    kind, label = client.kind("v1", "Node"), summary_label(prepared.recipe.name)
    ours = {node["metadata"]["name"] for node in client.list(kind, labels=label, metadata_only=True).items}
    for pod in client.list(client.kind("v1", "Pod"), fields="status.phase=Running").items:
        # Another instance may serve the same resource on other nodes.
        if ours and pod["spec"].get("nodeName") not in ours:
            continue
        for container in pod["spec"].get("containers") or []:
            limits = (container.get("resources") or {}).get("limits") or {}
            if any(prepared.serves(name) for name in limits):
                holders.append(f"{pod['metadata']['namespace']}/{pod['metadata']['name']}")
                break
    if holders:
        more = f" and {len(holders) - 3} more" if len(holders) > 3 else ""
        raise EnablementError(
            f"{prepared.recipe.name} is in use, so it is not removed",
            where=f"pods {', '.join(sorted(holders)[:3])}{more}",
            why="they hold its devices",
            todo="end these pods first, or set force (in the playbooks hardware_enablement_force)",
        )
