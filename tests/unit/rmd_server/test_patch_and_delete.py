# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts 4.5: what PATCH and DELETE really do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rmd import Dialect, RmdServer
from tests.unit.rmd_server.asking import ask, body_for, nested, post

REFUSED = "Failed to validate workload. Details: "


def cache_of(workload: dict[str, Any]) -> Any:
    return workload["rdt"]["cache"] if "rdt" in workload else workload["cache"]


def test_an_equal_body_changes_nothing(server: RmdServer) -> None:
    post(server, "1,2", 2, uuid="u")
    before = server.dump()
    assert (
        ask(server, "PATCH", "/workloads/1", body_for(server, "1,2", 2)).json
        == before["workloads"][0]
    )
    assert server.dump() == before


def test_the_uuid_is_ignored(server: RmdServer) -> None:
    post(server, "1", 1, uuid="u")
    assert (
        ask(server, "PATCH", "/workloads/1", body_for(server, "1", 2, uuid="other")).json["uuid"]
        == "u"
    )


@pytest.mark.parametrize("body", ["{", "", "[]"])
def test_a_body_that_cannot_be_read_is_an_empty_one(server: RmdServer, body: str) -> None:
    post(server, "1")
    reply = ask(server, "PATCH", "/workloads/1", body, headers={"Content-Type": "application/json"})
    assert (reply.status, reply.text) == (500, f"{REFUSED}No task or core id specified\n")


def test_other_ways_usually_get_another_class(v03: RmdServer) -> None:
    assert post(v03, "1", 1)["cos_name"] == "COS2"
    changed = ask(v03, "PATCH", "/workloads/1", nested("1", 2)).json
    assert (changed["cos_name"], cache_of(changed)) == ("COS3", {"max": 2, "min": 2})
    groups = v03.dump()["resctrl"]
    assert (groups["COS2"]["L3"][0], groups["COS2"]["cpus_list"]) == ("7ff", "")
    assert (groups["COS3"]["L3"][0], groups["COS3"]["cpus_list"]) == ("60", "1")


def test_another_policy(server: RmdServer) -> None:
    post(server, "1", None, policy="gold")
    changed = ask(
        server, "PATCH", "/workloads/1", body_for(server, "1", None, policy="silver")
    ).json
    assert (changed["policy"], cache_of(changed)) == ("silver", {"max": 3, "min": 1})
    # Values of one's own end the policy.
    own = ask(server, "PATCH", "/workloads/1", body_for(server, "1", 2)).json
    assert ("policy" in own, cache_of(own)) == (False, {"max": 2, "min": 2})


def test_another_bandwidth(v03: RmdServer) -> None:
    post(v03, "1", 1, percentage=50)
    name = ask(v03, "PATCH", "/workloads/1", nested("1", 1, percentage=70)).json["cos_name"]
    assert v03.dump()["resctrl"][name]["MB"] == {0: 70, 1: 100}


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"percentage": 101}, "MBA values range only from 1 to 100"),
        ({"mbps": 5}, "Please provide MBA in Percentage"),
        ({"plugins": {"pstate": {"ratio": 3}}}, "Trying to use module that is not loaded"),
    ],
)
def test_values_that_cannot_be(v03: RmdServer, values: dict[str, Any], text: str) -> None:
    post(v03, "1")
    before = v03.dump()
    reply = ask(v03, "PATCH", "/workloads/1", nested("1", 1, **values))
    assert (reply.status, reply.text) == (500, text)
    assert v03.dump() == before


@pytest.mark.parametrize("cores", ["1,3", "2,1"])
def test_other_cores_alone_always_fail(server: RmdServer, cores: str) -> None:
    """It is compared with itself."""
    post(server, "1,2")
    before = server.dump()
    reply = ask(server, "PATCH", "/workloads/1", body_for(server, cores))
    text = f"{REFUSED}Workload validation in database failed. Details: Workload with id 1 already exists\n\n"
    assert (reply.status, reply.text) == (500, text)
    assert server.dump() == before
    server.faults.patch_refuses_cores = False
    assert ask(server, "PATCH", "/workloads/1", body_for(server, cores)).json[
        "core_ids"
    ] == cores.split(",")


def test_cores_with_other_ways_take_those_of_others(server: RmdServer) -> None:
    post(server, "1")
    post(server, "2")
    changed = ask(server, "PATCH", "/workloads/1", body_for(server, "1,2", 2))
    assert changed.json["core_ids"] == ["1", "2"]
    groups = server.dump()["resctrl"]
    assert groups[changed.json["cos_name"]]["cpus_list"] == "1-2"
    assert groups[server.workloads()[1]["cos_name"]]["cpus_list"] == ""
    server.faults.patch_steals_cores = False
    refused = ask(server, "PATCH", "/workloads/2", body_for(server, "1,2", 1, 1))
    assert refused.status == 500


def test_plugins_that_are_not_named_are_dropped() -> None:
    with RmdServer(plugins=("pstate",)) as server:
        post(server, "1", 1, plugins={"pstate": {"ratio": 3.0}})
        assert "plugins" not in ask(server, "PATCH", "/workloads/1", nested("1", 2)).json


