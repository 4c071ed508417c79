# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An RmdWorkload of any version means one thing."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import (
    Cache,
    Mba,
    Pstate,
)
from tests.unit.rmd.objects.things import CACHE, declared

LABELS = {
    "a": {"rdt": "true", "pool": "fast"},
    "b": {"rdt": "true", "pool": "slow"},
    "c": {"pool": "fast"},
}


def test_version_0_1() -> None:
    found = declared(
        spec={**CACHE, "pstate": {"ratio": "3.0", "monitoring": "on"}, "policy": ""}
    ).workload(())
    assert (found.uuid, found.cores, found.cache) == ("web", (0, 1, 2, 3), Cache(2, 2))
    assert found.pstate == Pstate(3.0, "on")


def test_version_0_3() -> None:
    rdt = {"cache": {"max": 3, "min": 1}, "mba": {"percentage": 50, "mbps": 0}}
    spec = {
        "coreIds": ["4-5", "0-1,3"],
        "rdt": rdt,
        "plugins": {"pstate": {"ratio": "1.5"}},
        "nodes": ["a"],
    }
    found = declared(spec=spec).workload(())
    assert found.cores == (0, 1, 3, 4, 5)
    assert (found.cache, found.mba, found.pstate) == (Cache(3, 1), Mba(percentage=50), Pstate(1.5))


def test_the_newer_fields_win() -> None:
    newer = {"rdt": {"cache": {"max": 4, "min": 4}}, "plugins": {"pstate": {"ratio": "2.0"}}}
    found = declared(spec={**CACHE, "pstate": {"ratio": "3.0"}, **newer}).workload(())
    assert (found.cache, found.pstate) == (Cache(4, 4), Pstate(2.0))
    assert declared(spec={**CACHE, "rdt": {"cache": None}}).workload(()).cache == Cache(2, 2)


def test_a_policy_wins_over_all_that_it_replaces() -> None:
    found = declared(spec={**CACHE, "policy": "gold"}).workload(())
    assert (found.policy, found.cache) == ("gold", None)


def test_all_cores_win_over_core_ids() -> None:
    spec = {**CACHE, "allCores": True, "reservedCoreIds": ["0-1"]}
    assert declared(spec=spec).workload(range(6)).cores == (2, 3, 4, 5)
    without = {**CACHE, "reservedCoreIds": ["0-1"]}
    assert declared(spec=without).workload(range(6)).cores == (0, 1, 2, 3)


def test_one_number_of_two_is_zero_as_in_the_operator() -> None:
    assert declared(spec={**CACHE, "cache": {"max": 2}}).workload(()).cache == Cache(2, 0)
    assert declared(spec={**CACHE, "cache": {}}).workload(()).cache == Cache(0, 0)


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({**CACHE, "coreIds": ["x"]}, 'spec.coreIds: "x" is no list of CPUs'),
        ({**CACHE, "coreIds": ["-1"]}, 'spec.coreIds: "-1"'),
        ({**CACHE, "allCores": True, "reservedCoreIds": ["3-1"]}, "spec.reservedCoreIds"),
        ({**CACHE, "coreIds": None}, "it names no CPUs"),
        ({"coreIds": ["1"], "nodes": ["a"]}, "it asks for nothing"),
        (
            {"coreIds": ["1"], "nodes": ["a"], "rdt": {"mba": {"mbps": 0}}, "policy": ""},
            "it asks for nothing",
        ),
        ({**CACHE, "pstate": {"ratio": "fast"}}, 'the P-state ratio "fast" is no number'),
        ({**CACHE, "pstate": {"ratio": "nan"}}, 'the P-state ratio "nan" is no number'),
        ({}, "it names no CPUs"),
    ],
)
def test_what_cannot_be_sent_says_why(spec: dict[str, Any], problem: str) -> None:
    assert problem in declared(spec=spec).problem


def test_a_node_selector_wins_over_nodes() -> None:
    found = declared(spec={**CACHE, "nodeSelector": {"pool": "fast"}})
    assert found.nodes(LABELS, {}) == ("a", "c")
    assert found.nodes(LABELS, {"rdt": "true"}) == ("a",)
    assert declared().nodes(LABELS, {"rdt": "true"}) == ("worker-node-1", "worker-node-2")
    assert declared(spec={**CACHE, "nodes": [], "nodeSelector": {}}).nodes(LABELS, {}) == ()


def test_no_nodes_is_no_problem_since_it_takes_the_workload_from_all() -> None:
    assert declared(spec={**CACHE, "nodes": []}).problem == ""


def test_uuids() -> None:
    assert declared("web").uuid == "web"
    assert declared("web", "team").uuid == "team.web"
