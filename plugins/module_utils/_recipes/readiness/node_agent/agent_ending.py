# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the node agent ends because its node is none of the recipe's any more, or to be replaced."""

from __future__ import annotations

import time
from collections.abc import Callable

from .configuration import AgentConfiguration
from .node_conditions import matches
from .watched_objects import NO_ANSWER, Api, ApiServerError

# For so long it asks again; with two answers that do not come it is within the 10 s that the pod has.
PATIENCE_S = 3.0
TIMEOUT_S = 2.0
_AGAIN_S = 0.5


def has_left(
    api: Api,
    configuration: AgentConfiguration,
    node: str,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> bool:
    """Whether the agent ends for good on a node. It asks anew: a watch may lag behind what ended the
    pod. Where nobody answers, it has not left, so the labels stay until they expire."""
    deadline = clock() + PATIENCE_S
    while True:
        try:
            return _is_none_of_ours(api, configuration, node)
        except ApiServerError as error:
            # Its rights are taken away with it.
            if error.status in (401, 403, 404):
                return True
        except NO_ANSWER:
            pass
        if clock() > deadline:
            return False
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
