# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of operator_info: what another operator was asked for, as options of a recipe of ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._cluster.api_client.client import Client, connect
from .._errors import InvalidInput
from .._json import Obj
from .._runs.context import RunContext
from .._runs.task import Task
from . import device_config, gpu_operator
from .device_config import device_settings
from .field_mapping import ImportedOptions
from .gpu_operator import gpu_settings, open_lists

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]


AMD = "amd-gpu-operator"
_KINDS = {"gpu-operator": gpu_operator.KINDS, AMD: device_config.KINDS}


def run(params: Mapping[str, Any], context: RunContext) -> Obj:
    """operator_info: reads only."""
    source = params["file"]
    kinds = _KINDS[params["operator"]]
    resources = read_documents(str(source)) if source else custom_resources(connect(params), kinds)
    if not resources:
        return {"changed": False, "found": False, "table": []}
    settings = _settings(params["operator"], resources, str(source or "the cluster"))
    table = settings.table()
    for line in table:
        context.notice(line)
    return {
        "changed": False,
        "found": True,
        "recipe": settings.recipe,
        "options": settings.options,
        "pools": list(settings.pools),
        "taken": dict(settings.taken),
        "dropped": dict(settings.dropped),
        "differs": dict(settings.differs),
        "table": table,
    }


def _settings(operator: str, resources: list[Any], where: str) -> ImportedOptions:
    if operator == AMD:
        return device_settings(open_lists(resources, device_config.KINDS, where)["DeviceConfig"])
    return gpu_settings(resources, where)


def custom_resources(client: Client, kinds: Mapping[str, str]) -> list[Obj]:
    """The objects of these kinds (with their API versions) in a cluster, none of those that it does
    not serve."""
    return [
        {**item, "apiVersion": api_version, "kind": kind}
        for kind, api_version in kinds.items()
        if client.serves(api_version, kind)
        for item in client.list(client.kind(api_version, kind)).items
    ]


def read_documents(source: str) -> list[Any]:
    """The objects of a YAML file. Raises InvalidInput where it cannot be read."""
    try:
        text = Path(source).read_text(encoding="utf-8")
        return [found for found in yaml.safe_load_all(text) if found]
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidInput(
            f"{source} cannot be read",
            why=str(error).splitlines()[0],
            todo="name a file with the operator's custom resources",
        ) from None


TASK = Task(None, run)
