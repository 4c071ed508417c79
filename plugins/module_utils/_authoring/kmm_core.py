# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of kmm_import: a recipe of one's own, from a Module of Kernel Module Management."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

from .._cluster.api_client.client import Client, connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._cluster.api_client.rights import CLUSTER, Right
from .._errors import InvalidInput
from .._json import Obj
from .._operators.kmm_fields import fields_of, lost_labels
from .._operators.kmm_image import lost_mounts
from .._operators.kmm_module import API_VERSIONS, KIND, kernel_cases, modules_in
from .._operators.kmm_recipe import recipe_files, recipe_name
from .._operators.resource_documents import read_documents
from .._runs.context import RunContext
from .._schema.requests import ParameterGroup
from .new_core import make_recipe

RIGHTS = (
    Right("kmm.sigs.x-k8s.io", ("modules",), ("get",), CLUSTER, read_only=("get",)),
    Right("", ("configmaps",), ("get",), CLUSTER, read_only=("get",)),
)
# What recipe_check says of a recipe's files that is wrong. name: the recipe's.
Check = Callable[[Mapping[str, str], str], Sequence[str]]


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


def run(request: KmmRecipeRequest, context: RunContext, check: Check) -> Obj:
    """Write the recipe's folder, if recipe_check has nothing against it; what it does not say is said
    first."""
    module, config_maps = _read(request.source, request.connection)
    name = request.name or recipe_name(module)
    dockerfiles = _dockerfiles(config_maps)
    files = recipe_files(module, name, request.resource, dockerfiles)
    if wrong := check(files, name):
        raise InvalidInput(
            "the Module cannot be made a recipe",
            why=f"recipe_check would refuse it: {wrong[0]}",
            todo="change that in a copy of the Module, and give the copy as a file",
        )
    found = fields_of(module)
    found.differs |= {**lost_labels(module, name), **lost_mounts(module, dockerfiles)}
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
    live = [
        client.get(client.kind(version, KIND), name, namespace)
        for version in API_VERSIONS
        if client.serves(version, KIND)
    ]
    modules = modules_in([each for each in live if each is not None])
    if not modules:
        raise InvalidInput(
            f"there is no Module {namespace}/{name}",
            where=client.host,
            todo="name one of kubectl get modules --all-namespaces",
        )
    return modules[0], _config_maps(client, modules[0], namespace)


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
        dict(item)
        for document in read_documents(source)
        if isinstance(document, Mapping)
        for item in (document.get("items") or [document])
        if isinstance(item, Mapping)
    ]
    modules = [each for each in modules_in(objects) if wanted in (None, each["metadata"]["name"])]
    if len(modules) != 1:
        raise InvalidInput(
            f"{source} has {len(modules)} Modules that could be meant, and not one",
            todo="give what kubectl get module NAME -o yaml writes, or name it as module",
        )
    return modules[0], [each for each in objects if each.get("kind") == "ConfigMap"]
