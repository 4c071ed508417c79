# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of operator_info: what another operator was asked for, as options of a recipe of ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._cluster.client import Client, connect
from .._errors import InvalidInput
from .._json import Obj
from .._runs.context import RunContext
from .gpu_operator import KINDS, gpu_settings

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]


def run(params: Mapping[str, Any], context: RunContext) -> Obj:
    """operator_info: reads only."""
    source = params["file"]
    resources = _documents(str(source)) if source else custom_resources(connect(params))
    if not resources:
        return {"changed": False, "found": False, "table": []}
    settings = gpu_settings(resources, str(source or "the cluster"))
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


def custom_resources(client: Client) -> list[Obj]:
    """The operator's objects in a cluster, none where it does not serve their kinds."""
    return [
        {**item, "apiVersion": api_version, "kind": kind}
        for kind, api_version in KINDS.items()
        if client.serves(api_version, kind)
        for item in client.list(client.kind(api_version, kind)).items
    ]


def _documents(source: str) -> list[Any]:
    try:
        text = Path(source).read_text(encoding="utf-8")
        return [found for found in yaml.safe_load_all(text) if found]
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidInput(
            f"{source} cannot be read",
            why=str(error).splitlines()[0],
            todo="name a file with the operator's custom resources",
        ) from None
