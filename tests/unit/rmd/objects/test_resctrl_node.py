# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The back end resctrl as a run sees it: entries of an RmdNodeState, and the agent's word on them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.agents import Agent
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.node_snapshot import (
    NodeSnapshot,
    judged,
    observe_until,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.node_writer import (
    NodeWriter,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.resctrl_node import (
    declared_in,
    entry_of,
    running_of,
    topology_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import (
    Cache,
    Mba,
    Workload,
)

WEB = Workload("team.web", (1, 2), cache=Cache(2, 2), mba=Mba(percentage=50), pod="a-uid")
GROUP = "hardware-enablement.team.web"
ENTRY = {
    "coreIds": ["1", "2"],
    "cache": {"max": 2, "min": 2},
    "mba": {"percentage": 50},
    "pod": "a-uid",
}


def report(told: dict[str, Any], cpus: str = "1-2", **more: Any) -> dict[str, Any]:
    """Of a node with one socket, 11 ways, and this group."""
    group = {"cpus_list": cpus, "schemata": {"L3": {"0": "60"}, "MB": {"0": 50}}}
    default = {"cpus_list": "0,3", "schemata": {"L3": {"0": "1f"}, "MB": {"0": 100}}}
    return {
        "l3": {"0": "0-3"},
        "pools": {"os": 1, "guaranteed": 6, "besteffort": 3, "shared": 1, "os_cpus": "0"},
        "resctrl": {
            "cbm_mask": "7ff",
            "bandwidth": {"least": 10, "step": 10},
            "groups": {"": default, GROUP: group},
        },
        "declared": told,
        "problems": [],
        **more,
    }


def observe(told: dict[str, Any], **more: Any) -> NodeSnapshot:
    return judged((running_of(WEB.uuid, ENTRY),), report(told, **more))


def test_an_entry_says_all_that_is_wanted() -> None:
    assert entry_of(WEB) == ENTRY
    (found,) = declared_in({"spec": {"workloads": {WEB.uuid: ENTRY}}})
    assert found.workload == WEB
    assert found.is_enforced
    assert declared_in({}) == declared_in({"spec": {"workloads": None}}) == []


def test_nonsense_of_somebody_else_is_read_as_far_as_it_goes() -> None:
    odd = {"coreIds": ["five"], "cache": {"max": "many"}}
    found = declared_in({"spec": {"workloads": {"odd": odd, "none": None}}})
    assert [(entry.uuid, entry.workload.cores, entry.workload.cache) for entry in found] == [
        ("none", (), None),
        ("odd", (), None),
    ]


def test_what_the_agent_has_made_true_is_in_force() -> None:
    seen = observe({WEB.uuid: {"group": GROUP}})
    assert (seen.running[0].cos_name, seen.running[0].status) == (GROUP, "Successful")
    assert seen.differs(WEB.uuid) == ""
    assert seen.pending({WEB.uuid}, ()) == {}


@pytest.mark.parametrize(
    ("told", "more", "why"),
    [
        ({}, {}, "the agent has not seen it yet"),
        ({}, {"problems": ["resctrl is not mounted"]}, "resctrl is not mounted"),
        ({WEB.uuid: {"why": "the node has no core 9"}}, {}, "the node has no core 9"),
        ({WEB.uuid: {"group": GROUP}}, {"cpus": "1"}, f"core 2 is not in {GROUP}"),
    ],
)
def test_what_is_not_in_force_is_the_agents_to_mend(
    told: dict[str, Any], more: dict[str, Any], why: str
) -> None:
    seen = observe(told, **more)
    assert seen.differs(WEB.uuid) == why
    assert seen.pending({WEB.uuid}, ()) == {WEB.uuid: why}
    # Also after a boot: a run has nothing to send.
    assert (seen.to_replace(is_fresh=True), seen.strays) == (set(), ())


def test_what_goes_is_waited_for() -> None:
    seen = judged((), report({WEB.uuid: {"group": GROUP}}))
    assert seen.pending((), {WEB.uuid}) == {WEB.uuid: "it is not taken away yet"}


@pytest.mark.parametrize(
    ("told", "more", "waited"),
    [
        ({}, {}, 10),
        ({"of.before": {"group": GROUP}}, {}, 10),
        ({}, {"problems": ["resctrl is not mounted"]}, 4.2),
        ({WEB.uuid: {"why": "the node has no core 9"}}, {}, 4.2),
        ({}, {"declared": None}, 4.2),
    ],
)
def test_an_agent_that_has_not_looked_yet_is_waited_for_longer(
    told: dict[str, Any], more: dict[str, Any], waited: float
) -> None:
    now = [0.0]
    word = report(told, **{"interval": 2, **more})
    observe_until(
        cast(NodeWriter, SimpleNamespace(workloads=lambda: [running_of(WEB.uuid, ENTRY)])),
        cast(Agent, SimpleNamespace(report=lambda: word)),
        written=0.0,
        is_good=lambda _seen: False,
        clock=lambda: now[0],
        sleep=lambda seconds: now.append(now.pop() + seconds),
    )
    assert waited <= now[0] < waited + 1


def test_memory_bandwidth_alone_is_in_force_with_the_ways_of_all_others() -> None:
    alone = Workload("team.web", (1, 2), mba=Mba(percentage=50))
    assert entry_of(alone) == {"coreIds": ["1", "2"], "mba": {"percentage": 50}}
    told = report({alone.uuid: {"group": GROUP}})
    told["resctrl"]["groups"][GROUP]["schemata"]["L3"] = {"0": "1f"}
    seen = judged((running_of(alone.uuid, entry_of(alone)),), told)
    assert (seen.running[0].workload, seen.differs(alone.uuid)) == (alone, "")
    assert topology_of(told).caches[0].free("guaranteed") == 6


def test_what_is_left_of_each_pool() -> None:
    found = topology_of(report({}))
    (cache,) = found.caches
    assert (cache.ways, cache.cores) == (11, (0, 1, 2, 3))
    assert dict(cache.pools) == {
        "guaranteed": (1, 2, 3, 4),
        "besteffort": (7, 8, 9),
        "shared": (10,),
    }
    assert found.mba is not None
    assert (found.mba.supported, found.mba.step, found.mba.least) == (True, 10, 10)
