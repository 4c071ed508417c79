# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Both dialects are written and read, and told apart."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.dialect import (
    decode,
    encode,
    of_refusal,
    of_workloads,
    restorable,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.node_machine import (
    Dialect,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import (
    Cache,
    Mba,
    Pstate,
    Workload,
)
from ansible_collections.hardware.enablement.tests.unit.rmd.bodies import body, running, workload

FULL = workload("ns.web", 3, 1, 3, pstate=Pstate(3.0, "on"))


def test_the_flat_dialect() -> None:
    assert encode(FULL, Dialect.V02) == {
        "uuid": "ns.web",
        "core_ids": ["1", "3"],
        "cache": {"max": 2, "min": 2},
        "pstate": {"ratio": 3.0, "monitoring": "on"},
    }


def test_the_nested_dialect() -> None:
    assert encode(
        Workload("w", (1,), cache=Cache(2, 2), mba=Mba(50), pstate=Pstate(ratio=3.0)), Dialect.V03
    ) == {
        "uuid": "w",
        "core_ids": ["1"],
        "rdt": {"cache": {"max": 2, "min": 2}, "mba": {"percentage": 50}},
        "plugins": {"pstate": {"ratio": 3.0}},
    }


def test_the_shared_pool_is_asked_for_by_zeros() -> None:
    assert encode(workload(most=0, least=0), Dialect.V03)["rdt"] == {"cache": {"max": 0, "min": 0}}


@pytest.mark.parametrize("dialect", Dialect)
def test_a_policy_goes_alone(dialect: Dialect) -> None:
    assert encode(workload(policy="gold"), dialect) == {
        "uuid": "w",
        "core_ids": ["1", "2"],
        "policy": "gold",
    }


def test_the_flat_dialect_cannot_say_mba() -> None:
    with pytest.raises(InvalidInput, match="no memory bandwidth"):
        encode(workload(mba=Mba(50)), Dialect.V02)


@pytest.mark.parametrize("dialect", Dialect)
def test_what_is_written_is_read_again(dialect: Dialect) -> None:
    answer = {
        **encode(FULL, dialect),
        "id": "7",
        "status": "Successful",
        "cos_name": "COS2",
        "origin": "REST",
    }
    found = decode(answer)
    assert found.workload == FULL
    assert (found.id, found.status, found.cos_name, found.origin) == (
        "7",
        "Successful",
        "COS2",
        "REST",
    )
    assert found.body == answer


def test_numbers_may_be_strings_and_ranges_are_expanded() -> None:
    found = decode(body(cores="4-5 0-1,3", cache=("4", "2"), dialect=Dialect.V02)).workload
    assert (found.cores, found.cache) == ((0, 1, 3, 4, 5), Cache(4, 2))


def test_nonsense_counts_as_not_set() -> None:
    found = decode(
        {"rdt": {"cache": {"max": "many", "min": 1}, "mba": []}, "core_ids": ["x"], "plugins": None}
    )
    assert found.workload == Workload("", ())
    assert found.status == ""


def test_the_dialect_by_shape() -> None:
    assert of_workloads([]) is None
    assert of_workloads([{"id": "1"}]) is None
    assert of_workloads([body(dialect=Dialect.V02)]) is Dialect.V02
    assert of_workloads([body(dialect=Dialect.V03)]) is Dialect.V03


def test_the_dialect_by_refusal() -> None:
    said = "Failed to validate workload. Reason: {}"
    assert of_refusal(said.format("No RDT/Plugins params in workload")) is Dialect.V03
    assert of_refusal(said.format("No Cache neither PState params in workload\n")) is Dialect.V02
    assert of_refusal("Authentication failure") is None


def test_what_brings_a_workload_back() -> None:
    found = body(cores="4-5", id="3", task_ids=["77"])
    assert restorable(found) == {
        "id": "3",
        "uuid": "w",
        "core_ids": ["4", "5"],
        "task_ids": ["77"],
        "rdt": {"cache": {"max": 2, "min": 2}, "mba": {}},
    }


def test_what_a_workload_cannot_say_is_noticed() -> None:
    assert not running().has_more
    assert not running(plugins={"pstate": {"ratio": 1.0}}).has_more
    assert running(task_ids=["1"]).has_more
    assert running(plugins={"other": {}}).has_more
    assert not running(policy="gold", plugins={"other": {}}).has_more
