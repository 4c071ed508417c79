# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules of Kernel Module Management in files, as kmm_import takes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.action.kmm_import import TASK
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from tests.unit.plugins.module_utils.operators.kmm_modules import DOCKERFILE, Obj, module


def params(folder: Path, *objects: Obj, module: str | None = None) -> Obj:
    """The task's parameters for the Module among these objects, which a file has as a list."""
    file = folder / "module.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    given = {"file": str(file), "module": module, "name": None, "resource": ""}
    return {**given, "recipe_dir": str(folder), "namespace": "default"}


def live(made: Obj) -> Obj:
    """A Module as it is in a file."""
    return {"apiVersion": "kmm.sigs.x-k8s.io/v1beta1", "kind": "Module", **made}


def test_a_file_with_module_and_dockerfile_becomes_a_folder(tmp_path: Path) -> None:
    made = live(module(build={"dockerfileConfigMap": {"name": "d"}}))
    made["metadata"]["name"] = "my.card"
    config_map = {"kind": "ConfigMap", "metadata": {"name": "d"}, "data": {"dockerfile": DOCKERFILE}}  # fmt: skip
    said: list[str] = []
    result = TASK.run(params(tmp_path, made, config_map), RunContext(notice=said.append))
    assert result["path"] == str(tmp_path / "my-card")
    assert (tmp_path / "my-card/build/Containerfile.j2").exists()
    label = "label kmm.node.kubernetes.io/cards.my.card.ready"
    assert "hardware-enablement.io/my-card=ready" in result["differs"][label]
    assert said == result["table"]
    assert any(line.startswith(f"~ {label}: ") for line in said)


def test_what_recipe_check_refuses_is_not_written(tmp_path: Path) -> None:
    given = params(tmp_path, live(module(containerImage="r/card:$$")))
    with pytest.raises(InvalidInput) as caught:
        TASK.run(given, RunContext())
    assert caught.value.why.startswith("recipe_check would refuse it: recipe.yml")
    assert "'r/card:$' is no image reference" in caught.value.why
    assert not (tmp_path / "card").exists()


def test_one_of_several_modules_is_named(tmp_path: Path) -> None:
    modules = [live(module()), live(module())]
    modules[1]["metadata"]["name"] = "other"
    with pytest.raises(InvalidInput) as caught:
        TASK.run(params(tmp_path, *modules), RunContext())
    assert "has 2 Modules that could be meant" in caught.value.what
    result = TASK.run(params(tmp_path, *modules, module="other"), RunContext())
    assert result["path"] == str(tmp_path / "other")
