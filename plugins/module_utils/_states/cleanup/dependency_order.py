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
from ..._json import Obj, elements, part
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
    enabled = _enabled(_records(connect(request.connection)) if ordered else [])
    return {
        "changed": False,
        "dependencies": [_row(each, graph[each.name], enabled.get(each.name)) for each in ordered],
    }


def _row(dependency: Dependency, row: Mapping[str, Any], record: Obj | None) -> Obj:
    """What is to be done about one of them. row: what it says of itself; record: where it is enabled."""
    own = {"options": {**row["options"], **dependency.options}, "namespace": row["namespace"]}
    spec = part(record or {}, "spec")
    return {
        "name": dependency.name,
        "recipe_dir": row["recipe_dir"],
        "instance": record["metadata"]["name"] if record else dependency.name,
        "options": dict(part(spec, "options")) if record else own["options"],
        "namespace": spec["namespace"] if record else own["namespace"],
        "pools": list(elements(spec, "pools")),
        "enabled": record is not None,
        "unfinished": record is not None and not _is_ready(record),
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
        if recipe in elements(record["spec"], "depends")
    )
    if needed_by:
        raise EnablementError(
            f"{name} is not removed",
            why=f"{', '.join(needed_by)} depend{'s' if len(needed_by) == 1 else ''} on it",
            todo=f"disable {needed_by[0]} first, or set force (in the playbooks hardware_enablement_force)",
        )


def _is_ready(record: Obj) -> bool:
    """Whether its last run has found it ready everywhere, so that nothing of it is left to apply."""
    conditions = elements(record, "status", "conditions")
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _enabled(records: Iterable[Obj]) -> dict[str, Obj]:
    """Recipe -> its record: by its own name, else that of one of its instances."""
    found: dict[str, Obj] = {}
    for record in records:
        recipe = str(record["spec"].get("recipe"))
        found[recipe] = (
            record if record["metadata"]["name"] == recipe else found.get(recipe, record)
        )
    return found


def _records(client: Client) -> list[Obj]:
    return client.list(RECORD).items if client.serves(RECORD.api_version, RECORD.kind) else []


TASK = Task(DependenciesRequest, run)
