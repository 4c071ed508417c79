# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of run_lock: take or release a special resource's lock by hand, or at the end of a
playbook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from .._cluster.api_client.client import connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._cluster.lease import RunLock, read
from .._json import Obj
from .._runs.context import RunContext
from .._runs.task import Task


@dataclass(frozen=True)
class RunLockRequest:
    """What run_lock is to do. force: also release the lock of another run."""

    connection: ConnectionRequest
    run_id: Optional[str]
    recipe: str
    state: Literal["present", "absent"]
    force: bool


def run(request: RunLockRequest, context: RunContext) -> Obj:
    """Take the lock (renewing it where this run has it), or release it; force releases somebody
    else's."""
    client = connect(request.connection)
    name = request.recipe
    held = read(client, name)
    mine = held is not None and held.holder == context.run_id
    if request.state == "present":
        if not context.check_mode:
            RunLock(client, name, context.run_id, info=context.run_info).acquire()
        return {"changed": not mine, "holder": context.run_id}
    if held is None or not held.holder or not (mine or request.force):
        return {"changed": False, "holder": held.holder if held else ""}
    if not context.check_mode:
        RunLock(client, name, held.holder, info=held.info).release()
    return {"changed": True, "holder": ""}


TASK = Task(RunLockRequest, run)
