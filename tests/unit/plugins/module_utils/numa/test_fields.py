# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each field of the NUMA Resources Operator's custom resources, set alone, is in exactly one list, and
what is called taken is in the result. The cases are made of the CRDs, not of our tables."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._numa.operator_resources import (
    GROUP_FIELDS,
    OPERATOR,
    OPERATOR_FIELDS,
    SCHEDULER_FIELDS,
    PlatformPools,
    settings_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.field_mapping import (
    ImportedOptions,
)
from tests.operator_fields import ITEM, FieldCase, FieldTypes, at_path, cases, fields_of

Obj = dict[str, Any]
TYPES = fields_of("numa")
POOLS = [{"metadata": {"name": "sample", "labels": {"sample": "sample"}}, "spec": {}}]
GROUPS = f"nodeGroups{ITEM}."
DURATIONS = ("cacheResyncPeriod", "config.infoRefreshPeriod")


def group_types(kind: str) -> FieldTypes:
    """The fields of a node group."""
    return {
        path.removeprefix(GROUPS): type_
        for path, type_ in TYPES[kind].items()
        if path.startswith(GROUPS)
    }


def imported(kind: str, spec: Obj) -> ImportedOptions:
    """A custom resource of a kind, given with its API version."""
    version, _slash, name = kind.rpartition("/")
    made = {"apiVersion": version, "kind": name, "metadata": {"name": "one"}, "spec": spec}
    # Without node groups the operator enables no node: then a person says which are meant.
    given = () if spec.get("nodeGroups") else ({"name": "mine", "node_pool": "mine"},)
    return settings_of([made], PlatformPools(POOLS, given=given), "x")


def in_group(spec: Obj) -> Obj:
    """An operator's spec with a node group."""
    chosen = "machineConfigPoolSelector" in spec or "poolName" in spec
    return {"nodeGroups": [spec if chosen else {"poolName": "sample", **spec}]}


def cases_of(types: FieldTypes) -> list[FieldCase]:
    """Durations are texts of a form of their own; an expression's operator is one that there is."""
    found = [
        FieldCase(case.path, "90s") if case.path in DURATIONS else case
        for case in cases(types)
        if not case.path.startswith(("nodeGroups", "machineConfigPoolSelector"))
    ]
    if any(path.startswith("machineConfigPoolSelector") for path in types):
        labels = FieldCase("machineConfigPoolSelector.matchLabels", {"sample": "sample"})
        exists = [{"key": "sample", "operator": "Exists"}]
        return [*found, labels, FieldCase("machineConfigPoolSelector.matchExpressions", exists)]
    return found


CASES = [(kind, case, False) for kind in TYPES for case in cases_of(TYPES[kind])]
CASES += [
    (kind, case, True) for kind in TYPES if OPERATOR in kind for case in cases_of(group_types(kind))
]


@pytest.mark.parametrize(("kind", "case", "of_group"), CASES, ids=str)
def test_a_field_that_is_set_alone_is_in_one_list_and_in_the_result_if_it_is_taken(
    kind: str, case: FieldCase, of_group: bool
) -> None:
    base = imported(kind, in_group({}) if of_group else {})
    found = imported(kind, in_group(case.spec) if of_group else case.spec)
    name = kind.rpartition("/")[2]
    path = f"{name}: nodeGroups[0].{case.path}" if of_group else f"{name}: {case.path}"
    holding = [
        listed
        for listed, paths in found.lists.items()
        if any(
            f"{a}.".startswith(f"{b}.") for each in paths for a, b in ((each, path), (path, each))
        )
    ]
    assert len(holding) == 1, (path, found.lists)
    changes = (found.options, found.pools) != (base.options, base.pools)
    if case.path.partition(".")[0] not in ("machineConfigPoolSelector", "poolName"):
        assert changes == (holding == ["taken"])


def test_no_table_speaks_of_a_field_that_is_not_there() -> None:
    for fields, kinds in (
        (OPERATOR_FIELDS, OPERATOR),
        (SCHEDULER_FIELDS, "NUMAResourcesScheduler"),
    ):
        there = {path for kind in TYPES if kinds in kind for path in TYPES[kind]}
        assert sorted(set(fields) - there) == []
    groups = {path for kind in TYPES if OPERATOR in kind for path in group_types(kind)}
    assert sorted(set(GROUP_FIELDS) - groups - {"machineConfigPoolSelector"}) == []


@pytest.mark.parametrize("kind", TYPES)
def test_a_field_that_nobody_knows_is_said(kind: str) -> None:
    found = imported(kind, {"later": {"new": 1}})
    assert [path.partition(": ")[2] for path in found.dropped] == ["later.new"]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("empty", ["", {}, [], None])
def test_what_is_empty_is_not_set(kind: str, empty: Any) -> None:
    for path in TYPES[kind]:
        if ITEM not in path:
            assert not any(imported(kind, at_path(path, empty)).lists.values()), path
