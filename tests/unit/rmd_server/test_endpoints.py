# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts 4 and 4.1: paths, methods, content types, and what each path answers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rmd import Dialect, Machine, Policies, RmdServer
from tests.unit.rmd_server.asking import ask, body_for, nested, post

SNIFFED = "text/plain; charset=utf-8"
INFO = {
    "cache_id": int,
    "NumWays": int,
    "NumSets": int,
    "NumPartitions": int,
    "LineSize": int,
    "total_size": int,
    "WaySize": int,
    "NumClasses": int,
    "WayContention": int,
    "CacheLevel": int,
    "location_on_socket": str,
    "location_on_node": str,
    "share_cpu_list": str,
    "available_ways": str,
    "available_cpus": str,
    "available_isolated_cpus": str,
    "available_policy": dict,
    "available_ways_pool": dict,
}


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "kind", "text"),
    [
        ("PATCH", "/workloads/", {}, 405, SNIFFED, "405: Method Not Allowed"),
        ("PUT", "/workloads", {}, 405, SNIFFED, "405: Method Not Allowed"),
        ("POST", "/policy", {}, 405, SNIFFED, "405: Method Not Allowed"),
        ("GET", "/hospitality", {}, 405, SNIFFED, "405: Method Not Allowed"),
        ("GET", "/version", {}, 404, SNIFFED, "404: Page Not Found"),
        ("GET", "/pstate", {}, 404, SNIFFED, "404: Page Not Found"),
        ("GET", "/cache/l1", {}, 404, SNIFFED, "404: Page Not Found"),
        ("GET", "/cache/l2", {}, 400, "", ""),
        ("GET", "/cache/l2/0", {}, 500, "", ""),
        ("GET", "/cache/l3/7", {}, 404, SNIFFED, "Cache id 7 for level 3 is not found"),
        ("GET", "/workloads/7", {}, 404, "text/plain", "404: Could not found workload"),
        ("DELETE", "/workloads/7", {}, 404, "text/plain", "404: Could not found workload"),
        (
            "PATCH",
            "/workloads/7",
            {"Content-Type": "application/json"},
            404,
            "text/plain",
            "404: Could not found workload",
        ),
        ("POST", "/workloads", {}, 415, SNIFFED, "415: Unsupported Media Type"),
        (
            "PATCH",
            "/workloads/7",
            {"Content-Type": "text/plain"},
            415,
            SNIFFED,
            "415: Unsupported Media Type",
        ),
        ("GET", "/workloads", {"Accept": "text/html"}, 406, SNIFFED, "406: Not Acceptable"),
        ("GET", "/workloads", {"Accept": "text/html, */*;q=0.1"}, 200, "application/json", "[]"),
        ("GET", "/workloads/", {"Accept": "application/json"}, 200, "application/json", "[]"),
    ],
)
def test_the_router(
    server: RmdServer,
    method: str,
    path: str,
    headers: dict[str, str],
    status: int,
    kind: str,
    text: str,
) -> None:
    reply = ask(server, method, path, headers=headers)
    assert (reply.status, reply.kind, reply.text) == (status, kind, text)


def test_cache_summary(server: RmdServer) -> None:
    found = ask(server, "GET", "/cache").json
    flags = ("rdt", "cqm", "cdp", "cdp_enable", "cat", "cat_enable")
    assert all(isinstance(found.pop(flag), bool) for flag in flags)
    assert found["caches"]["l3"] == {"number": 2, "caches_id": ["0", "1"]}
    assert set(found["caches"]) == {"l2", "l3"}


@pytest.mark.parametrize("level", ["l3", "llc"])
def test_cache_level(server: RmdServer, level: str) -> None:
    found = ask(server, "GET", f"/cache/{level}").json
    assert found["number"] == 2
    assert set(found["Caches"]) == {"0", "1"}
    for cache, info in found["Caches"].items():
        assert {key: type(value) for key, value in info.items()} == INFO
        assert ask(server, "GET", f"/cache/{level}/{cache}").json == info
    first = found["Caches"]["0"]
    assert (first["share_cpu_list"], first["available_cpus"]) == ("0-3", "1-3")
    assert first["available_ways_pool"] == {
        "besteffort": "7-9",
        "guaranteed": "1-6",
        "os": "0",
        "shared": "10",
    }
    # Where no CPU of the OS is, its way is not left out.
    assert found["Caches"]["1"]["available_ways_pool"]["guaranteed"] == "0-5"
    assert (first["NumPartitions"], first["NumClasses"], first["WayContention"]) == (0, 0, 0)


def test_ways_and_cpus_that_are_taken_are_not_available(server: RmdServer) -> None:
    post(server, "1,2", 3)
    info = ask(server, "GET", "/cache/l3/0").json
    assert info["available_ways_pool"]["guaranteed"] == "1-3"
    assert info["available_cpus"] == "3"
    # Neither the workload's ways nor the OS group's, which ends below them.
    assert int(info["available_ways"], 16) == 0x7FF & ~0x70 & ~0xF
    assert ask(server, "GET", "/cache/l3/1").json["available_ways_pool"]["guaranteed"] == "0-5"


