# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts 4.2 and 4.3: fields of both dialects, names of groups, ids; and what max and min mean in
ways."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rmd import Dialect, Machine, Pools, RmdServer, Workload
from tests.unit.rmd_server.asking import INVALID, ask, flat, nested, post

FULL = "7ff"


def ways(server: RmdServer, cores: str, most: int, least: int | None = None) -> list[str]:
    """The masks of a new workload's group, by cache."""
    name = post(server, cores, most, least)["cos_name"]
    return list(server.dump()["resctrl"][name]["L3"].values())


def test_what_0_3_gives_back(v03: RmdServer) -> None:
    assert post(v03, "1", 2, uuid="u") == {
        "id": "1",
        "core_ids": ["1"],
        "status": "Successful",
        "cos_name": "COS2",
        "rdt": {"cache": {"max": 2, "min": 2}, "mba": {}},
        "uuid": "u",
        "origin": "REST",
    }
    assert post(v03, "2", 1, percentage=50)["rdt"]["mba"] == {"percentage": 50}


def test_what_0_2_gives_back(v02: RmdServer) -> None:
    assert post(v02, "1,2", 2, uuid="u") == {
        "id": "1",
        "core_ids": ["1", "2"],
        "status": "Successful",
        "cos_name": "1_2-guarantee",
        "cache": {"max": 2, "min": 2},
        "pstate": {},
        "uuid": "u",
        "origin": "REST",
    }


@pytest.mark.parametrize(
    ("dialect", "body", "text"),
    [
        (Dialect.V03, flat("1", 2, pstate={"ratio": 3.0}), "No RDT/Plugins params in workload"),
        (Dialect.V02, nested("1", 2), "No Cache neither PState params in workload"),
    ],
)
def test_the_wrong_dialect_is_told(dialect: Dialect, body: object, text: str) -> None:
    with RmdServer(dialect=dialect) as server:
        reply = ask(server, "POST", "/workloads", body)
        assert (reply.status, reply.text) == (400, INVALID + text)


def test_pstate_of_both() -> None:
    values = {"ratio": 3.0, "monitoring": "on"}
    with RmdServer(dialect=Dialect.V02, plugins=("pstate",)) as server:
        assert post(server, "1", 1, pstate={"ratio": 3.0})["pstate"] == values
        only = post(server, "2", None, pstate={"monitoring": "OFF"})
        assert (only["pstate"], only["cos_name"], only["cache"]) == ({"monitoring": "off"}, "", {})
    with RmdServer(plugins=("pstate",)) as server:
        assert post(server, "1", 1, plugins={"pstate": values})["plugins"] == {"pstate": values}


def test_unknown_fields_are_ignored(server: RmdServer) -> None:
    assert "colour" not in post(server, "1", colour="red")


def test_fields_may_be_written_in_any_case(v03: RmdServer) -> None:
    body = {"Core_IDs": ["1"], "RDT": {"Cache": {"MAX": 1, "Min": 1}}, "policy": None}
    assert ask(v03, "POST", "/workloads", body).json["rdt"]["cache"] == {"max": 1, "min": 1}


def test_names_of_groups(v02: RmdServer, v03: RmdServer) -> None:
    assert [
        post(v02, *values)["cos_name"] for values in (("1,2", 1), ("3", 2, 1), ("4", 0), ("5", 0))
    ] == [
        "1_2-guarantee",
        "3-besteffort",
        "shared",
        "shared",
    ]
    assert [
        post(v03, *values)["cos_name"] for values in (("1,2", 1), ("3", 2, 1), ("4", 0), ("5", 0))
    ] == [
        "COS2",
        "COS3",
        "COS4",
        "COS4",
    ]


def test_ids_go_on_and_a_clients_own_is_taken(server: RmdServer) -> None:
    assert [post(server, "1")["id"], post(server, "2", id="77")["id"], post(server, "3")["id"]] == [
        "1",
        "77",
        "2",
    ]
    ask(server, "DELETE", "/workloads/2")
    assert post(server, "3")["id"] == "3"
    assert [workload["id"] for workload in ask(server, "GET", "/workloads").json] == [
        "1",
        "3",
        "77",
    ]


def test_the_list_is_in_the_order_of_the_databases_keys(v03: RmdServer) -> None:
    for key in ("10", "9", "1"):
        v03.seed(Workload(id=key, core_ids=[key], origin="REST"))
    assert [workload["id"] for workload in v03.workloads()] == ["1", "10", "9"]


@pytest.mark.parametrize(("method", "verb"), [("PATCH", "modify"), ("DELETE", "delete")])
def test_workloads_of_openstack_stay(server: RmdServer, method: str, verb: str) -> None:
    key = server.seed(
        Workload(core_ids=["1"], status="Successful", cos_name="COS2", origin="OPENSTACK")
    )
    before = server.dump()
    reply = ask(server, method, f"/workloads/{key}", {"core_ids": ["2"]})
    text = f"200: You only have permission to {verb} REST origin workloads"
    assert (reply.status, reply.kind, reply.text) == (200, "text/plain", text)
    assert server.dump() == before


