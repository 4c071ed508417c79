# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of cluster_info: which cluster a run speaks to."""

from __future__ import annotations

from dataclasses import asdict

from .._cluster.api_client.client import connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._cluster.api_client.identity import identify
from .._json import Obj
from .._runs.context import RunContext
from .._runs.task import Task


def run(request: ConnectionRequest, context: RunContext) -> Obj:
    """Address, context and UID, which a person is shown too. Raises EnablementError where it is not
    the pinned one."""
    identity = identify(connect(request))
    context.notice(str(identity))
    return {"changed": False, **asdict(identity)}


TASK = Task(ConnectionRequest, run)
