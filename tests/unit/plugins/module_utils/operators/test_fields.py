# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each field of the GPU operators' custom resources, set alone, is in exactly one list, and what is
called taken is in the result. The cases are made of the CRDs, not of our tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.pools import parse_pools
from ansible_collections.hardware.enablement.plugins.module_utils._operators.field_mapping import (
    ImportedOptions,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    of_pool,
    resolve,
)
from tests.operator_fields import FieldCase, at_path
from tests.operator_fields.counterparts import (
    CASES,
    DRIVER,
    IMPORTS,
    POLICY,
    TABLES,
    TYPES,
    holding,
    in_context,
    merged,
    named,
    switched_on,
    without_counterpart,
)

RECIPES = {
    name: load(read_bundle(Path(__file__).parents[5] / "recipes" / name), name)
    for name in ("nvidia-gpu", "amd-gpu")
}


def refuse_foreign(found: ImportedOptions) -> None:
    """Raise InvalidInput for options and pools that the recipe does not have."""
    recipe = RECIPES[found.recipe]
    options = resolve(recipe, found.options)
    for pool in parse_pools(found.pools):
        of_pool(recipe, pool.name, options, pool.options)


@pytest.mark.parametrize(("kind", "case"), CASES, ids=lambda each: str(each)[:90])
def test_a_field_that_is_set_alone_is_in_one_list_and_in_the_result_if_it_is_taken(
    kind: str, case: FieldCase
) -> None:
    for around in ({}, switched_on(kind, case)):
        base = IMPORTS[kind](around)
        found = IMPORTS[kind](merged(around, case.spec))
        lists = named(kind, found.lists)
        (holder,) = holding(case, lists)
        changes = (found.options, found.pools) != (base.options, base.pools)
        assert changes or holder != "taken", f"{case} says taken and changes nothing"
        assert not changes or holder != "same", f"{case} says nothing and changes something"
        refuse_foreign(found)


# How many there are; who makes an option for one takes it off. Counted like this there were 115 and 69
# before the driver was given anything.
NO_COUNTERPART = {POLICY: 56, DRIVER: 40}


@pytest.mark.parametrize("kind", NO_COUNTERPART)
def test_fewer_fields_than_before_have_no_counterpart(kind: str) -> None:
    found = without_counterpart(kind)
    assert len(found) == NO_COUNTERPART[kind], found
    assert all(found.values())


@pytest.mark.parametrize("kind", TABLES)
def test_a_part_of_an_image_is_taken_with_the_others(kind: str) -> None:
    for each, case in CASES:
        if each == kind and case.path.endswith((".repository", ".image", ".version")):
            found = named(kind, IMPORTS[kind](in_context(kind, case)).lists)
            assert "image together" not in " ".join(found["dropped"].values()), case


@pytest.mark.parametrize("kind", TABLES)
def test_no_table_speaks_of_a_field_that_is_not_there(kind: str) -> None:
    parts = {
        ".".join(path.split(".")[:count])
        for path in TYPES[kind]
        for count in range(1, path.count(".") + 2)
    }
    fields, switches = TABLES[kind]
    switching = [f"{name}.{switch.name}" for name, switch in switches.items()]
    assert sorted({*fields, *switching} - parts) == []


@pytest.mark.parametrize("kind", TABLES)
def test_a_field_that_nobody_knows_is_said(kind: str) -> None:
    found = IMPORTS[kind]({"later": {"new": 1}})
    assert named(kind, found.lists)["dropped"].keys() == {"later.new"}


@pytest.mark.parametrize("kind", TABLES)
def test_a_label_without_a_value_is_a_label(kind: str) -> None:
    for path, type_ in TYPES[kind].items():
        if type_ == "map of string" and path.endswith(("elector", "abels")) and "[]" not in path:
            found = IMPORTS[kind](at_path(path, {"node-role.kubernetes.io/worker": ""}))
            assert any(named(kind, found.lists).values()), path


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("empty", ["", {}, [], None])
def test_what_is_empty_is_not_set(kind: str, empty: Any) -> None:
    for path in TYPES[kind]:
        if "[]" not in path:
            found = IMPORTS[kind](at_path(path, empty))
            assert not any(named(kind, found.lists).values()), path