# 4.3. Pools of the first socket: OS 0, guarantee 1-6, besteffort 7-9, shared 10; of the second one
# lower each.
def test_guaranteed_ways_are_taken_from_the_high_end_of_their_pool(server: RmdServer) -> None:
    assert ways(server, "1", 2) == ["60", FULL]
    assert ways(server, "2", 3) == ["1c", FULL]
    assert ways(server, "4", 2) == [FULL, "30"]
    assert ways(server, "3,5", 1) == ["2", "8"]


def test_the_os_group_keeps_the_low_ways(server: RmdServer) -> None:
    ways(server, "1", 2)
    assert server.dump()["resctrl"]["."]["L3"] == {0: "1f", 1: FULL}


def test_0_2_leaves_the_os_group_alone_where_it_has_no_cpu(v02: RmdServer, v03: RmdServer) -> None:
    for server, left in ((v03, "f"), (v02, FULL)):
        ways(server, "4", 2)
        assert server.dump()["resctrl"]["."]["L3"] == {0: FULL, 1: left}


def test_best_effort_gets_up_to_max(server: RmdServer) -> None:
    assert ways(server, "1", 5, 1) == ["380", FULL]
    reply = ask(
        server,
        "POST",
        "/workloads",
        nested("2", 2, 1) if server.settings.dialect is Dialect.V03 else flat("2", 2, 1),
    )
    assert (reply.status, reply.text) == (500, "Not enough cache left on cache_id 0")


def test_best_effort_gets_no_more_than_max(server: RmdServer) -> None:
    assert ways(server, "1", 2, 1) == ["300", FULL]
    # As much as there is, but not less than min.
    assert ways(server, "2", 2, 1) == ["80", FULL]


def test_best_effort_is_shrunk_if_it_may_be() -> None:
    pools = Pools(shrink=True)
    with RmdServer(dialect=Dialect.V02, pools=pools) as server:
        assert ways(server, "1", 3, 1) == ["380", FULL]
        assert ways(server, "2", 2, 1) == ["80", FULL]
        assert server.dump()["resctrl"]["1-besteffort"]["L3"][0] == "300"
    # 0.3 looks for names that it does not give any more: both have the same ways.
    with RmdServer(pools=pools) as server:
        assert ways(server, "1", 3, 1) == ["380", FULL]
        assert ways(server, "2", 2, 1) == ["80", FULL]
        assert server.dump()["resctrl"]["COS2"]["L3"][0] == "380"


def test_shared_is_one_group_on_all_sockets(server: RmdServer) -> None:
    assert ways(server, "1", 0) == ["400", "200"]
    name = post(server, "4", 0)["cos_name"]
    assert server.dump()["resctrl"][name]["cpus_list"] == "1,4"


def test_tasks_go_by_their_affinity() -> None:
    with RmdServer(tasks={"4711": {5}}) as server:
        name = ask(
            server,
            "POST",
            "/workloads",
            {"task_ids": ["4711"], "rdt": {"cache": {"max": 1, "min": 1}}},
        ).json["cos_name"]
        group = server.dump()["resctrl"][name]
        assert (group["L3"], group["tasks"], group["cpus_list"]) == (
            {0: FULL, 1: "20"},
            ["4711"],
            "",
        )


def test_cores_may_be_lists(server: RmdServer) -> None:
    name = post(server, "x", 1, core_ids=["1-2", "3,5"])["cos_name"]
    assert server.dump()["resctrl"][name]["cpus_list"] == "1-3,5"


def test_the_os_cpu_can_be_claimed_but_0_2_takes_it_back(v02: RmdServer, v03: RmdServer) -> None:
    for server, left in ((v03, "1-7"), (v02, "0-7")):
        post(server, "0", 1)
        assert server.dump()["resctrl"]["."]["cpus_list"] == left


def test_the_quota_of_shared_is_not_enforced() -> None:
    with RmdServer(pools=Pools(max_allowed_shared=1)) as server:
        assert [post(server, str(core), 0)["status"] for core in range(1, 5)] == ["Successful"] * 4


def test_infra_is_at_the_top_over_the_pools() -> None:
    with RmdServer(pools=Pools(infra=3, infra_cpus="2-3")) as server:
        group: dict[str, Any] = server.dump()["resctrl"]["COS1"]
        assert (group["L3"], group["cpus_list"]) == ({0: "700", 1: FULL}, "2-3")
        assert ask(server, "GET", "/cache/l3/0").json["available_cpus"] == "1"


@pytest.mark.parametrize(
    ("cores", "pool"),
    [(["1", "3", "4", "5", "6", "7"], 1), (["1", "2", "3", "4", "5", "6", "7"], 0)],
)
def test_how_many_classes_there_are(v03: RmdServer, cores: list[str], pool: int) -> None:
    """8 of L3 and MBA less 2: six workloads, and all shared ones need one."""
    assert len({post(v03, core, pool)["cos_name"] for core in cores}) == (6 if pool else 1)
    reply = ask(v03, "POST", "/workloads", nested("2", 2))
    assert reply.status == (500 if pool else 400)


def test_interleaved_cpus() -> None:
    with RmdServer(Machine(interleaved=True)) as server:
        assert ask(server, "GET", "/cache/l3/1").json["share_cpu_list"] == "1,3,5,7"
        assert ways(server, "1", 1) == [FULL, "20"]
