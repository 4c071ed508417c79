# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the nodes do what RMD says: the agents are asked until they agree with it, for a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Union

from .._cluster.client import Client
from .agents import Report, find_agents, read_reports
from .rmd_errors import RmdError
from .verify import differences
from .workloads import RunningWorkload

_PAUSE_S = 1.0


def check_nodes(
    client: Client,
    namespace: str,
    running: Mapping[str, Sequence[RunningWorkload]],
    *,
    wait_s: float,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, RmdError]:
    """Node -> what is wrong there; nodes on which all is well are left out.

    running: what RMD says of each node. wait_s: how long an agent may take to see what was written
    just now.
    """
    deadline = time.monotonic() + wait_s
    agents = find_agents(client, namespace) if running else {}
    left = dict(running)
    while True:
        reports = read_reports(client, namespace, agents, sorted(left))
        found = {
            node: error
            for node in left
            if (error := _judge(node, reports[node], left[node])) is not None
        }
        left = {node: left[node] for node in found}
        if not left or time.monotonic() >= deadline:
            return found
        sleep(_PAUSE_S)


def _judge(
    node: str, report: Union[Report, RmdError], running: Sequence[RunningWorkload]
) -> Union[RmdError, None]:
    if isinstance(report, RmdError):
        return report
    found = differences(report, running)
    if not found:
        return None
    what = "The node does not do what RMD says"
    return RmdError(what, kind="verify", where=f"node {node}", why="; ".join(found))
