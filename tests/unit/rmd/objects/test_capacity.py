# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many ways a node offers to pods."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.capacity import (
    CacheMachine,
    GuaranteedPool,
    measure,
    patch,
    recall,
    remember,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.topology import (
    RmdPolicy,
    parse_topology,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import Cache
from tests.unit.rmd.objects.things import running

TWO_SOCKETS = CacheMachine(
    (GuaranteedPool((0, 1, 2, 3), 6), GuaranteedPool((4, 5, 6, 7), 6)), {"gold": Cache(4, 4)}
)


def info(cores: str, guaranteed: str) -> dict[str, object]:
    pools = {"guaranteed": guaranteed, "shared": "9"}
    return {
        "share_cpu_list": cores,
        "NumWays": 11,
        "available_ways": "7ff",
        "available_ways_pool": pools,
    }


def test_a_pool_has_its_free_ways_and_those_that_workloads_hold() -> None:
    topology = parse_topology({"Caches": {"0": info("0-3", "1-4"), "1": info("4-7", "1-6")}})
    machine = measure(
        topology, {"gold": RmdPolicy(Cache(4, 4))}, [running("a", cores="0 1", ways=2)]
    )
    assert machine == TWO_SOCKETS


def test_what_pods_do_not_own_is_not_offered() -> None:
    there = [running("a", cores="0 1", ways=2), running("p", cores="4 5", ways=3)]
    assert TWO_SOCKETS.offered(there, {"p"}) == 4
    assert TWO_SOCKETS.offered(there, {"p", "a"}) == 6
    assert TWO_SOCKETS.offered(there, ()) == 3


def test_a_workload_over_two_sockets_holds_ways_of_both() -> None:
    assert TWO_SOCKETS.offered([running("a", cores="3 4", ways=5)], ()) == 1


def test_only_guaranteed_workloads_hold_ways_of_the_pool() -> None:
    assert TWO_SOCKETS.offered([running("a", ways=0)], ()) == 6
    assert TWO_SOCKETS.offered([running("a", cache={"max": 3, "min": 1})], ()) == 6
    assert TWO_SOCKETS.offered([running("a", policy="gold", cache={})], ()) == 2


def test_never_less_than_none() -> None:
    assert TWO_SOCKETS.offered([running("a", ways=5), running("b", ways=5)], ()) == 0
    assert CacheMachine((), {}).offered([], ()) == 0


def test_what_is_remembered_is_of_one_run_of_the_daemon() -> None:
    text = remember(TWO_SOCKETS, "pod-1/container-1")
    assert recall(text, "pod-1/container-1") == TWO_SOCKETS
    assert recall(text, "pod-1/container-2") is None


@pytest.mark.parametrize(
    "text", ["", "nonsense", "[]", '{"daemon": "x"}', '{"daemon": "x", "pools": 1, "policies": {}}']
)
def test_what_somebody_else_wrote_is_not_believed(text: str) -> None:
    assert recall(text, "x") is None


def test_a_node_is_patched_only_where_it_differs() -> None:
    name = "intel.com/l3_cache_ways"
    assert patch({}, 4) == {"status": {"capacity": {name: "4"}, "allocatable": {name: "4"}}}
    same = {"status": {"capacity": {name: "4"}, "allocatable": {name: "4"}}}
    assert patch(same, 4) is None
    assert patch(same, None) == {"status": {"capacity": {name: None}, "allocatable": {name: None}}}
    assert patch({}, None) is None