@pytest.mark.parametrize(
    ("values", "name"), [({"monitoring": "on"}, "COS2"), ({"ratio": 3.0}, "COS3")]
)
def test_a_plugins_numbers_are_never_equal_to_those_of_the_database(
    values: dict[str, Any], name: str
) -> None:
    with RmdServer(plugins=("pstate",)) as server:
        assert post(server, "1", 1, plugins={"pstate": values})["cos_name"] == "COS2"
        again = ask(server, "PATCH", "/workloads/1", nested("1", 1, plugins={"pstate": values}))
        assert again.json["cos_name"] == name


def test_0_2_keeps_pstate() -> None:
    with RmdServer(dialect=Dialect.V02, plugins=("pstate",)) as server:
        post(server, "1", 1, pstate={"ratio": 3.0})
        body = {"core_ids": ["1"], "cache": {"max": 2, "min": 2}, "pstate": {"ratio": 2.0}}
        changed = ask(server, "PATCH", "/workloads/1", body).json
        assert changed["pstate"] == {"ratio": 2.0, "monitoring": "on"}


def test_a_failed_patch_has_released_what_there_was(server: RmdServer) -> None:
    posted = post(server, "1", 2)
    reply = ask(server, "PATCH", "/workloads/1", body_for(server, "1", 7))
    assert (reply.status, reply.text) == (500, "Not enough cache left on cache_id 0")
    # GET does not know.
    assert server.workloads() == [posted]
    group = server.dump()["resctrl"].get(posted["cos_name"], {"cpus_list": ""})
    assert group["cpus_list"] == ""
    assert server.dump()["resctrl"]["."]["cpus_list"] == "0-7"


def test_a_class_that_a_failed_patch_released_goes_to_others(v03: RmdServer) -> None:
    post(v03, "1", 1)
    ask(v03, "PATCH", "/workloads/1", nested("1", 7))
    names = [post(v03, str(core), 1)["cos_name"] for core in (2, 3, 4, 5, 6, 7)]
    assert "COS2" in names
    # Whoever deletes the old one takes the ways from the new one.
    ask(v03, "DELETE", "/workloads/1")
    assert v03.dump()["resctrl"]["COS2"]["L3"] == {0: "7ff", 1: "7ff"}


def test_a_failed_patch_that_is_not_destructive(server: RmdServer) -> None:
    server.faults.destructive_patch = False
    post(server, "1", 2)
    before = server.dump()
    assert ask(server, "PATCH", "/workloads/1", body_for(server, "1", 7)).status == 500
    assert server.dump() == before


def test_delete_gives_everything_back(server: RmdServer) -> None:
    before = server.dump()
    post(server, "1,2", 2)
    post(server, "4", 0)
    post(server, "5", 0)
    for key in (1, 2, 3):
        assert ask(server, "DELETE", f"/workloads/{key}").status == 200
    assert server.dump() == before


def test_shared_ones_leave_their_class_when_the_last_one_goes(v03: RmdServer) -> None:
    names = [post(v03, str(core), 0)["cos_name"] for core in (1, 2)]
    ask(v03, "DELETE", "/workloads/1")
    assert v03.dump()["resctrl"][names[0]]["L3"] == {0: "400", 1: "200"}
    ask(v03, "DELETE", "/workloads/2")
    assert v03.dump()["resctrl"][names[0]]["L3"] == {0: "7ff", 1: "7ff"}


def test_the_class_of_the_last_shared_one_is_anybodys(v03: RmdServer) -> None:
    post(v03, "1", 0)
    ask(v03, "DELETE", "/workloads/1")
    assert len({post(v03, str(core))["cos_name"] for core in (2, 3, 4, 5, 6, 7)}) == 6
    reply = ask(v03, "POST", "/workloads", nested("1", 0))
    assert (reply.status, reply.text) == (500, "No free CLOS left to create shared group")


@pytest.mark.parametrize("item", ["2-3", "2,3"])
def test_delete_of_a_range_moves_core_0_instead(v03: RmdServer, item: str) -> None:
    post(v03, "x", 1, core_ids=["0"])
    name = post(v03, "x", 1, core_ids=[item])["cos_name"]
    assert ask(v03, "DELETE", "/workloads/2").status == 200
    groups = v03.dump()["resctrl"]
    assert groups["."]["cpus_list"] == "0-1,4-7"
    assert (groups[name]["cpus_list"], groups[name]["L3"]) == ("2-3", {0: "7ff", 1: "7ff"})
    assert [workload["id"] for workload in v03.workloads()] == ["1"]


def test_delete_of_a_range_where_that_is_right(v02: RmdServer, v03: RmdServer) -> None:
    v03.faults.range_delete = False
    for server in (v02, v03):
        post(server, "x", 1, core_ids=["2-3"])
        ask(server, "DELETE", "/workloads/1")
        assert server.dump()["resctrl"]["."]["cpus_list"] == "0-7"
