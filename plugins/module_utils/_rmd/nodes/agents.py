# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the agents say of their nodes: the last complete line of each one's log.

It writes its whole view as one line of JSON when that changes. One that divides the cache itself
says so in a label of its pod."""

from __future__ import annotations

from typing import Optional

from ..._cluster.api_client.api_errors import ApiError
from ..._cluster.api_client.client import Client
from ..._cluster.api_objects.controller_references import is_made_by, runs_as
from ..._cluster.api_objects.labels import DOMAIN
from ..._json import Obj, parse_json, part
from ..rmd_errors import RmdError
from .report_fields import Report, is_report


def own_pods(client: Client, namespace: str, daemonset: str, labels: str) -> list[Obj]:
    """The pods with these labels that a DaemonSet of this name has made. Two requests at most."""
    pods = client.list(client.kind("v1", "Pod"), namespace=namespace, labels=labels).items
    maker = client.get(client.kind("apps/v1", "DaemonSet"), daemonset, namespace) if pods else None
    if maker is None:
        return []
    return [pod for pod in pods if is_made_by(pod, maker) and runs_as(pod, maker)]


LABELS = "app.kubernetes.io/name=intel-rmd,app.kubernetes.io/component=agent"
DAEMONSET, CONTAINER = "intel-rmd-agent", "agent"
BACK_END_LABEL, RESCTRL = f"{DOMAIN}/rmd-backend", "resctrl"
SCHEMA = 3
# The last line may be half written.
_LINES = 2


class Agent:
    """The agent of one node. pod: its name, "" where none runs. divides: whether it is what divides
    the node's cache."""

    def __init__(
        self, client: Client, namespace: str, node: str, pod: str, *, divides: bool = False
    ) -> None:
        self.node = node
        self.pod = pod
        self.divides = divides
        self._client = client
        self._namespace = namespace

    def report(self) -> Report:
        """What it sees of its node. One request. Raises RmdError where there is nothing to go
        by."""
        if not self.pod:
            raise self._none(f"no pod of the agent runs there in namespace {self._namespace}")
        try:
            text = self._client.logs(self._namespace, self.pod, container=CONTAINER, tail=_LINES)
        except ApiError as error:
            raise self._none(str(error.why), error.todo) from error
        found = parse_report(text)
        if found is None:
            why = f"the log of its pod {self.pod} holds none of this version"
            raise self._none(why, "see that log, or deploy RMD again")
        return found

    def _none(self, why: str, todo: str = "") -> RmdError:
        return RmdError(
            "There is no report of the agent",
            kind="unverified",
            where=f"node {self.node}",
            why=why,
            todo=todo,
        )


def find_agents(client: Client, namespace: str) -> dict[str, Agent]:
    """The agents of the nodes where one runs."""
    live = [
        pod
        for pod in own_pods(client, namespace, DAEMONSET, LABELS)
        if part(pod, "status").get("phase") == "Running"
        and "deletionTimestamp" not in pod["metadata"]
    ]
    live.sort(key=lambda pod: str(pod["metadata"].get("creationTimestamp") or ""))
    found = {}
    for pod in live:
        node, metadata = str(pod["spec"].get("nodeName") or ""), pod["metadata"]
        divides = part(metadata, "labels").get(BACK_END_LABEL) == RESCTRL
        found[node] = Agent(client, namespace, node, metadata["name"], divides=divides)
    return found


def parse_report(text: str) -> Optional[Report]:
    """The newest report in the end of a log, or None."""
    for line in reversed(text.splitlines()):
        try:
            found = parse_json(line)
        except ValueError:
            continue
        if isinstance(found, dict) and found.get("schema") == SCHEMA and is_report(found):
            return found
    return None
