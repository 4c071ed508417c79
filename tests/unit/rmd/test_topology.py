# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Caches, pools, policies and memory bandwidth are read as both dialects write them."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.dialect import (
    parse_policies,
    parse_topology,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.node_machine import (
    MbaSupport,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import Cache
from ansible_collections.hardware.enablement.tests.unit.rmd.bodies import l3_body, topology


def test_caches_and_their_owners() -> None:
    found = topology()
    assert [cache.id for cache in found.caches] == ["0", "1"]
    assert found.cores == frozenset(range(8))
    assert [cache.id for cache in found.owners([1])] == ["0"]
    assert [cache.id for cache in found.owners([1, 7])] == ["0", "1"]
    assert found.owners([99]) == ()


def test_ways_and_pools() -> None:
    cache = topology().caches[0]
    assert (cache.ways, cache.available) == (11, 0x7FF)
    assert cache.free("guaranteed") == 6
    assert cache.free("besteffort") == 2
    assert cache.free("unheard of") == 0
    assert topology().describe()[1]["pools"]["guaranteed"] == "4-9"
    assert topology().describe()[1]["cores"] == "4-7"


def test_ids_are_in_the_order_of_numbers() -> None:
    info = l3_body()["Caches"]["0"]
    assert [cache.id for cache in parse_topology({"Caches": {"10": info, "2": info}}).caches] == [
        "2",
        "10",
    ]


def test_nonsense_is_no_cache() -> None:
    (cache,) = parse_topology(
        {"Caches": {"0": {"available_ways": "?", "share_cpu_list": "x", "NumWays": None}}}
    ).caches
    assert (cache.cores, cache.ways, cache.available, cache.pools) == ((), 0, 0, {})
    assert parse_topology({}).caches == ()


def test_memory_bandwidth() -> None:
    assert topology().mba is None
    assert topology(mba={"mba": False}).mba == MbaSupport(False, False)
    assert topology(
        mba={"mba": True, "mba_enable": True, "mba_step": 10, "mba_min": 10}
    ).mba == MbaSupport(True, True, 10, 10)


def test_policies_of_both_dialects() -> None:
    new = {"gold": {"cache": {"max": 4, "min": 4}}, "turbo": {"pstate": {"ratio": 3.0}}}
    old = {"gold": {"cache": {"Max": "4", "Min": "4"}}}
    assert parse_policies(new)["gold"].cache == Cache(4, 4)
    assert parse_policies(new)["turbo"].cache is None
    assert parse_policies(old)["gold"].cache == Cache(4, 4)
