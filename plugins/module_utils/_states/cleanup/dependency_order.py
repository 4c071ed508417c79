# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of recipe_dependencies: what is enabled before a recipe, and as what it is enabled
already. What depends on a recipe that is to be removed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from ..._cluster.api_client.client import Client, connect
from ..._cluster.api_client.connection_request import ConnectionRequest
from ..._errors import EnablementError, InvalidInput
from ..._json import Obj, part
from ..._recipes.loading.dependencies import in_order
from ..._recipes.loading.recipe import Dependency
from ..._runs.context import RunContext
from ..._runs.task import Task
from ..record.crd import RECORD


@dataclass(frozen=True)
class DependenciesRequest:
    """graph: recipe -> what it says of itself and of those that it depends on; the action plugin
    reads it, and so knows depends already."""

    connection: ConnectionRequest
    recipe: str
    recipe_dir: Optional[str]
    depends: Sequence[Mapping[str, Any]]
    graph: Optional[Mapping[str, Obj]]


def run(request: DependenciesRequest, _context: RunContext) -> Obj:
    """What a recipe depends on, in the order in which it is enabled. Reads only."""
    name, graph = request.recipe, request.graph
    if not graph:
        raise InvalidInput(
            f"what recipe {name!r} depends on is not known here",
            why="this module runs without its action plugin, which reads the recipes",
            todo="run it with Ansible",
        )
    parsed = {
        each: [Dependency(**entry) for entry in row["depends"]] for each, row in graph.items()
    }
    ordered = in_order(name, parsed)
    records = _records(connect(request.connection)) if ordered else []
    enabled = _enabled(records)
    unfinished = {record["metadata"]["name"] for record in records if not _is_ready(record)}
    return {
        "changed": False,
        "dependencies": [
            {
                "name": dependency.name,
                "options": {**graph[dependency.name]["options"], **dependency.options},
                "recipe_dir": graph[dependency.name]["recipe_dir"],
                "instance": enabled.get(dependency.name, dependency.name),
                "enabled": dependency.name in enabled,
                "unfinished": enabled.get(dependency.name) in unfinished
                and not graph[dependency.name]["looks_images_up"],
                "namespace": graph[dependency.name]["namespace"],
            }
            for dependency in ordered
        ],
    }


def refuse_while_needed(client: Client, name: str, recipe: str) -> None:
    """Raise EnablementError where something that is enabled depends on a recipe of which this is the
    only instance. name: what it is enabled as."""
    others = [record for record in _records(client) if record["metadata"]["name"] != name]
    if any(record["spec"].get("recipe") == recipe for record in others):
        return
    needed_by = sorted(
        record["metadata"]["name"]
        for record in others
        if recipe in (record["spec"].get("depends") or [])
    )
    if needed_by:
        raise EnablementError(
            f"{name} is not removed",
            why=f"{', '.join(needed_by)} depend{'s' if len(needed_by) == 1 else ''} on it",
            todo=f"disable {needed_by[0]} first, or set force (in the playbooks hardware_enablement_force)",
        )


def _is_ready(record: Obj) -> bool:
    """Whether its last run has found it ready everywhere, so that nothing of it is left to apply."""
    conditions = part(record, "status").get("conditions") or []
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _enabled(records: Iterable[Obj]) -> dict[str, str]:
    """Recipe -> what it is enabled as: by its own name, else as one of its instances."""
    found: dict[str, str] = {}
    for record in records:
        name, recipe = record["metadata"]["name"], str(record["spec"].get("recipe"))
        found[recipe] = name if name == recipe else found.get(recipe, name)
    return found


def _records(client: Client) -> list[Obj]:
    return client.list(RECORD).items if client.serves(RECORD.api_version, RECORD.kind) else []


TASK = Task(DependenciesRequest, run)
