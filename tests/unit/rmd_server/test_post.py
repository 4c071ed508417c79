# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts 4.4: what POST refuses, a row for each line of the table, in the daemon's words."""

from __future__ import annotations

import http.client
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.rmd import Dialect, Machine, RmdServer
from tests.unit.rmd_server.asking import IN_DATABASE, INVALID, ask, flat, nested, post

UNREADABLE = "Failed to read request correctly. Please check request syntax and data"
PSTATE = {"pstate": {"ratio": 3.0}}


@dataclass(frozen=True)
class Row:
    """A body and its answer; settings: the server's; others: what is posted before."""

    body: Any
    status: int
    text: str
    settings: dict[str, Any] = field(default_factory=dict)
    others: tuple[Any, ...] = ()


MBPS = {"mba_mode": "mbps"}
OTHER = (nested("2", 1, uuid="u"),)
V03 = {
    "no JSON": Row("{", 500, UNREADABLE),
    "no body": Row("", 500, UNREADABLE),
    "core ids are numbers": Row({**nested("1"), "core_ids": [1]}, 500, UNREADABLE),
    "negative": Row(nested("1", -1), 500, UNREADABLE),
    "a fraction": Row(
        {"core_ids": ["1"], "rdt": {"cache": {"max": 1.5, "min": 1}}}, 500, UNREADABLE
    ),
    "no core": Row(nested(""), 400, f"{INVALID}No task or core id specified"),
    "task is not alive": Row(
        {**nested(""), "task_ids": ["7"]}, 400, f"{INVALID}The task: 7 does not exist"
    ),
    "max alone": Row(
        {"core_ids": ["1"], "rdt": {"cache": {"max": 1}}},
        400,
        f"{INVALID}Need to provide both cache.* or none of them",
    ),
    "min alone": Row(
        {"core_ids": ["1"], "rdt": {"cache": {"min": 1}}},
        400,
        f"{INVALID}Need to provide both cache.* or none of them",
    ),
    "nothing wanted": Row({"core_ids": ["1"]}, 400, f"{INVALID}No RDT/Plugins params in workload"),
    "uuid is there": Row(
        nested("1", uuid="u"),
        400,
        f"{IN_DATABASE}UUID u already exists in workload 1\n",
        others=OTHER,
    ),
    "core is used": Row(
        nested("1,2"), 400, f"{IN_DATABASE}CPU list [2] has been assigned\n", others=OTHER
    ),
    "core above 31 is used": Row(
        nested("40,3,33"),
        400,
        f"{IN_DATABASE}CPU list [3] has been assigned\n",
        {"machine": Machine(cpus=64)},
        (nested("3,33,40"),),
    ),
    "id is there": Row(
        nested("1", id="1"), 400, f"{IN_DATABASE}Workload with id 1 already exists\n", others=OTHER
    ),
    "task is there": Row(
        {**nested(""), "task_ids": ["7"]},
        400,
        f"{IN_DATABASE}TaskID 7 already exists in workload 1\n",
        {"tasks": {"7": {1}}},
        ({**nested(""), "task_ids": ["7"]},),
    ),
    "unknown policy": Row(
        nested("1", None, policy="p"),
        400,
        f"{INVALID}Could not find the Policy. Can not find specified policy p",
    ),
    "plugin is not loaded": Row(
        nested("1", 1, plugins=PSTATE), 400, f"{INVALID}Trying to use module that is not loaded"
    ),
    "mba without cache": Row(
        nested("1", None, percentage=50),
        400,
        f"{INVALID}Need to provide both cache and mba for better performance",
    ),
    "mba on besteffort": Row(
        nested("1", 2, 1, percentage=50),
        400,
        f"{INVALID}MBA only supported for Guaranteed Request and not for BestEffort and Shared",
    ),
    "mba on shared": Row(
        nested("1", 0, percentage=99),
        400,
        f"{INVALID}MBA only supported for Guaranteed Request and not for BestEffort and Shared",
    ),
    "mba 0": Row(
        nested("1", 1, percentage=0), 400, f"{INVALID}MBA values in should range from 1 to 100"
    ),
    "mba 101": Row(
        nested("1", 1, percentage=101), 400, f"{INVALID}MBA values in should range from 1 to 100"
    ),
    "mbps too many": Row(
        nested("1", 1, mbps=4294967291),
        400,
        f"{INVALID}MBA values in should range from 1 to 4294967290",
        MBPS,
    ),
    "mbps for percent": Row(
        nested("1", 1, mbps=50), 400, f"{INVALID}Please provide MBA in Percentage"
    ),
    "percent for mbps": Row(
        nested("1", 1, percentage=50), 400, f"{INVALID}Please provide MBA in Mbps", MBPS
    ),
    "min above max": Row(
        nested("1", 1, 2), 500, "Min cache value cannot be greater than max cache value"
    ),
    "max without min": Row(
        nested("1", 2, 0),
        500,
        "Bad cache ways request. Details: max_cache=2, min_cache=0, doesn't support\n",
    ),
    "not enough ways": Row(nested("1", 7), 500, "Not enough cache left on cache_id 0"),
    "not enough ways left": Row(
        nested("1", 6), 500, "Not enough cache left on cache_id 0", others=OTHER
    ),
    "no class left": Row(
        nested("1"),
        500,
        "No free CLOS available",
        {"machine": Machine(mba_closids=3)},
        (nested("2"),),
    ),
    "no class left for shared": Row(
        nested("1", 0),
        500,
        "No free CLOS left to create shared group",
        {"machine": Machine(mba_closids=3)},
        (nested("2"),),
    ),
    "mba 100 on shared": Row(nested("1", 0, percentage=100), 500, "MBA forbidden for shared group"),
}
IN_USE = (flat("2", 1, uuid="u"),)
V02 = {
    "no JSON": Row("", 500, "EOF"),
    "core ids are numbers": Row(
        {**flat("1"), "core_ids": [1]},
        500,
        "json: cannot unmarshal number into Go struct field RDTWorkLoad.core_ids of type string",
    ),
    "no core": Row(flat(""), 400, f"{INVALID}No task or core id specified"),
    "max alone": Row(
        {"core_ids": ["1"], "cache": {"max": 1}},
        400,
        f"{INVALID}Need to provide both *_cache or none of them",
    ),
    "nothing wanted": Row(
        {"core_ids": ["1"]}, 400, f"{INVALID}No Cache neither PState params in workload"
    ),
    "uuid is there": Row(
        flat("1", uuid="u"),
        400,
        f"{IN_DATABASE}UUID u already exists in workload 1\n",
        others=IN_USE,
    ),
    "core is used": Row(
        flat("1,2"), 400, f"{IN_DATABASE}CPU list 4 has been assigned\n", others=IN_USE
    ),
    "core above 31 is used": Row(
        flat("33,2"),
        400,
        f"{IN_DATABASE}CPU list 2,00000004 has been assigned\n",
        {"machine": Machine(cpus=64)},
        (flat("2,33"),),
    ),
    "unknown policy": Row(
        flat("1", None, policy="p"),
        400,
        f"{INVALID}Could not find the Policy. Can not find specified policy p",
    ),
    "plugin is not loaded": Row(
        flat("1", 1, **PSTATE),
        400,
        f"{INVALID}P-State configuration given while plugin not enabled",
    ),
    "ratio 0": Row(
        flat("1", 1, pstate={"ratio": 0}),
        400,
        f"{INVALID}Invalid P-State Branch Ratio given",
        {"plugins": ("pstate",)},
    ),
    "monitoring": Row(
        flat("1", 1, pstate={"monitoring": "x"}),
        400,
        f"{INVALID}Invalid P-State Monitoring value",
        {"plugins": ("pstate",)},
    ),
    "min above max": Row(
        flat("1", 1, 2),
        500,
        "Bad cache ways request. Details: max_cache=1, min_cache=2, doesn't support\n",
    ),
    "max without min": Row(
        flat("1", 2, 0),
        500,
        "Bad cache ways request. Details: max_cache=2, min_cache=0, doesn't support\n",
    ),
    "not enough ways": Row(flat("1", 7), 500, "Not enough cache left on cache_id 0"),
    "no class left": Row(
        flat("1"),
        500,
        "Error while try to commit resource group for default group.. Details: "
        "error, not enough CLOS on host, 3 used\n",
        {"machine": Machine(closids=3, mba_closids=0)},
        (flat("2"),),
    ),
    "no class left in the kernel": Row(
        flat("1"),
        500,
        "Error to commit resource group for workload.. Details: mkdir 1-guarantee: no space left on device\n",
        {"machine": Machine(mba_closids=2)},
        (flat("2"),),
    ),
}
ROWS = [pytest.param(Dialect.V03, row, id=f"v0.3 {name}") for name, row in V03.items()] + [
    pytest.param(Dialect.V02, row, id=f"v0.2 {name}") for name, row in V02.items()
]


