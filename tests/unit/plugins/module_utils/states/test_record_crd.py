# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record's CRD: what kubectl shows and explains; and the versions that the record keeps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._nodes.groups import (
    GroupSystem,
    NodeGroup,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Option,
    Recipe,
    RecipeSource,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record import versions
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.crd import (
    definition,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.record_status import (
    make_status,
    with_last_check,
    with_proven,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    Result,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.report import (
    summarize,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world

REPO = Path(__file__).resolve().parents[5]
SOURCE = RecipeSource("demo", files={"recipe.yml": "text"})
RECIPE = Recipe(
    name="demo",
    namespace="demo",
    source=SOURCE,
    driver_version="{{ options.driver_version }}",
    options={
        "driver_version": Option("driver_version"),
        "password": Option("password", no_log=True),
    },
)


def version() -> dict[str, Any]:
    """The only version of the CRD."""
    (only,) = definition()["spec"]["versions"]
    return dict(only)


def test_whoever_writes_the_spec_writes_all_of_it() -> None:
    """What another manager had added beside ours would stay in it for ever."""
    spec = version()["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert spec["x-kubernetes-map-type"] == "atomic"


@pytest.mark.parametrize(
    ("field", "right", "wrong"),
    [
        ("recipe", "nvidia-gpu", "../gpu"),
        ("recipe", "a", "{{ 7 }}"),
        ("namespace", "gpu", "gpu/pods"),
        ("namespace", "gpu-1", "GPU"),
        ("foundAs", "kmod-v1.0.0", "../../etc"),
        ("foundAs", "chart of us", ".."),
    ],
)
def test_what_becomes_part_of_a_path_looks_like_a_name(field: str, right: str, wrong: str) -> None:
    schema = version()["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"][field]
    assert re.search(schema["pattern"], right)
    assert not re.search(schema["pattern"], wrong)
    assert schema["maxLength"] <= 255


def undescribed(schema: dict[str, Any], path: str) -> Iterator[str]:
    """The fields that kubectl explain would say nothing of."""
    for name, field in schema.get("properties", {}).items():
        if not field.get("description"):
            yield f"{path}.{name}"
        yield from undescribed(field, f"{path}.{name}")
    if "items" in schema:
        yield from undescribed(schema["items"], f"{path}[]")


def unknown(value: Any, schema: dict[str, Any], path: str) -> Iterator[str]:
    """The fields of a value that an API server would drop."""
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return
    if isinstance(value, dict):
        for name, entry in value.items():
            if name not in schema["properties"]:
                yield f"{path}.{name}"
            else:
                yield from unknown(entry, schema["properties"][name], f"{path}.{name}")
    elif isinstance(value, list):
        for entry in value:
            yield from unknown(entry, schema["items"], f"{path}[]")


def test_every_field_is_explained() -> None:
    assert list(undescribed(version()["schema"]["openAPIV3Schema"], "")) == []


def test_nothing_that_a_run_writes_is_dropped() -> None:
    crash = Result("driver", Phase.FAILED, "CrashLoopBackOff", "why", since=world.NOW, final=True)
    behind = Result(
        "plugin",
        Phase.BLOCKED,
        "Requires.driver",
        "why",
        cause="driver",
        since=world.NOW,
        final=True,
    )
    groups = [NodeGroup("old", ("kernel",), GroupSystem("5.15"), nodes=("n1",))]
    plans = [world.plan("driver"), world.plan("plugin", requires=("driver",))]
    report = summarize(
        plans,
        {("n1", "driver"): crash, ("n1", "plugin"): behind},
        groups,
        {"n1": "old"},
        all_nodes=False,
    )
    found = versions.versions(RECIPE, {"driver_version": "7.1"})
    moment = "2026-01-01T00:00:00Z"
    row = {"node": "n1", "phase": "upgrading", "since": moment, "message": "why"}
    report["upgrades"] = [row]
    status = with_last_check(make_status(report, {}, 1, moment, found), {}, moment)
    assert status["upgrades"] == [row]
    asked = {"options": {"a": 1}, "pools": [{"name": "p", "options": {"b": 2}}]}
    whole = {"ready": True, "restarts_pending": [], "upgrades": [], "allocation": []}
    status = with_proven(status, whole, asked, moment)
    assert status["proven"]["options"] == {"a": 1}
    assert status["causes"][0]["blocked"] == [{"state": "plugin", "nodes": 1}]
    assert (
        list(unknown(status, version()["schema"]["openAPIV3Schema"]["properties"]["status"], ""))
        == []
    )


LATER = "2026-02-02T00:00:00Z"


def test_what_was_proven_last_is_kept_while_something_else_is_on_its_way() -> None:
    whole = {"ready": True, "restarts_pending": [], "upgrades": [], "allocation": []}
    first = with_proven({"versions": {"driver": "1"}}, whole, {"options": {"a": 1}}, "t")
    assert first["proven"] == {
        "options": {"a": 1},
        "pools": [],
        "images": [],
        "driver": "1",
        "since": "t",
    }
    # The same again is no news.
    assert with_proven(first, whole, {"options": {"a": 1}}, LATER) == first
    moving = {"way": "device-plugin", "wanted": "dra", "nodes": ["n1"]}
    for other in (
        {"ready": False},
        {"restarts_pending": ["n1"]},
        {"upgrades": [{}]},
        {"allocation": [moving]},
    ):
        assert with_proven(first, {**whole, **other}, {"options": {"a": 2}}, LATER) == first
    moved = {**whole, "allocation": [{**moving, "way": "dra"}]}
    changed = with_proven(first, moved, {"options": {"a": 2}}, LATER)["proven"]
    assert (changed["options"], changed["since"]) == ({"a": 2}, LATER)


def test_what_wide_output_adds() -> None:
    columns = version()["additionalPrinterColumns"]
    assert [column["name"] for column in columns if "priority" not in column] == [
        "Phase",
        "Nodes",
        "Kernels",
        "Age",
    ]
    wide = [column["name"] for column in columns if column.get("priority") == 1]
    assert wide == ["Driver", "Since", "Checked", "Message"]


def test_both_short_names_are_served() -> None:
    assert definition()["spec"]["names"]["shortNames"] == ["hwe", "sr"]


def test_the_collections_version_is_galaxys() -> None:
    assert yaml.safe_load((REPO / "galaxy.yml").read_text())["version"] == versions.COLLECTION


def test_a_recipe_without_a_version_is_known_by_its_files() -> None:
    found = versions.versions(RECIPE, {"driver_version": "7.1", "password": "secret"})
    assert found["driver"] == "7.1"
    assert found["recipe"].startswith("sha256:")
    changed = replace(RECIPE, source=replace(SOURCE, files={"recipe.yml": "other text"}))
    assert versions.versions(changed, {"driver_version": "7.1"})["recipe"] != found["recipe"]
    assert (
        versions.versions(
            replace(RECIPE, source=replace(SOURCE, version="1.2")), {"driver_version": "7.1"}
        )["recipe"]
        == "1.2"
    )
