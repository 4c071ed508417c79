# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of kmm_import: a recipe of one's own, from a Module of Kernel Module Management."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

from .._cluster.api_client.client import Client, connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._cluster.api_client.rights import CLUSTER, Right
from .._errors import InvalidInput
from .._json import Obj
from .._operators.kmm_module import API_VERSION, KIND, fields_of, kernel_cases
from .._operators.kmm_recipe import recipe_files
from .._operators.operator_info import read_documents
from .._runs.context import RunContext
from .._runs.task import Task
from .._schema.requests import ParameterGroup
from .new_core import make_recipe

RIGHTS = (
    Right("kmm.sigs.x-k8s.io", ("modules",), ("get",), CLUSTER, read_only=("get",)),
    Right("", ("configmaps",), ("get",), CLUSTER, read_only=("get",)),
)


@dataclass(frozen=True)
class ModuleSource(ParameterGroup):
    """Where a Module of Kernel Module Management is: in a file, else in a namespace of the cluster.
    module: its name."""

    file: Optional[str]
    module: Optional[str]
    namespace: str


@dataclass(frozen=True)
class KmmRecipeRequest:
    """What kmm_import makes a recipe of. name: the recipe's, None for the Module's; resource: the
    extended resource of its device plugin, "" for none."""

    connection: ConnectionRequest
    source: ModuleSource
    name: Optional[str]
    recipe_dir: str
    resource: str


def run(request: KmmRecipeRequest, context: RunContext) -> Obj:
    """Write the recipe's folder; what it does not say is said first."""
    module, config_maps = _read(request.source, request.connection)
    name = request.name or str(module["metadata"]["name"])
    files = recipe_files(module, name, request.resource, _dockerfiles(config_maps))
    found = fields_of(module)
    lines = [f"- {path} has no counterpart: {why}" for path, why in sorted(found.dropped.items())]
    lines += [f"~ {path}: {why}" for path, why in sorted(found.differs.items())]
    lines += [f"  {path} -> {option}" for path, option in sorted(found.taken.items())]
    for line in lines:
        context.notice(line)
    made = make_recipe(request.recipe_dir, name, files, context)
    return {
        **made,
        "taken": found.taken,
        "dropped": found.dropped,
        "differs": found.differs,
        "table": lines,
    }


def _dockerfiles(config_maps: Sequence[Obj]) -> dict[str, str]:
    """Name of a ConfigMap -> the Dockerfile in it."""
    return {
        str(each["metadata"]["name"]): str((each.get("data") or {})["dockerfile"])
        for each in config_maps
        if "dockerfile" in (each.get("data") or {})
    }


def _read(source: ModuleSource, connection: ConnectionRequest) -> tuple[Obj, Sequence[Obj]]:
    """The Module, and the ConfigMaps with its Dockerfiles."""
    if source.file:
        return _in_file(source.file, source.module)
    if not source.module:
        raise InvalidInput("no Module is named", todo="give module, or file")
    client = connect(connection)
    namespace, name = source.namespace, source.module
    served = client.serves(API_VERSION, KIND)
    module = client.get(client.kind(API_VERSION, KIND), name, namespace) if served else None
    if module is None:
        raise InvalidInput(
            f"there is no Module {namespace}/{name}",
            where=client.host,
            todo="name one of kubectl get modules --all-namespaces",
        )
    return module, _config_maps(client, module, namespace)


def _config_maps(client: Client, module: Obj, namespace: str) -> list[Obj]:
    kind = client.kind("v1", "ConfigMap")
    names = {
        str(name)
        for case in kernel_cases(module)
        if (name := (case.build.get("dockerfileConfigMap") or {}).get("name"))
    }
    live = [client.get(kind, name, namespace) for name in sorted(names)]
    return [each for each in live if each is not None]


def _in_file(source: str, wanted: str | None) -> tuple[Obj, Sequence[Obj]]:
    objects = [
        item
        for document in read_documents(source)
        if isinstance(document, Mapping)
        for item in (document.get("items") or [document])
        if isinstance(item, Mapping)
    ]
    modules = [
        dict(each)
        for each in objects
        if (each.get("apiVersion"), each.get("kind")) == (API_VERSION, KIND)
        and wanted in (None, each["metadata"]["name"])
    ]
    if len(modules) != 1:
        raise InvalidInput(
            f"{source} has {len(modules)} Modules that could be meant, and not one",
            todo="give what kubectl get module NAME -o yaml writes, or name it as module",
        )
    return modules[0], [dict(each) for each in objects if each.get("kind") == "ConfigMap"]


TASK = Task(KmmRecipeRequest, run)
