# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is another driver, which nodes are drained for, in each recipe whose pods are exchanged one node
after the other."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    DRIVER_ANNOTATION,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    updates_on_delete,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import (
    GROUPS,
    REPO,
    renderer,
)

# What they do not work without.
OPTIONS: dict[str, dict[str, Any]] = {
    "amd-gpu": {"driver_enabled": True, "driver_repository": "registry.example/amd"},
    "nvidia-gpu": {},
    "nvidia-gpu-passthrough": {},
    "simple-kmod": {"repository": "registry.example/kmod"},
    "sriov-nic": {"policies": [{"name": "fast", "vendor": "15b3", "virtual_functions": 2}]},
}


def drivers(recipe: str, **options: Any) -> dict[str, dict[str, Any]]:
    """The templates of the pods, by the DaemonSet's name."""
    render = renderer(REPO / "recipes" / recipe)
    rendering = render("openshift", groups=GROUPS[:1], **{**OPTIONS[recipe], **options})
    return {
        item["metadata"]["name"]: item["spec"]["template"]
        for item in rendering.objects("DaemonSet")
        if updates_on_delete(item)
    }


def said(templates: dict[str, dict[str, Any]]) -> dict[str, str]:
    """What they say that their drivers are."""
    return {
        name: each["metadata"]["annotations"][DRIVER_ANNOTATION] for name, each in templates.items()
    }


def test_they_are_all_tried() -> None:
    found = {
        file.relative_to(REPO / "recipes").parts[0]
        for file in (REPO / "recipes").rglob("*.j2")
        if "type: OnDelete" in file.read_text()
    }
    assert found == set(OPTIONS)


@pytest.mark.parametrize("recipe", OPTIONS)
def test_where_and_how_a_pod_runs_is_no_other_driver(recipe: str) -> None:
    before = drivers(recipe)
    toleration = {"key": "of-ours", "operator": "Exists"}
    after = drivers(
        recipe,
        proxy={"http": "http://proxy.example:3128"},
        priority_class="other",
        tolerations=[toleration],
        image_pull_secrets=["other"],
        cluster={"openshift_version": "4.20.1"},
    )
    assert before
    assert [name for name in before if before[name] == after[name]] == []
    assert said(before) == said(after)


@pytest.mark.parametrize("recipe", OPTIONS)
def test_an_environment_of_its_own_is_another(recipe: str) -> None:
    states = {part(each)["state"] for each in drivers(recipe).values()}
    other = drivers(recipe, env={state: {"SETTING": "other"} for state in states})
    assert set(said(drivers(recipe)).items()) & set(said(other).items()) == set()


def part(template: dict[str, Any]) -> dict[str, str]:
    """The labels that say whose the pods are, by their last word."""
    labels = template["metadata"]["labels"]
    return {name.rpartition("/")[2]: value for name, value in labels.items()}
