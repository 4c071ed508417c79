# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Node condition that says what the summary label says, for what reads conditions and no labels:
node-readiness-controller, autoscalers, monitoring. Pure.

It is written by the strategic merge of a node's status, in which each writer has conditions of its own
(core/v1 NodeStatus: patchMergeKey type)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..._cluster.api_client.rights import CLUSTER, Right
from ..._cluster.api_objects.labels import summary_label
from ..._json import Obj

# RBAC cannot limit a patch to a condition.
RIGHTS = (Right("", ("nodes/status",), ("patch",), CLUSTER),)
_SUMMARY_READY = "ready"


@dataclass(frozen=True)
class ProvenCondition:
    """Status ("True", "False") and reason of the condition of a recipe on a node."""

    status: str
    reason: str


def is_wanted(options: Mapping[str, Any]) -> bool:
    """Whether the user wants conditions at nodes."""
    return "node_condition" in options and bool(options["node_condition"])


def found_in(conditions: Mapping[str, tuple[str, str]], recipe: str) -> ProvenCondition | None:
    """The condition of a recipe among those that a node has. conditions: as NodeFacts has them."""
    known = conditions.get(summary_label(recipe))
    return ProvenCondition(*known) if known else None


def saying(summary: str | None) -> ProvenCondition | None:
    """The condition that says the same as a summary label; None for none."""
    if summary is None:
        return None
    words = summary.replace(".", "_").split("_")
    reason = "".join(word[:1].upper() + word[1:] for word in words)
    return ProvenCondition(str(summary == _SUMMARY_READY), reason)


def status_patch(
    before: ProvenCondition | None, after: ProvenCondition | None, recipe: str, moment: str
) -> Obj | None:
    """The strategic merge patch of a node's status, None where nothing changes. The time of the last
    transition stays while the status does. moment: now, as an API timestamp."""
    if before == after:
        return None
    entry: Obj = {"type": summary_label(recipe)}
    if after is None:
        entry["$patch"] = "delete"
    else:
        entry |= {
            "status": after.status,
            "reason": after.reason,
            "message": _MESSAGES[after.status].format(recipe=recipe),
            "lastHeartbeatTime": moment,
        }
        if before is None or before.status != after.status:
            entry["lastTransitionTime"] = moment
    return {"status": {"conditions": [entry]}}


_MESSAGES = {
    "True": "all that {recipe} deploys for this node is proven",
    "False": "{recipe} is not proven on this node; the playbook status says why",
}
