# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of operator_info: what another operator was asked for, as options of a recipe of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Optional

from .._cluster.api_client.client import Client, connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._errors import InvalidInput
from .._json import Obj, elements
from .._nodes.facts import NodeFacts
from .._nodes.pools import check_membership
from .._runs.context import RunContext
from .._runs.task import Task
from .._states.preparation.discover import list_nodes, with_terms
from .._states.preparation.prepare import prepare
from .._states.preparation.recipe_request import RecipeRequest
from . import device_config, gpu_operator
from .device_config import device_settings
from .field_mapping import ImportedOptions
from .gpu_operator import gpu_settings, open_lists
from .resource_documents import read_documents
from .settings_trial import refusal

AMD = "amd-gpu-operator"
_KINDS = {"gpu-operator": gpu_operator.KINDS, AMD: device_config.KINDS}


@dataclass(frozen=True)
class OperatorInfoRequest:
    """What operator_info is asked. file: instead of the cluster, one with the custom resources. given:
    the recipe that is to take them, with the options and pools that a person gives; of no name, no
    recipe is asked."""

    connection: ConnectionRequest
    operator: Literal["gpu-operator", "amd-gpu-operator"]
    given: RecipeRequest
    file: Optional[str] = None


def run(request: OperatorInfoRequest, context: RunContext) -> Obj:
    """operator_info: reads only."""
    client = None if request.file else connect(request.connection)
    if client is None:
        resources = [*_without_lists(read_documents(str(request.file)))]
    else:
        resources = custom_resources(client, _KINDS[request.operator])
    if not resources:
        return {"changed": False, "found": False, "table": []}
    settings = _settings(request.operator, resources, request.file or "the cluster")
    refused = _refusal(request.given, settings, client, context)
    table = settings.table()
    if refused:
        table.insert(1, f"! enable refuses this: {refused}")
    for line in table:
        context.notice(line)
    return {
        "changed": False,
        "found": True,
        "recipe": settings.recipe,
        "options": settings.options,
        "pools": list(settings.pools),
        **settings.lists,
        "refused": refused,
        "table": table,
    }


def _without_lists(resources: Sequence[Any]) -> Iterator[Any]:
    """The objects of a file, those of lists in their place: kubectl writes an empty one for none."""
    for each in resources:
        if isinstance(each, Mapping) and str(each.get("kind")).endswith("List"):
            yield from _without_lists(elements(each, "items"))
        else:
            yield each


def _settings(operator: str, resources: list[Any], where: str) -> ImportedOptions:
    if operator == AMD:
        return device_settings(open_lists(resources, device_config.KINDS, where)["DeviceConfig"])
    return gpu_settings(resources, where)


def _refusal(
    given: RecipeRequest, settings: ImportedOptions, client: Client | None, context: RunContext
) -> str:
    """Why enable would not take the settings, with what a person gives besides; "" where it would.
    Where there is a cluster, its nodes are looked at as well."""
    if not given.recipe:
        return ""
    options = {**settings.options, **(given.options or {})}
    pools = settings.pools if given.pools is None else given.pools
    error = refusal(given.bundle or {}, given.recipe, options, pools)
    if error is None and client is not None:
        error = _refused_by_nodes(
            replace(given, options=options, pools=list(pools)), client, context
        )
    return str(error) if error else ""


def _refused_by_nodes(
    asked: RecipeRequest, client: Client, context: RunContext
) -> InvalidInput | None:
    """Nodes that are in two pools, pools without a node, and what else only a cluster shows."""
    try:
        prepared = prepare(asked, context, client)
        nodes = [NodeFacts.from_object(each) for each in list_nodes(client, prepared.selector)]
        check_membership(with_terms(client, prepared.pools), nodes)
    except InvalidInput as error:
        return error
    return None


def custom_resources(client: Client, kinds: Mapping[str, str]) -> list[Obj]:
    """The objects of these kinds (with their API versions) in a cluster, none of those that it does
    not serve."""
    return [
        {**item, "apiVersion": api_version, "kind": kind}
        for kind, api_version in kinds.items()
        if client.serves(api_version, kind)
        for item in client.list(client.kind(api_version, kind)).items
    ]


TASK = Task(OperatorInfoRequest, run)
