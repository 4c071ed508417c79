# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cores of special_resource and special_resource_info: the cluster's own record of what is
enabled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Optional

from .._cluster.api_client.client import connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._errors import InvalidInput
from .._json import Obj, part
from .._runs.context import RunContext
from .._runs.task import Task
from .preparation.prepare import prepare
from .preparation.recipe_request import RecipeRequest
from .record import record_store
from .record.crd import API_VERSION, KIND, RECORD
from .record_writer import write_report
from .resource_removal import ResourceRemovalRequest, remove_resource


@dataclass(frozen=True, kw_only=True)
class SpecialResourceRequest:
    """report: the result of state_validate that the record is to tell."""

    connection: ConnectionRequest
    given: RecipeRequest
    run_id: Optional[str] = None
    state: Literal["present", "absent"] = "present"
    report: Optional[Mapping[str, Any]] = None
    removal: ResourceRemovalRequest = field(default_factory=ResourceRemovalRequest)


@dataclass(frozen=True)
class SpecialResourceInfoRequest:
    """name: of one record; None for all."""

    connection: ConnectionRequest
    name: Optional[str] = None


def run(request: SpecialResourceRequest, context: RunContext) -> Obj:
    """special_resource: write the record from a validation report, or remove it and what is left of
    the resource."""
    client = connect(request.connection)
    present = request.state == "present"
    prepared = prepare(request.given, context, client, complete=present)
    if not present:
        return remove_resource(client, prepared, request.removal, context)
    report = request.report
    if not report or "states" not in report:
        raise InvalidInput(
            "the record cannot be written",
            why="report is not a result of state_validate",
            todo="register one and pass it",
        )
    return write_report(client, prepared, prepared.record, report, context)


def info(request: SpecialResourceInfoRequest, _context: RunContext) -> Obj:
    """special_resource_info: the records, by name, as the API server has them without its own
    bookkeeping."""
    client = connect(request.connection)
    record = record_store.read(client, request.name) if request.name else None
    records = [record] if record else []
    if not record and client.serves(API_VERSION, KIND):
        everything = client.list(RECORD).items
        records = _found_as(everything, request.name) if request.name else everything
    return {
        "changed": False,
        "resources": [
            {
                "name": record["metadata"]["name"],
                "spec": part(record, "spec"),
                "status": part(record, "status"),
                "created": record["metadata"].get("creationTimestamp"),
            }
            for record in records
        ],
    }


def _found_as(records: Sequence[Obj], name: str) -> list[Obj]:
    """The records of a chart whose folder is called so, and not as the chart is."""
    return [record for record in records if part(record, "spec").get("foundAs") == name]


TASK = Task(SpecialResourceRequest, run)
INFO_TASK = Task(SpecialResourceInfoRequest, info)
