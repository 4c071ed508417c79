# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file with an operator's custom resources, read and tried on the recipe."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.connection_request import (
    ConnectionRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.operator_info import (
    AMD,
    OperatorInfoRequest,
    run,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.recipe_request import (
    RecipeRequest,
)

Obj = dict[str, Any]
BUNDLE = read_bundle(Path(__file__).parents[5] / "recipes" / "amd-gpu")


def info(
    tmp_path: Path, resource: Obj, recipe: str = "amd-gpu", **given: Any
) -> tuple[Obj, list[str]]:
    """The result, and what was shown."""
    file = tmp_path / "x.yaml"
    file.write_text(json.dumps(resource))
    shown: list[str] = []
    asked = RecipeRequest(recipe, bundle=BUNDLE, **given)
    request = OperatorInfoRequest(ConnectionRequest(), AMD, asked, str(file))
    return run(request, RunContext(notice=shown.append)), shown


def config(**spec: Any) -> Obj:
    """A DeviceConfig."""
    version = "amd.com/v1alpha1"
    return {"apiVersion": version, "kind": "DeviceConfig", "metadata": {"name": "a"}, "spec": spec}


def test_what_enable_takes_is_not_refused(tmp_path: Path) -> None:
    result, shown = info(tmp_path, config(driver={"enable": False}))
    assert (result["found"], result["refused"]) == (True, "")
    assert result["taken"] == {"driver.enable": "driver_enabled"}
    assert shown == result["table"]


def test_what_enable_refuses_is_said_at_the_head_of_the_table(tmp_path: Path) -> None:
    result, shown = info(tmp_path, config(driver={"version": "1"}))
    assert "nothing names one" in result["refused"]
    assert shown[1] == f"! enable refuses this: {result['refused']}"


def test_what_a_person_gives_wins_and_no_recipe_is_asked_without_its_name(tmp_path: Path) -> None:
    lacking = config(driver={"version": "1"})
    given = {"options": {"driver_repository": "r.io/amdgpu"}}
    assert info(tmp_path, lacking, **given)[0]["refused"] == ""
    assert info(tmp_path, lacking, recipe="")[0]["refused"] == ""


def test_an_empty_list_is_nothing(tmp_path: Path) -> None:
    empty = {"apiVersion": "v1", "kind": "List", "items": []}
    assert info(tmp_path, empty)[0] == {"changed": False, "found": False, "table": []}