def test_policies_are_numbers_in_0_3_and_texts_in_0_2(v02: RmdServer, v03: RmdServer) -> None:
    assert ask(v03, "GET", "/policy").json["gold"] == {"cache": {"max": 4, "min": 4}}
    assert ask(v02, "GET", "/policy").json["gold"] == {"cache": {"max": "4", "min": "4"}}


def test_no_policy_for_this_cpu() -> None:
    with RmdServer(policies=Policies(None)) as server:
        assert ask(server, "GET", "/policy").status == 404


@pytest.mark.parametrize(
    ("machine", "found"),
    [
        (Machine(), {"mba": True, "mba_enable": True, "mba_step": 10, "mba_min": 10}),
        (Machine(mba_closids=0), {"mba": False}),
    ],
)
def test_mba(machine: Machine, found: dict[str, Any]) -> None:
    with RmdServer(machine, Dialect.V02) as server:
        assert ask(server, "GET", "/mba").json == found


def test_a_plugin_has_a_path_for_get_only() -> None:
    with RmdServer(plugins=("pstate",)) as server:
        post(server, "1", plugins={"pstate": {"ratio": 3.0, "monitoring": "on"}})
        assert ask(server, "GET", "/pstate").json["pstate"]["1"]["ratio"] == 3.0
        assert ask(server, "POST", "/pstate", {}).status == 405


@pytest.mark.parametrize(
    ("asked", "scores"),
    [
        ({"max_cache": 6, "min_cache": 6}, {"0": 0, "1": 100}),
        ({"max_cache": 2, "min_cache": 2}, {"0": 100, "1": 100}),
        ({"max_cache": 6, "min_cache": 1}, {"0": 50, "1": 50}),
        ({"max_cache": 2, "min_cache": 1, "cache_id": 1}, {"1": 100}),
        ({"max_cache": 0, "min_cache": 0}, {"0": 100, "1": 100}),
    ],
)
def test_hospitality(server: RmdServer, asked: dict[str, int], scores: dict[str, int]) -> None:
    post(server, "1", 2)
    assert ask(server, "POST", "/hospitality", asked).json == {"score": {"l3": scores}}


@pytest.mark.parametrize(("most", "least"), [(2, 0), (1, 2), (0, 2)])
def test_hospitality_of_a_bad_pair(server: RmdServer, most: int, least: int) -> None:
    reply = ask(server, "POST", "/hospitality", {"max_cache": most, "min_cache": least})
    assert (reply.status, reply.text) == (500, f"Bad request, max_cache={most}, min_cache={least}")


def test_hospitality_by_policy(v02: RmdServer, v03: RmdServer) -> None:
    assert ask(v02, "POST", "/hospitality", {"policy": "gold"}).json == {
        "score": {"l3": {"0": 100, "1": 100}}
    }
    reply = ask(v03, "POST", "/hospitality", {"policy": "gold"})
    assert (reply.status, reply.text) == (500, "Unknown AppError type!")
    v03.faults.hospitality_policy = False
    assert ask(v03, "POST", "/hospitality", {"policy": "gold"}).status == 200


def test_hospitality_of_shared_is_always_full_in_0_3(v02: RmdServer, v03: RmdServer) -> None:
    for server in (v02, v03):
        for number in range(1, 8):
            post(server, str(number), 0)
        for _more in range(3):
            server.seed(workload_of_shared(server))
    asked = {"max_cache": 0, "min_cache": 0}
    assert ask(v02, "POST", "/hospitality", asked).json == {"score": {"l3": {"0": 0, "1": 0}}}
    assert ask(v03, "POST", "/hospitality", asked).json == {"score": {"l3": {"0": 100, "1": 100}}}


def workload_of_shared(server: RmdServer) -> Any:
    assert server.daemon is not None
    record = server.node.database.all()[0]
    record.id = ""
    return record


def test_the_whole_life_of_a_workload(server: RmdServer) -> None:
    assert ask(server, "GET", "/workloads").json == []
    reply = ask(server, "POST", "/workloads", body_for(server, "1", 2, uuid="u"))
    assert (reply.status, reply.json["uuid"], reply.json["id"]) == (201, "u", "1")
    assert ask(server, "GET", "/workloads").json == [reply.json]
    assert ask(server, "GET", "/workloads/1").json == reply.json
    changed = ask(server, "PATCH", "/workloads/1", body_for(server, "1", 3))
    assert changed.status == 200
    assert ask(server, "GET", "/workloads/1").json == changed.json
    gone = ask(server, "DELETE", "/workloads/1")
    assert (gone.status, gone.kind, gone.text) == (200, "", "")
    assert ask(server, "GET", "/workloads").text == "[]"


def test_answers_are_pretty_printed(v03: RmdServer) -> None:
    reply = ask(v03, "POST", "/workloads", nested("1"))
    assert reply.text.startswith('{\n "id": "1",\n "core_ids": [\n  "1"\n ],\n')
