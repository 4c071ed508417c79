# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When two workloads are the same, and what RMD says of one."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import (
    Cache,
    Mba,
    Pstate,
    Workload,
)
from ansible_collections.hardware.enablement.tests.unit.rmd.bodies import running, workload


def test_cores_are_canonical() -> None:
    assert Workload("w", (3, 1, 3)).cores == (1, 3)


@pytest.mark.parametrize(
    ("most", "least", "pool"),
    [
        (2, 2, "guaranteed"),
        (4, 2, "besteffort"),
        (0, 0, "shared"),
        (2, 0, ""),
        (1, 2, ""),
        (0, 1, ""),
    ],
)
def test_pools(most: int, least: int, pool: str) -> None:
    assert Cache(most, least).pool == pool


def test_the_uuid_does_not_count() -> None:
    assert workload("a").is_same_as(workload("b"))


@pytest.mark.parametrize(
    "other",
    [
        workload("w", 1),
        workload(most=3, least=3),
        workload(mba=Mba(50)),
        workload(pstate=Pstate(3.0)),
        workload(policy="gold"),
        Workload("w", (1, 2)),
    ],
)
def test_everything_else_counts(other: Workload) -> None:
    assert not workload().is_same_as(other)


def test_what_is_left_open_of_pstates_may_be_anything() -> None:
    filled = workload(pstate=Pstate(3.0, "on"))
    assert filled.is_same_as(workload(pstate=Pstate(3.0)))
    assert not filled.is_same_as(workload(pstate=Pstate(2.0)))
    assert not filled.is_same_as(workload(pstate=Pstate(3.0, "off")))
    assert not filled.is_same_as(workload())
    assert not workload(pstate=Pstate(3.0)).is_same_as(filled)


def test_a_policy_takes_the_place_of_the_rest() -> None:
    assert workload(policy="gold", most=9, least=9, mba=Mba(10)).is_same_as(workload(policy="gold"))
    assert not workload(policy="gold").is_same_as(workload(policy="silver"))
    assert workload(policy="gold").describe() == {
        "uuid": "w",
        "core_ids": ["1", "2"],
        "policy": "gold",
    }


def test_described_as_the_modules_options() -> None:
    assert workload(mba=Mba(percentage=50), pstate=Pstate(monitoring="on")).describe() == {
        "uuid": "w",
        "core_ids": ["1", "2"],
        "cache": {"max": 2, "min": 2},
        "mba": {"percentage": 50},
        "pstate": {"monitoring": "on"},
    }


def test_what_rmd_says_of_it() -> None:
    assert running().is_enforced
    assert not running(status="Failed").is_enforced
    assert not running(cos_name="").is_enforced
    assert running(cos_name="", rdt={"cache": {}, "mba": {}}).is_enforced
    assert running().is_changeable
    assert not running(origin="OPENSTACK").is_changeable
    assert running(cores="4-5").has_range
    assert running(cores="4,5").has_range
    assert not running(cores="4 5").has_range
