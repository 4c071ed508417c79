# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many ways a node offers to pods."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.capacity import (
    cores_of,
    offered,
    patch,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import (
    RunningWorkload,
)
from tests.unit.rmd.objects.things import running

Obj = dict[str, Any]


def machine(mask: str = "7ff") -> Obj:
    """Two sockets of four CPUs and six guaranteed ways each; a group of a policy on the first."""
    group = {"cpus_list": "0-1", "schemata": {"L3": {"0": mask, "1": "7ff"}}}
    return {
        "l3": {"0": "0-3", "1": "4-7"},
        "pools": {"os": 1, "guaranteed": 6, "os_cpus": "0"},
        "resctrl": {"cbm_mask": "7ff", "groups": {"0_1_2_3-guarantee": group}},
    }


def left(there: list[RunningWorkload], *of_pods: str, found: Obj | None = None) -> int | None:
    return offered(machine() if found is None else found, there, of_pods)


def test_what_pods_do_not_own_is_not_offered() -> None:
    there = [running("a", cores="0 1", ways=2), running("p", cores="4 5", ways=3)]
    assert left(there, "p") == 4
    assert left(there, "p", "a") == 6
    assert left(there) == 3


def test_a_workload_over_two_sockets_holds_ways_of_both() -> None:
    assert left([running("a", cores="3 4", ways=5)]) == 1


def test_only_guaranteed_workloads_hold_ways_of_the_pool() -> None:
    assert left([running("a", ways=0)]) == 6
    assert left([running("a", cache={"max": 3, "min": 1})]) == 6


def test_what_a_policy_holds_the_kernel_tells() -> None:
    gold = running("a", policy="gold", cache={})
    assert left([gold], found=machine("78")) == 2
    # Above the guaranteed pool, or nothing set.
    assert left([gold], found=machine("780")) == 6
    assert left([gold], found=machine()) == 6


def test_never_less_than_none() -> None:
    assert left([running("a", ways=5), running("b", ways=5)]) == 0
    assert left([], found={**machine(), "l3": {}}) == 0


def test_without_settings_nothing_is_known() -> None:
    assert left([], found={**machine(), "pools": None}) is None


def test_all_cores() -> None:
    assert cores_of(machine()) == tuple(range(8))


def test_a_node_is_patched_only_where_it_differs() -> None:
    name = "intel.com/l3_cache_ways"
    assert patch({}, 4) == {"status": {"capacity": {name: "4"}, "allocatable": {name: "4"}}}
    same = {"status": {"capacity": {name: "4"}, "allocatable": {name: "4"}}}
    assert patch(same, 4) is None
    assert patch(same, None) == {"status": {"capacity": {name: None}, "allocatable": {name: None}}}
    assert patch({}, None) is None
