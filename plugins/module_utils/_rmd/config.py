# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of rmd_config: the operator's RmdConfig object as options of the recipe, and its status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from .._cluster.api_client.client import Client, connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._cluster.api_objects.diff import make_diff
from .._json import Obj, elements, part
from .._runs.context import RunContext
from .._runs.task import Task
from .objects.object_store import config_status
from .objects.operator_names import CONFIG, CONFIG_NAME, HOME_NAMESPACE


@dataclass(frozen=True)
class RmdConfigRequest:
    """What the RmdConfig is to say. nodes: those of RMD, None to say nothing. problem: why RMD does
    not answer on all of them."""

    connection: ConnectionRequest
    nodes: Optional[Sequence[str]]
    problem: str


def run(request: RmdConfigRequest, context: RunContext) -> Obj:
    """rmd_config: what the object asks for; with nodes, what it says of them."""
    client = connect(request.connection)
    config = client.get(CONFIG, CONFIG_NAME, HOME_NAMESPACE)
    if config is None:
        return {"changed": False, "found": False, "options": {}}
    result: Obj = {"changed": False, "found": True, "options": options_of(part(config, "spec"))}
    if request.nodes is not None:
        result |= _tell(client, config, request.nodes, request.problem, context)
    return result


def options_of(spec: Mapping[str, Any]) -> Obj:
    """The recipe's options that an RmdConfig sets; what it leaves empty is left to the recipe."""
    options: Obj = {}
    if spec.get("rmdImage"):
        options["rmd_image"] = spec["rmdImage"]
    if spec.get("backend"):
        options["backend"] = spec["backend"]
    if spec.get("rmdNodeSelector"):
        options["hardware_labels"] = [dict(spec["rmdNodeSelector"])]
    return options


def _tell(
    client: Client, config: Obj, names: Sequence[str], problem: str, context: RunContext
) -> Obj:
    before = part(config, "status")
    ready = (
        (False, "NotReady", problem) if problem else (True, "Deployed", "RMD answers on all nodes")
    )
    status = config_status(config, names, ready, context.clock())
    if status == {name: before.get(name) for name in status}:
        return {}
    if not context.check_mode:
        client.patch(CONFIG, CONFIG_NAME, HOME_NAMESPACE, {"status": status}, subresource="status")
    nodes = make_diff(f"the nodes of RmdConfig {CONFIG_NAME}", elements(before, "nodes"), names)
    return {"changed": True, **context.show([nodes])}


TASK = Task(RmdConfigRequest, run)