@pytest.mark.parametrize(("dialect", "row"), ROWS)
def test_what_is_refused(dialect: Dialect, row: Row) -> None:
    with RmdServer(dialect=dialect, **row.settings) as server:
        for other in row.others:
            assert ask(server, "POST", "/workloads", other).status == 201
        before = server.dump()
        reply = ask(server, "POST", "/workloads", row.body)
        assert (reply.status, reply.kind, reply.text) == (row.status, "text/plain", row.text)
        assert server.dump() == before


@pytest.mark.parametrize("core", ["32", "99", "x"])
def test_a_core_that_is_none_crashes_the_handler(server: RmdServer, core: str) -> None:
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        post(server, core)
    assert server.requests()[-1].status == 0
    # Only the handler: the daemon goes on, and nothing is left of it.
    assert ask(server, "GET", "/workloads").text == "[]"
    server.faults.panic_on_bad_core = False
    if core != "x":
        assert "core id" in ask(server, "POST", "/workloads", nested(core) | flat(core)).text


def test_what_is_meant_to_be_a_400_is_one_if_it_is_switched_so(v03: RmdServer) -> None:
    v03.faults.wrong_class = False
    assert [
        ask(v03, "POST", "/workloads", nested("1", *pair)).status
        for pair in ((1, 2), (2, 0), (7, 7))
    ] == [400] * 3


