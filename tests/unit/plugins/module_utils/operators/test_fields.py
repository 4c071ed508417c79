# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each field of the GPU operators' custom resources, set alone, is in exactly one list, and what is
called taken is in the result. The cases are made of the CRDs, not of our tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.pools import parse_pools
from ansible_collections.hardware.enablement.plugins.module_utils._operators import (
    cluster_policy,
    device_config,
    nvidia_driver,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.device_config import (
    device_settings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.field_mapping import (
    Fields,
    ImportedOptions,
    Switches,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.gpu_operator import (
    gpu_settings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    of_pool,
    resolve,
)
from tests.operator_fields import FieldCase, FieldTypes, at_path, cases, fields_of

Obj = dict[str, Any]
Import = Callable[[Obj], ImportedOptions]

POLICY, DRIVER = "nvidia.com/v1/ClusterPolicy", "nvidia.com/v1alpha1/NVIDIADriver"
CONFIG = "amd.com/v1alpha1/DeviceConfig"
TYPES: FieldTypes = {**fields_of("nvidia"), **fields_of("amd")}


def resource(kind: str, spec: Obj) -> Obj:
    """A custom resource; kind: with its API version."""
    version, _slash, name = kind.rpartition("/")
    return {"apiVersion": version, "kind": name, "metadata": {"name": "one"}, "spec": spec}


def of_driver(spec: Obj) -> ImportedOptions:
    """An NVIDIADriver of a cluster whose policy goes by them."""
    policy = resource(POLICY, {"driver": {"useNvidiaDriverCRD": True}})
    return gpu_settings([policy, resource(DRIVER, spec)], "x")


IMPORTS: dict[str, Import] = {
    POLICY: lambda spec: gpu_settings([resource(POLICY, spec)], "x"),
    DRIVER: of_driver,
    CONFIG: lambda spec: device_settings([resource(CONFIG, spec)]),
}
TABLES: dict[str, tuple[Fields, Switches]] = {
    POLICY: (cluster_policy.FIELDS, cluster_policy.SWITCHES),
    DRIVER: (nvidia_driver.FIELDS, nvidia_driver.SWITCHES),
    CONFIG: (device_config.FIELDS, device_config.SWITCHES),
}
RECIPES = {
    name: load(read_bundle(Path(__file__).parents[5] / "recipes" / name), name)
    for name in ("nvidia-gpu", "amd-gpu")
}
CASES = [(kind, case) for kind in IMPORTS for case in cases(TYPES[kind])]


def named(kind: str, lists: Obj) -> dict[str, list[str]]:
    """List -> the fields in it that are this resource's."""
    prefix = "NVIDIADriver one: " if kind == DRIVER else ""
    return {
        name: [path.removeprefix(prefix) for path in found if path.startswith(prefix)]
        for name, found in lists.items()
    }


def holding(case: FieldCase, lists: dict[str, list[str]]) -> list[str]:
    """The lists that have a field, what it is part of, or its entries."""
    return [
        name
        for name, paths in lists.items()
        if any(
            f"{a}.".startswith(f"{b}.") for p in paths for a, b in ((p, case.path), (case.path, p))
        )
    ]


def switched_on(kind: str, case: FieldCase) -> Obj:
    """A spec with the field, where the parts that it is in are on."""
    spec: Obj = {}
    for name, switch in TABLES[kind][1].items():
        if case.path.startswith(f"{name}.") and case.path != f"{name}.{switch.name}":
            spec = merged(spec, at_path(f"{name}.{switch.name}", True))
    return spec


def merged(one: Obj, other: Obj) -> Obj:
    """Both, one in the other."""
    both = {key: merged(one[key], other[key]) for key in one.keys() & other.keys()}
    return {**one, **other, **both}


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


def without_counterpart(kind: str) -> list[str]:
    """The fields that, each set alone, are an option no more than they are done otherwise."""
    found = []
    for each, case in CASES:
        if each == kind:
            lists = named(kind, IMPORTS[kind](merged(switched_on(kind, case), case.spec)).lists)
            found += [case.path] if holding(case, lists) == ["dropped"] else []
    return found


# How many there are at most; who makes an option for one takes it off.
NO_COUNTERPART = {POLICY: 86, DRIVER: 50}


@pytest.mark.parametrize("kind", NO_COUNTERPART)
def test_no_more_fields_than_before_have_no_counterpart(kind: str) -> None:
    found = without_counterpart(kind)
    assert len(found) <= NO_COUNTERPART[kind], found


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
    assert named(kind, found.lists)["dropped"] == ["later.new"]


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
