# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts 4.6: the daemon's other faults, each with and without its switch."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.rmd import Dialect, Faults, Machine, Policies, Pools, RmdServer, StartError
from tests.rmd.machine import DAEMON_DEFAULTS
from tests.rmd.policies import SKYLAKE
from tests.unit.rmd_server.asking import ask, body_for, nested, post


def group_of(server: RmdServer, workload: dict[str, Any]) -> Any:
    return server.dump()["resctrl"][workload["cos_name"]]


def test_wrong_socket(server: RmdServer) -> None:
    assert group_of(server, post(server, "1", 2))["L3"] == {0: "60", 1: "7ff"}
    server.faults.wrong_socket = True
    assert group_of(server, post(server, "2", 2))["L3"] == {0: "7ff", 1: "18"}
    assert server.workloads()[1]["status"] == "Successful"


def test_the_wrong_socket_now_and_then() -> None:
    with RmdServer(Machine(cpus=32)) as server:
        server.faults.wrong_socket = 1 / 3
        masks = []
        for number in range(12):
            masks.append(group_of(server, post(server, "1", 2))["L3"][0])
            ask(server, "DELETE", f"/workloads/{number + 1}")
        assert set(masks) == {"60", "7ff"}


def test_what_the_kernel_refuses(v02: RmdServer, v03: RmdServer) -> None:
    """0.2 says so and takes its group back; in 0.3 only the log knows."""
    v02.node.machine = v03.node.machine = Machine(min_cbm_bits=2)
    v02.node.resctrl.machine = v03.node.resctrl.machine = Machine(min_cbm_bits=2)
    before = v02.dump()
    reply = ask(v02, "POST", "/workloads", body_for(v02, "1", 1))
    place = "write /sys/fs/resctrl/1-guarantee/schemata: invalid argument"
    told = f"Error to commit resource group for workload.. Details: {place}\n"
    assert (reply.status, reply.text, v02.dump()) == (500, told, before)
    found = post(v03, "1", 1)
    assert found["status"] == "Successful"
    assert group_of(v03, found)["cpus_list"] == ""


def test_a_core_just_above_the_last(v02: RmdServer, v03: RmdServer) -> None:
    reply = ask(v02, "POST", "/workloads", body_for(v02, "8", 1))
    assert reply.status == 500
    assert "8-guarantee/cpus: invalid argument" in reply.text
    assert group_of(v03, post(v03, "8", 1)) == {
        "cpus_list": "",
        "L3": {0: "7ff", 1: "7ff"},
        "MB": {0: 100, 1: 100},
        "tasks": [],
    }


@pytest.mark.parametrize(("asked", "set_to"), [(5, 100), (25, 30), (50, 50)])
def test_bandwidth_is_the_kernels(v03: RmdServer, asked: int, set_to: int) -> None:
    found = post(v03, "1", 2, percentage=asked)
    assert found["rdt"]["mba"] == {"percentage": asked}
    assert group_of(v03, found)["MB"] == {0: set_to, 1: 100}


def test_silent_noop(v03: RmdServer) -> None:
    before = v03.dump()["resctrl"]
    v03.faults.silent_noop = True
    assert post(v03, "1", 2)["status"] == "Successful"
    assert v03.dump()["resctrl"] == before
    # Nobody has the ways, so they are given again.
    v03.faults.silent_noop = False
    assert group_of(v03, post(v03, "2", 6))["L3"][0] == "7e"


@pytest.mark.parametrize("race", [True, False])
def test_posts_at_the_same_time(v03: RmdServer, race: bool) -> None:
    # Long enough for all twenty to have looked before the first is written, also on a busy machine.
    v03.faults.enforce_seconds = 0.5 if race else 0.02
    v03.faults.race = race
    with ThreadPoolExecutor(20) as pool:
        replies = list(
            pool.map(lambda _n: ask(v03, "POST", "/workloads", nested("1", uuid="u")), range(20))
        )
    made = [reply for reply in replies if reply.status == 201]
    assert len(made) == (6 if race else 1)
    assert [workload["uuid"] for workload in v03.workloads()] == ["u"] * len(made)


def test_a_restart_applies_nothing_again(server: RmdServer) -> None:
    post(server, "1", 2, uuid="u")
    before = server.dump()
    server.restart()
    assert server.dump() == before
    # What it has is known after the restart, too.
    assert group_of(server, post(server, "2", 2))["L3"][0] == "18"


def test_an_empty_database_after_a_restart(server: RmdServer) -> None:
    post(server, "1", 2, uuid="u")
    server.restart(empty_database=True)
    assert server.workloads() == []
    assert post(server, "4")["id"] == "1"


def test_the_other_version_on_the_same_machine(v02: RmdServer) -> None:
    assert post(v02, "1", 2)["cache"] == {"max": 2, "min": 2}
    assert not v02.faults.range_delete
    v02.install(Dialect.V03)
    v02.reboot()
    assert post(v02, "1", 2)["rdt"]["cache"] == {"max": 2, "min": 2}
    assert v02.faults.range_delete


def test_ghosts_after_a_boot(v02: RmdServer, v03: RmdServer) -> None:
    """0.3's groups have the same names after a boot, 0.2's are gone, and with them the records."""
    for server in (v02, v03):
        post(server, "1", 2, uuid="u")
        server.reboot()
    assert v02.workloads() == []
    assert [workload["uuid"] for workload in v03.workloads()] == ["u"]
    assert group_of(v03, v03.workloads()[0])["cpus_list"] == ""
    v03.faults.ghosts = False
    v03.restart()
    assert v03.workloads() == []