def test_a_policy_wins_over_what_else_is_asked(server: RmdServer) -> None:
    for body in (nested("1", 1, policy="gold"), flat("1", 1, policy="gold")):
        reply = ask(server, "POST", "/workloads", body)
        if reply.status == 201:
            break
    found = reply.json
    cache = found["rdt"]["cache"] if "rdt" in found else found["cache"]
    assert (found["policy"], cache) == ("gold", {"max": 4, "min": 4})
    assert server.dump()["resctrl"][found["cos_name"]]["L3"][0] == "78"


def test_mba_beside_a_policy_is_given_back_but_not_set(v03: RmdServer) -> None:
    found = post(v03, "1", None, policy="gold", percentage=30)
    assert found["rdt"] == {"cache": {"max": 4, "min": 4}, "mba": {"percentage": 30}}
    assert v03.dump()["resctrl"][found["cos_name"]]["MB"] == {0: 100, 1: 100}


def test_mba_of_the_own_socket_is_set(v03: RmdServer) -> None:
    name = post(v03, "1", 1, percentage=30)["cos_name"]
    assert v03.dump()["resctrl"][name]["MB"] == {0: 30, 1: 100}
    full = post(v03, "4", 2, 1, percentage=100)["cos_name"]
    assert v03.dump()["resctrl"][full]["MB"] == {0: 100, 1: 100}


def test_mba_in_megabytes() -> None:
    with RmdServer(mba_mode="mbps") as server:
        name = post(server, "1", 1, mbps=500)["cos_name"]
        assert server.dump()["resctrl"][name]["MB"] == {0: 500, 1: 4294967290}


def test_a_plugin_that_is_asked_by_a_policy_but_not_loaded_is_told_late() -> None:
    tiers = {"fast": {"cache": {"max": 1, "min": 1}, "pstate": {"ratio": 3.0}}}
    with RmdServer(policies=tiers) as server:
        reply = ask(server, "POST", "/workloads", nested("1", None, policy="fast"))
        assert (reply.status, reply.text) == (500, "Trying to use module that is not loaded")
    with RmdServer(policies=tiers, plugins=("pstate",)) as server:
        assert post(server, "1", None, policy="fast")["plugins"] == {"pstate": {"ratio": 3.0}}
