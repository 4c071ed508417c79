# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifests that all contenders apply: a recipe's states as the collection renders them for a
cluster."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    connect,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.connection_request import (
    ConnectionRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    DOMAIN,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    render_state,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.discover import (
    discovery_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.prepare import (
    prepare,
    render_facts,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.recipe_request import (
    RecipeRequest,
)

Obj = dict[str, Any]


@dataclass(frozen=True)
class Manifests:
    """The same objects three times: in one file, in a file for each state, in a file for each
    object."""

    together: Path
    by_state: Sequence[Path]
    by_object: Sequence[Path]


def render(recipe_folder: Path, kubeconfig: Path) -> dict[str, list[Obj]]:
    """State -> its objects, of those states that have any; namespaces first, as kubectl needs them."""
    client = connect(ConnectionRequest(kubeconfig=str(kubeconfig)))
    prepared = prepare(
        RecipeRequest(recipe_folder.name, bundle=read_bundle(recipe_folder)), RunContext(), client
    )
    facts = render_facts(prepared, client, *discovery_of(client, prepared, None), None)
    rendered = {
        name: render_state(prepared.recipe, name, facts).objects for name in prepared.recipe.states
    }
    return {
        name: sorted((item.manifest for item in items), key=lambda obj: obj["kind"] != "Namespace")
        for name, items in rendered.items()
        if items
    }


def ungated(states: dict[str, list[Obj]]) -> dict[str, list[Obj]]:
    """The same objects, whose pods wait for no label of ours: they start wherever the hardware is.
    All are rolled out, as kubectl waits for no others."""

    def stripped(value: Any) -> Any:
        if isinstance(value, dict):
            kept = {name: entry for name, entry in value.items() if name != "updateStrategy"}
            return {name: stripped(entry) for name, entry in kept.items()}
        if isinstance(value, list):
            return [stripped(entry) for entry in value if not _is_ours(entry)]
        return value

    return {name: [stripped(obj) for obj in objects] for name, objects in states.items()}


def _is_ours(entry: Any) -> bool:
    """Whether an entry is an expression about a label of ours."""
    return (
        isinstance(entry, dict)
        and "operator" in entry
        and str(entry.get("key")).startswith(f"{DOMAIN}/")
    )


def write(states: dict[str, list[Obj]], folder: Path) -> Manifests:
    """Write the objects to a new folder (as JSON, which is YAML)."""
    folder.mkdir()
    every = [obj for objects in states.values() for obj in objects]
    return Manifests(
        together=_write(folder / "all.yaml", every),
        by_state=[_write(folder / f"{name}.yaml", objects) for name, objects in states.items()],
        by_object=[_write(folder / f"{number:02}.yaml", [obj]) for number, obj in enumerate(every)],
    )


def _write(file: Path, objects: list[Obj]) -> Path:
    file.write_text("\n---\n".join(json.dumps(obj) for obj in objects))
    return file