def test_workloads_without_a_group_do_not_survive() -> None:
    with RmdServer(plugins=("pstate",)) as server:
        post(server, "1", None, plugins={"pstate": {"ratio": 3.0}})
        server.restart()
        assert server.workloads() == []


def test_two_shared_workloads_keep_0_3_from_starting(v03: RmdServer) -> None:
    post(v03, "1", 0)
    v03.restart()
    post(v03, "2", 0)
    v03.restart()  # another class by now: the shared one was forgotten
    post(v03, "3", 0)
    post(v03, "4", 0)
    with pytest.raises(StartError, match="CLOS COS4 not found on available list"):
        v03.restart()
    assert not v03.running
    v03.faults.shared_restart = False
    assert len(v03.start().workloads()) == 4


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"machine": Machine(mba_closids=0)}, "Requested and currently set MBA mode differ"),
        (
            {"machine": Machine(mba_closids=0), "mba_mode": "none"},
            "CLOS pool initialization failure",
        ),
        ({"machine": Machine(mba_mbps=True)}, "Requested and currently set MBA mode differ"),
        ({"mba_mode": "fast"}, "Invalid MBA mode in rmd.toml"),
        ({"machine": Machine(closids=8)}, "not enough CLOS on host, 8 used"),
    ],
)
def test_0_3_does_not_start(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(StartError, match=text):
        RmdServer(**settings).start()


@pytest.mark.parametrize(
    ("machine", "switch"),
    [(Machine(mba_closids=0), "needs_mba"), (Machine(closids=8), "equal_closids")],
)
def test_0_3_starts_where_the_fault_is_off(machine: Machine, switch: str) -> None:
    faults = Faults()
    setattr(faults, switch, False)
    with RmdServer(machine, faults=faults) as server:
        for core in (1, 2, 3, 4, 5, 6):
            post(server, str(core))
        if not machine.mba_closids:
            reply = ask(server, "POST", "/workloads", nested("7", 1, percentage=50))
            assert reply.text.endswith("This machine supports only cache and not MBA")


@pytest.mark.parametrize("machine", [Machine(mba_closids=0), Machine(closids=8)])
def test_0_2_starts_there(machine: Machine) -> None:
    with RmdServer(machine, Dialect.V02) as server:
        assert group_of(server, post(server, "1"))["L3"][0] == "40"


def test_records_of_another_mba_mode_keep_it_from_starting(tmp_path: Path) -> None:
    with RmdServer(database=tmp_path / "rmd.db") as server:
        post(server, "1", 1, percentage=50)
    with pytest.raises(StartError, match="not compatible with current configuration"):
        RmdServer(mba_mode="mbps", database=tmp_path / "rmd.db").start()


@pytest.mark.parametrize("dialect", list(Dialect))
def test_the_default_pools_do_not_fit(dialect: Dialect) -> None:
    with RmdServer(dialect=dialect, pools=DAEMON_DEFAULTS) as server:
        assert ask(server, "GET", "/cache/l3/0").json["available_ways_pool"] == {"os": "0"}
        reply = ask(server, "POST", "/workloads", body_for(server, "1"))
        text = "Unable to read cache schemata; error doesn't support pool guarantee"
        assert (reply.status, reply.text) == (500, text)
        server.faults.empty_pools = False
        with pytest.raises(StartError, match="should be less or equal to 11"):
            server.restart()


def test_only_workloads_of_tasks_are_swept() -> None:
    with RmdServer(tasks={"7": {1}}, validator_interval=0.0) as server:
        ask(
            server,
            "POST",
            "/workloads",
            {"task_ids": ["7"], "rdt": {"cache": {"max": 1, "min": 1}}},
        )
        post(server, "2")
        assert len(ask(server, "GET", "/workloads").json) == 2
        server.node.tasks.clear()
        left = ask(server, "GET", "/workloads").json
        assert [workload.get("core_ids") for workload in left] == [["2"]]
        # Its class is not released.
        assert server.dump()["resctrl"]["COS2"]["L3"][0] == "40"


def test_a_yaml_policy_is_not_enforced() -> None:
    policies = Policies(SKYLAKE, yaml=True)
    with RmdServer(policies=policies) as server:
        found = post(server, "1", None, policy="gold")
        assert (found["status"], found["cos_name"]) == ("Successful", "")
        assert found["rdt"] == {"cache": {}, "mba": {}}
        reply = ask(server, "GET", "/cache/l3")
        assert (reply.status, reply.text) == (400, "")
        server.faults.yaml_policy = False
        assert ask(server, "GET", "/cache/l3").status == 200
        assert post(server, "2", None, policy="gold")["cos_name"] == "COS2"
    slow = Policies({"slow": {"cache": {"max": 1, "min": 1}, "mba": {"percentage": 30}}}, yaml=True)
    with RmdServer(policies=slow) as server:
        assert post(server, "1", None, policy="slow")["rdt"] == {
            "cache": {},
            "mba": {"percentage": 30},
        }
    with RmdServer(dialect=Dialect.V02, policies=policies) as server:
        assert post(server, "1", None, policy="gold")["cos_name"] == "1-guarantee"


def test_pools_that_fit() -> None:
    with RmdServer(pools=Pools(guarantee=4, besteffort=4, shared=2)) as server:
        pools = ask(server, "GET", "/cache/l3/0").json["available_ways_pool"]
        assert pools == {"besteffort": "5-8", "guaranteed": "1-4", "os": "0", "shared": "9-10"}
