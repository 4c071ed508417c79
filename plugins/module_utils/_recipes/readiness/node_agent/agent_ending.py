# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the node agent ends because its node is none of the recipe's any more, or to be replaced."""

from __future__ import annotations

import enum
import time
from collections.abc import Callable

from .configuration import AgentConfiguration
from .node_conditions import matches
from .watched_objects import NO_ANSWER, Api, ApiServerError

# How long the pod has to end.
GRACE_S = 30
# For so long it asks again. A busy machine needs seconds for a connection alone; two answers that do not come,
# each after a connection that took its time, are within the grace.
PATIENCE_S = 8.0
TIMEOUT_S = 5.0
_AGAIN_S = 0.5


class Ending(enum.Enum):
    """Why an agent is told to end."""

    LEFT = enum.auto()
    REPLACED = enum.auto()
    UNKNOWN = enum.auto()


def why_it_ends(
    api: Api,
    configuration: AgentConfiguration,
    node: str,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Ending:
    """Whether the agent ends for good on a node. It asks anew: a watch may lag behind what ended the
    pod."""
    deadline = clock() + PATIENCE_S
    while True:
        try:
            left = _is_none_of_ours(api, configuration, node)
            return Ending.LEFT if left else Ending.REPLACED
        except ApiServerError as error:
            # Its rights are taken away with it.
            if error.status in (401, 403, 404):
                return Ending.LEFT
        except NO_ANSWER:
            pass
        if clock() > deadline:
            return Ending.UNKNOWN
        sleep(_AGAIN_S)


def _is_none_of_ours(api: Api, configuration: AgentConfiguration, node: str) -> bool:
    path = (
        f"/apis/apps/v1/namespaces/{configuration.namespace}/daemonsets/{configuration.daemonset}"
    )
    (daemonset,) = api.get(path, timeout=TIMEOUT_S)
    if daemonset["metadata"].get("deletionTimestamp"):
        return True
    affinity = daemonset["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    this = {"fieldSelector": f"metadata.name={node}"}
    (found,) = api.get("/api/v1/nodes", this, timeout=TIMEOUT_S)
    return not all(matches(each, terms) for each in found["items"])
