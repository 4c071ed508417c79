# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the agents say of their nodes: the last complete line of each one's log.

An agent has no access to the API server. It writes its whole view as one line of JSON when that
changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any, Optional, Union

from .._cluster.api_errors import ApiError
from .._cluster.client import Client
from .endpoints import AGENT_LABELS
from .rmd_errors import RmdError

Report = Mapping[str, Any]

CONTAINER = "agent"
SCHEMA = 1
_WORKERS = 8
# The last line may be half written.
_LINES = 2


def find_agents(client: Client, namespace: str) -> dict[str, str]:
    """Node -> the agent's pod that runs there. One request."""
    pods = client.list(client.kind("v1", "Pod"), namespace=namespace, labels=AGENT_LABELS).items
    live = [
        pod
        for pod in pods
        if (pod.get("status") or {}).get("phase") == "Running" and not _is_going(pod)
    ]
    live.sort(key=lambda pod: str(pod["metadata"].get("creationTimestamp") or ""))
    return {str(pod["spec"].get("nodeName") or ""): pod["metadata"]["name"] for pod in live}


def read_reports(
    client: Client, namespace: str, agents: Mapping[str, str], nodes: Collection[str]
) -> dict[str, Union[Report, RmdError]]:
    """The report of each node, or why there is none. One request for each agent, several at a time."""

    def call(node: str) -> Callable[[], Union[Report, RmdError]]:
        return lambda: _read(client, namespace, agents.get(node, ""), node)

    found = client.parallel([call(node) for node in nodes], workers=_WORKERS)
    return {
        node: _none(node, str(answer.why), answer.todo) if isinstance(answer, ApiError) else answer
        for node, answer in zip(nodes, found, strict=True)
    }


def parse_report(text: str) -> Optional[Report]:
    """The newest report in the end of a log, or None."""
    for line in reversed(text.splitlines()):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict) and found.get("schema") == SCHEMA:
            return found
    return None


def _read(client: Client, namespace: str, pod: str, node: str) -> Union[Report, RmdError]:
    if not pod:
        return _none(node, f"no pod of the agent runs there in namespace {namespace}")
    report = parse_report(client.logs(namespace, pod, container=CONTAINER, tail=_LINES))
    return (
        _none(node, f"the log of its pod {pod} holds none", "see that log")
        if report is None
        else report
    )


def _is_going(pod: Mapping[str, Any]) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def _none(node: str, why: str, todo: str = "") -> RmdError:
    return RmdError(
        "There is no report of the agent",
        kind="unverified",
        where=f"node {node}",
        why=why,
        todo=todo,
    )
