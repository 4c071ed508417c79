# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pods of the daemon and of the agents: what is asked, believed and shown credentials. Labels
find them; that their DaemonSet made them decides."""

from __future__ import annotations

from ..._cluster.api_client.client import Client
from ..._cluster.api_objects.controller_references import is_made_by, runs_as
from ..._json import Obj


def own_pods(client: Client, namespace: str, daemonset: str, labels: str) -> list[Obj]:
    """The pods with these labels that a DaemonSet of this name has made. Two requests at most."""
    pods = client.list(client.kind("v1", "Pod"), namespace=namespace, labels=labels).items
    maker = client.get(client.kind("apps/v1", "DaemonSet"), daemonset, namespace) if pods else None
    if maker is None:
        return []
    return [pod for pod in pods if is_made_by(pod, maker) and runs_as(pod, maker)]
