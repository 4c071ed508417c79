# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""rmd_workload and rmd_info against RMD servers, which nodes' pods lead to: what is sent, undone, repaired and said.

Everything asks the servers' own logs and dumps. Each test begins with nothing that runs."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils.rmd.client import Daemon
from ansible_collections.hardware.enablement.plugins.module_utils.rmd.endpoints import server_name
from ansible_collections.hardware.enablement.plugins.module_utils.rmd.errors import RmdError
from ansible_collections.hardware.enablement.plugins.module_utils.rmd.tls import Material
from ansible_collections.hardware.enablement.plugins.module_utils.rmd.wire import Address, Wire
from tests.cluster import Cluster
from tests.integration.conftest import grant, name_of
from tests.integration.plays import PLAYBOOKS, REPO, Runner
from tests.integration.processes import below, lives
from tests.integration.rmd_bed import NAMESPACE, RmdBed, make_bed, server_of, wait_until
from tests.rmd import Dialect, Injection, RmdServer, Workload
from tests.rmd.policies import SKYLAKE

pytestmark = pytest.mark.rmd

Obj = dict[str, Any]

OLD: Obj = {"uuid": "w", "core_ids": ["1-2"], "cache": {"max": 2, "min": 2}}
NEW: Obj = {"uuid": "w", "core_ids": ["2", "1"], "cache": {"max": 3, "min": 3}}
OTHER: Obj = {"uuid": "other", "core_ids": ["3"], "cache": {"max": 1, "min": 1}}
NO_CLOS = Injection("POST", status=500, text="No free CLOS available")


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster with five nodes."""
    with Cluster.up(name_of(request)) as started:
        started.add_nodes(5, profile="cpu-only", prefix="rmd")
        yield started


@pytest.fixture(scope="module", params=list(Dialect), ids=lambda dialect: dialect.value)
def module_bed(
    request: pytest.FixtureRequest, cluster: Cluster, runner: Runner, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RmdBed]:
    names = [f"rmd-{number}" for number in range(1, 6)]
    folder = tmp_path_factory.mktemp("rmd")
    # With the plugin loaded, v0.2 wants its values in every policy.
    pstate = {"pstate": {"ratio": 3.0, "monitoring": "on"}}
    policies = {name: {**tier, **pstate} for name, tier in SKYLAKE.items()}
    settings: Obj = {"dialect": request.param, "plugins": ("pstate",), "policies": policies}
    with make_bed(cluster, runner, folder, names, **settings) as made:
        yield made
        # Whatever a test has asked for, none of it was ever a PATCH, and no range was sent.
        for server in made.fleet.servers.values():
            for seen in server.requests():
                assert seen.method in ("GET", "POST", "DELETE")
                if seen.method == "POST" and b"by-hand" not in seen.body:
                    assert all(core.isdigit() for core in seen.json["core_ids"]), seen


@pytest.fixture
def bed(module_bed: RmdBed) -> Iterator[RmdBed]:
    """The bed, with nothing left of the test before."""
    module_bed.clean()
    return module_bed


@pytest.fixture
def v03(module_bed: RmdBed) -> RmdBed:
    """The bed of the newer dialect only: v0.2 does not have what is tested, or once is enough."""
    if server_of(module_bed, 0).settings.dialect is not Dialect.V03:
        pytest.skip("only with v0.3")
    module_bed.clean()
    return module_bed


def good(result: Obj) -> Obj:
    assert not result.get("failed"), result["msg"]
    return result


def failed(result: Obj, *words: str) -> Obj:
    assert result.get("failed"), result
    for word in words:
        assert word in result["msg"], result["msg"]
    assert "\n" not in result["msg"]
    return result


def outcomes(bed: RmdBed, result: Obj) -> list[str]:
    found = bed.by_node(result)
    return [found[node]["outcome"] for node in bed.nodes]


# What is sent.


def test_the_first_run_posts_and_the_second_only_looks(bed: RmdBed) -> None:
    first = good(bed.workload(**OLD))
    assert first["changed"]
    assert outcomes(bed, first) == ["changed"] * 5
    mark, asked = bed.fleet.mark(), bed.cluster.mark()
    second = good(bed.workload(uuid="w", core_ids=["2", "1-1", "1,2"], cache={"max": 2, "min": 2}))
    assert not second["changed"]
    assert outcomes(bed, second) == ["unchanged"] * 5
    assert bed.methods(mark) == dict.fromkeys(bed.nodes, "G")
    assert second["requests"] == {"GET": 5}
    assert bed.runner.writes(asked) == []


def test_what_is_sent_for_a_change(bed: RmdBed) -> None:
    good(bed.workload(**OLD, nodes=bed.nodes[:1]))
    mark = bed.fleet.mark()
    good(bed.workload(**NEW, nodes=bed.nodes[:1]))
    # Two looks, without and with the node's lock; the caches; the change; RMD's own word.
    assert bed.methods(mark)[bed.nodes[0]] == "GGGDPG"
    assert bed.workloads()[bed.nodes[0]][0]["core_ids"] == ["1", "2"]
    assert bed.saved(bed.nodes[0]) == []
    assert bed.lease(bed.nodes[0])["spec"]["holderIdentity"] == ""


def test_absent(bed: RmdBed) -> None:
    good(bed.workload(workloads=[OLD, OTHER]))
    result = good(bed.workload(uuid="w", state="absent", nodes=bed.nodes[:2]))
    assert result["changed"]
    assert [[body["uuid"] for body in bodies] for bodies in bed.workloads().values()] == [
        ["other"],
        ["other"],
        ["w", "other"],
        ["w", "other"],
        ["w", "other"],
    ]
    mark = bed.fleet.mark()
    assert not good(bed.workload(uuid="w", state="absent", nodes=bed.nodes[:2]))["changed"]
    assert {"".join(set(methods)) for methods in bed.methods(mark).values()} == {"G", ""}


def test_several_workloads_in_one_run(bed: RmdBed) -> None:
    wanted = [OLD, OTHER, {"uuid": "shared", "core_ids": ["4", "5"], "cache": {"max": 0, "min": 0}}]
    result = good(bed.workload(workloads=wanted))
    assert [entry["action"] for entry in bed.by_node(result)[bed.nodes[0]]["actions"]] == ["post"] * 3
    assert not good(bed.workload(workloads=wanted))["changed"]


def test_cores_change_places(bed: RmdBed) -> None:
    one, two = {**OLD, "uuid": "one", "core_ids": ["1"]}, {**OLD, "uuid": "two", "core_ids": ["2"]}
    good(bed.workload(workloads=[one, two]))
    good(bed.workload(workloads=[{**one, "core_ids": ["2"]}, {**two, "core_ids": ["1"]}]))
    assert {body["uuid"]: body["core_ids"] for body in bed.workloads()[bed.nodes[0]]} == {"one": ["2"], "two": ["1"]}


def test_a_policy(bed: RmdBed) -> None:
    good(bed.workload(uuid="w", core_ids=["1"], policy="gold"))
    assert not good(bed.workload(uuid="w", core_ids=["1"], policy="gold"))["changed"]
    assert good(bed.workload(uuid="w", core_ids=["1"], policy="silver"))["changed"]


def test_pstate(bed: RmdBed) -> None:
    wanted: Obj = {"uuid": "w", "core_ids": ["1"], "pstate": {"ratio": 3.0, "monitoring": "on"}}
    good(bed.workload(**{**wanted, "pstate": {"ratio": 3.0}}))
    assert not good(bed.workload(**{**wanted, "pstate": {"ratio": 3.0}}))["changed"]
    good(bed.workload(**wanted))
    assert not good(bed.workload(**wanted))["changed"]
    assert bed.info()["nodes"][0]["workloads"][0]["pstate"] == {"ratio": 3.0, "monitoring": "on"}


def test_memory_bandwidth(v03: RmdBed) -> None:
    good(v03.workload(**OLD, mba={"percentage": 50}))
    assert not good(v03.workload(**OLD, mba={"percentage": 50}))["changed"]
    failed(v03.workload(**OLD, mba={"mbps": 500}), "Please provide MBA in Percentage", "rolled back")


def test_check_mode_and_diff(bed: RmdBed) -> None:
    good(bed.workload(**OLD, nodes=bed.nodes[:1]))
    before, mark, asked = bed.fleet.dump(), bed.fleet.mark(), bed.cluster.mark()
    result = good(bed.workload(check=True, diff=True, **NEW))
    assert result["changed"]
    assert outcomes(bed, result) == ["would_change"] * 5
    assert result["diff"]["before"] == f"{bed.nodes[0]} w: core_ids=1,2 cache=max:2/min:2\n"
    assert result["diff"]["after"].splitlines()[0] == f"{bed.nodes[0]} w: core_ids=1,2 cache=max:3/min:3"
    assert len(result["diff"]["after"].splitlines()) == 5
    assert {"".join(sorted(set(methods))) for methods in bed.methods(mark).values()} == {"G"}
    assert bed.fleet.dump() == before
    assert bed.runner.writes(asked) == []


def test_check_mode_tells_what_rmd_would_refuse(v03: RmdBed) -> None:
    result = failed(v03.workload(check=True, uuid="w", core_ids=["99"], cache={"max": 2, "min": 2}), "names core 99")
    assert not result["changed"]


def test_both_faces(v03: RmdBed, tmp_path: Path) -> None:
    """By the action plugin, inside the controller's process, and by the module."""
    out = tmp_path / "out.json"
    common = {"out": str(out), "nodes": v03.nodes, "ansible_python_interpreter": sys.executable}
    for how, changed in (("local", True), ("elsewhere", False)):
        played = v03.runner.play(PLAYBOOKS / "rmd_workload.yml", **common, ansible_connection=how, workload=OLD)
        found = json.loads(out.read_text()) if played.check() else {}
        assert found["done"]["changed"] is changed
        assert [entry["node"] for entry in found["seen"]["nodes"]] == v03.nodes
        assert found["seen"]["nodes"][0]["workloads"][0]["uuid"] == "w"
        wrong = {**OLD, "cache": {"max": 1, "min": 2}}
        failing = v03.runner.play(PLAYBOOKS / "rmd_workload.yml", **common, ansible_connection=how, workload=wrong)
        assert failing.code != 0
        assert "Cannot ask for workload w: workload w asks for at most 1 and at least 2 ways" in failing.output


def test_nodes_by_label(v03: RmdBed) -> None:
    v03.cluster.kubectl("label", "node", v03.nodes[1], v03.nodes[3], "cache=yes", "--overwrite")
    result = good(v03.workload(**OLD, nodes=None, node_selector={"cache": "yes"}))
    assert list(v03.by_node(result)) == [v03.nodes[1], v03.nodes[3]]
    nothing = good(v03.workload(**OLD, nodes=None, node_selector={"cache": "no"}))
    assert (nothing["changed"], nothing["nodes"]) == (False, [])


def test_info(bed: RmdBed) -> None:
    good(bed.workload(**OLD, nodes=bed.nodes[:1]))
    server_of(bed, 4).stop()
    found = bed.by_node(bed.info())
    first, last = found[bed.nodes[0]], found[bed.nodes[4]]
    assert first["reachable"]
    assert first["dialect"] == server_of(bed, 0).settings.dialect.value
    assert [(cache["id"], cache["cores"], cache["ways"]) for cache in first["caches"]] == [
        ("0", "0-3", 11),
        ("1", "4-7", 11),
    ]
    assert set(first["policies"]) == {"bronze", "gold", "silver"}
    assert not last["reachable"]
    assert (last["kind"], last["workloads"]) == ("transport", [])


# Wrong input.


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"uuid": "w", "core_ids": ["x"], "cache": {"max": 1, "min": 1}}, '"x" is no list of CPUs'),
        ({"uuid": "w", "core_ids": ["1"]}, "asks for nothing"),
        ({"uuid": "w", "cache": {"max": 1, "min": 1}}, "names no core"),
        ({"core_ids": ["1"]}, "either one workload or a list"),
        ({"workloads": [OLD], "uuid": "x"}, "either one workload or a list"),
        ({"workloads": [OLD, OLD]}, "more than once"),
        ({"workloads": [OLD, {**OTHER, "core_ids": ["2"]}]}, "belongs to workload"),
        ({**OLD, "nodes": None}, "give nodes or node_selector"),
        ({**OLD, "mba": {"percentage": 101}}, "not from 1 to 100"),
    ],
)
def test_what_no_rmd_takes_is_said_before_anything_is_asked(v03: RmdBed, params: Obj, words: str) -> None:
    mark, asked = v03.fleet.mark(), v03.cluster.mark()
    failed(v03.workload(**params), words)
    assert set(v03.methods(mark).values()) == {""}
    assert v03.cluster.audit(user="runner", since=asked) == []


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({"core_ids": ["99"]}, "unknown_core"),
        ({"core_ids": ["3"]}, "conflict_core"),
        ({"core_ids": ["1"], "cache": {"max": 12, "min": 12}}, "no_cache"),
        ({"core_ids": ["1"], "cache": {"max": 6, "min": 6}}, "no_cache"),
        ({"core_ids": ["1"], "policy": "platinum"}, "policy_unknown"),
    ],
)
def test_what_the_machine_does_not_have_is_never_sent(bed: RmdBed, params: Obj, kind: str) -> None:
    good(bed.workload(**OTHER))
    before, mark = bed.fleet.dump(), bed.fleet.mark()
    result = failed(bed.workload(**{"uuid": "w", "cache": {"max": 2, "min": 2}, **params}))
    assert {entry["kind"] for entry in result["nodes"]} == {kind}
    assert set("".join(bed.methods(mark).values())) == {"G"}
    assert bed.fleet.dump() == before


def test_the_older_dialect_has_no_mba(bed: RmdBed) -> None:
    if server_of(bed, 0).settings.dialect is Dialect.V03:
        pytest.skip("the newer one has")
    result = failed(bed.workload(**OLD, mba={"percentage": 50}), "which RMD v0.2 does not know")
    assert result["nodes"][0]["kind"] == "mba_unsupported"
    assert set(bed.workloads()[bed.nodes[0]]) == set()


# One of five fails.


def test_rolled_back_everywhere(bed: RmdBed) -> None:
    good(bed.workload(**OLD))
    before = bed.workloads()
    server_of(bed, 2).faults.inject(NO_CLOS)
    result = failed(
        bed.workload(**NEW, parallel=1),
        f"on 1 of 5 nodes ({bed.nodes[2]})",
        'RMD says "No free CLOS available" (500)',
        "all nodes were rolled back to what they were",
        "remove a workload",
    )
    assert bed.workloads() == before
    assert outcomes(bed, result) == ["rolled_back", "rolled_back", "rolled_back", "withheld", "withheld"]
    assert [entry["node"] for entry in result["nodes"] if entry["failed"]] == [bed.nodes[2]]
    assert not result["changed"]
    assert [bed.saved(node) for node in bed.nodes] == [[]] * 5
    # And then it works.
    assert outcomes(bed, good(bed.workload(**NEW))) == ["changed"] * 5


def test_new_ones_are_rolled_back_without_a_trace(bed: RmdBed) -> None:
    before = bed.fleet.dump()
    server_of(bed, 4).faults.inject(Injection("POST", after=1, status=500, text="No free CLOS available"))
    failed(bed.workload(**OLD), "rolled back")
    assert bed.fleet.dump() == before


def test_what_went_well_is_kept(bed: RmdBed) -> None:
    good(bed.workload(**OLD))
    before = bed.workloads()
    server_of(bed, 2).faults.inject(NO_CLOS)
    result = failed(bed.workload(**NEW, on_partial_failure="keep"), "4 of the other nodes were changed and kept so")
    after = bed.workloads()
    assert after[bed.nodes[2]] == before[bed.nodes[2]]
    assert "the old one is in place" in bed.by_node(result)[bed.nodes[2]]["message"]
    assert outcomes(bed, result) == ["changed", "changed", "failed", "changed", "changed"]
    assert {node: bodies[0].get("rdt", bodies[0])["cache"] for node, bodies in after.items()} == {
        node: {"max": 2, "min": 2} if node == bed.nodes[2] else {"max": 3, "min": 3} for node in bed.nodes
    }
    assert result["changed"]
    assert bed.saved(bed.nodes[2]) == []


def test_other_workloads_of_the_same_node_are_kept(v03: RmdBed) -> None:
    node = v03.nodes[0]
    good(v03.workload(**OLD, nodes=[node]))
    server_of(v03, 0).faults.inject(NO_CLOS)
    result = failed(v03.workload(workloads=[NEW, OTHER], nodes=[node], on_partial_failure="keep"))
    assert sorted(body["uuid"] for body in v03.workloads()[node]) == ["other", "w"]
    assert [("problem" in entry, entry["uuid"]) for entry in result["nodes"][0]["actions"]] == [
        (True, "w"),
        (False, "other"),
    ]


def test_a_workload_that_breaks_a_rule_stops_only_itself_where_asked(v03: RmdBed) -> None:
    node = v03.nodes[0]
    wrong = {**OTHER, "core_ids": ["99"]}
    failed(v03.workload(workloads=[OLD, wrong], nodes=[node], on_partial_failure="keep"), "names core 99")
    assert [body["uuid"] for body in v03.workloads()[node]] == ["w"]


def test_nothing_is_written_while_one_cannot_be_asked(v03: RmdBed) -> None:
    server_of(v03, 3).stop()
    mark = v03.fleet.mark()
    result = failed(v03.workload(**OLD), "no connection (Connection refused)", "nothing was written")
    assert outcomes(v03, result) == ["withheld", "withheld", "withheld", "failed", "withheld"]
    assert set("".join(v03.methods(mark).values())) == {"G"}
    kept = failed(v03.workload(**OLD, on_partial_failure="keep"))
    assert outcomes(v03, kept) == ["changed", "changed", "changed", "failed", "changed"]


def test_nothing_is_written_while_one_would_refuse(bed: RmdBed) -> None:
    """The cores are somebody's on one node only, which is known before the first write."""
    good(bed.workload(**{**OTHER, "core_ids": ["2"]}, nodes=[bed.nodes[3]]))
    before, mark = bed.fleet.dump(), bed.fleet.mark()
    result = failed(bed.workload(**OLD), "core 2 of workload w belongs to workload other", "nothing was written")
    assert outcomes(bed, result) == ["withheld", "withheld", "withheld", "failed", "withheld"]
    assert bed.fleet.dump() == before
    # The dialect may be asked for by a POST that every daemon refuses.
    posts = [seen.json for entries in bed.fleet.requests(mark).values() for seen in entries if seen.method == "POST"]
    assert all(body == {"core_ids": ["0"]} for body in posts)


def test_a_daemon_that_dies_is_brought_back_by_the_next_run(bed: RmdBed) -> None:
    """Between DELETE and POST, for good: neither the new one nor the old one can be set."""
    good(bed.workload(**OLD))
    before = bed.workloads()
    server_of(bed, 2).faults.inject(Injection("POST", die=True))
    result = failed(bed.workload(**NEW), f"but for {bed.nodes[2]}", "run again: what was saved is put back first")
    assert bed.by_node(result)[bed.nodes[2]]["kind"] == "not_restored"
    assert [body["uuid"] for body in bed.saved(bed.nodes[2])] == ["w"]
    assert bed.by_node(bed.info())[bed.nodes[2]]["unfinished"] == ["w"]
    server_of(bed, 2).faults.clear()
    server_of(bed, 2).start()
    again = good(bed.workload(**OLD))
    assert bed.by_node(again)[bed.nodes[2]]["actions"][0] == {"uuid": "w", "action": "restore"}
    assert bed.workloads() == before
    assert bed.saved(bed.nodes[2]) == []


# Killed.


def killed(bed: RmdBed, **wanted: Any) -> None:
    """A playbook that is killed by -9 when a server has had its DELETE, and has not answered the POST."""
    server = server_of(bed, 0)
    server.faults.inject(Injection("POST", hang=60.0))
    mark = server.mark()
    process = bed.runner.start(
        PLAYBOOKS / "rmd_workload.yml",
        nodes=bed.nodes[:1],
        workload=wanted,
        out=str(bed.runner.folder / "killed.json"),
        ansible_python_interpreter=sys.executable,
    )
    hanging = server.wait_for(lambda seen: seen.method == "POST", timeout=30, since=mark)
    workers = below(process.pid)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    # A worker of its own session ends when it sees that its parent is dead.
    wait_until(lambda: not any(lives(worker) for worker in workers), 10)
    assert [body["uuid"] for body in server.workloads()] == []
    server.stop()
    wait_until(lambda: hanging.status is not None, 10)
    server.faults.clear()
    server.start()
    # The hold of a dead run lasts a minute; the test has not that much patience.
    assert bed.lease(bed.nodes[0])["spec"]["holderIdentity"]
    bed.cluster.kubectl(
        "patch",
        "lease",
        f"rmd.{bed.nodes[0]}",
        "-n",
        "hardware-enablement",
        "--type=merge",
        "-p",
        '{"spec":{"leaseDurationSeconds":1}}',
    )


def test_the_next_run_repairs_what_a_killed_one_has_left(bed: RmdBed) -> None:
    node = bed.nodes[0]
    good(bed.workload(**OLD, nodes=[node]))
    killed(bed, **NEW)
    assert [body["uuid"] for body in bed.saved(node)] == ["w"]
    check = good(bed.workload(check=True, **OTHER, nodes=[node]))
    assert {"uuid": "w", "action": "restore"} in check["nodes"][0]["actions"]
    # A run about something else puts back what was there.
    result = good(bed.workload(**OTHER, nodes=[node]))
    assert result["nodes"][0]["actions"] == [{"uuid": "w", "action": "restore"}, {"uuid": "other", "action": "post"}]
    assert [body["uuid"] for body in bed.workloads()[node]] == ["w", "other"]
    assert bed.saved(node) == []


def test_the_same_run_again_ends_what_it_began(v03: RmdBed) -> None:
    node = v03.nodes[0]
    good(v03.workload(**OLD, nodes=[node]))
    killed(v03, **NEW)
    good(v03.workload(**NEW, nodes=[node]))
    (body,) = v03.workloads()[node]
    assert body.get("rdt", body)["cache"] == {"max": 3, "min": 3}
    assert v03.saved(node) == []
    assert not good(v03.workload(**NEW, nodes=[node]))["changed"]


def test_what_should_be_gone_is_not_put_back(v03: RmdBed) -> None:
    node = v03.nodes[0]
    good(v03.workload(**OLD, nodes=[node]))
    killed(v03, **NEW)
    mark = v03.fleet.mark()
    good(v03.workload(uuid="w", state="absent", nodes=[node]))
    assert set(v03.methods(mark)[node]) == {"G"}
    assert v03.workloads()[node] == []
    assert v03.saved(node) == []


# One writer for each node.


def test_another_run_is_waited_for(v03: RmdBed) -> None:
    node = v03.nodes[0]
    server_of(v03, 0).faults.inject(Injection("POST", after=1, hang=2.0))
    results: list[Obj] = []
    first = threading.Thread(target=lambda: results.append(v03.workload(**OLD, nodes=[node], holder="first")))
    mark = server_of(v03, 0).mark()
    first.start()
    server_of(v03, 0).wait_for(lambda seen: seen.method == "POST" and b"uuid" in seen.body, since=mark)
    refused = failed(v03.workload(**OTHER, nodes=[node], holder="second", lock_wait=0), "first has the lock since")
    assert refused["nodes"][0]["kind"] == "locked"
    second = good(v03.workload(**OTHER, nodes=[node], holder="second", lock_wait=20))
    first.join()
    good(results[0])
    assert second["changed"]
    assert [body["uuid"] for body in v03.workloads()[node]] == ["w", "other"]


# The daemon's faults, and our client.


def test_a_request_that_crashes_the_handler_is_not_sent_twice(bed: RmdBed) -> None:
    node = bed.nodes[0]
    good(bed.workload(**OLD, nodes=[node]))
    before = bed.workloads()
    server_of(bed, 0).faults.inject(Injection("POST", cut="before"))
    mark = bed.fleet.mark()
    result = failed(bed.workload(**NEW, nodes=[node]), "closed without an answer", "not sent again")
    assert result["nodes"][0]["kind"] == "server_panic"
    # The new one once; then the old one.
    assert bed.methods(mark)[node].count("P") == 2
    assert bed.workloads() == before


def test_an_answer_that_was_lost_is_looked_for(bed: RmdBed) -> None:
    node = bed.nodes[0]
    good(bed.workload(**OLD, nodes=[node]))
    server_of(bed, 0).faults.inject(Injection("POST", cut="after"))
    mark = bed.fleet.mark()
    good(bed.workload(**NEW, nodes=[node]))
    assert bed.methods(mark)[node].count("P") == 1
    server_of(bed, 0).faults.inject(Injection("DELETE", cut="after"))
    good(bed.workload(uuid="w", state="absent", nodes=[node]))
    assert bed.workloads()[node] == []


def test_what_was_made_without_an_answer_is_rolled_back_too(bed: RmdBed) -> None:
    """The POST worked, its answer and the look afterwards are lost: nothing of it may stay."""
    good(bed.workload(**OLD))
    before = bed.workloads()
    faults = server_of(bed, 1).faults
    faults.inject(Injection("POST", cut="after"))
    # Two looks and the one after the POST, which is tried four times.
    faults.inject(Injection("GET", path="/workloads", after=2, times=4, status=503, text="busy"))
    failed(bed.workload(**NEW), "rolled back")
    assert bed.workloads() == before


def race(bed: RmdBed, node: str) -> None:
    """Twenty POSTs of one uuid at the same time, by somebody who does not care."""
    server = bed.fleet[node]
    server.faults.enforce_seconds = 0.3
    dialect = server.settings.dialect
    cache = {"max": 1, "min": 1}
    body = {
        "uuid": "w",
        "core_ids": ["1", "2"],
        **({"rdt": {"cache": cache}} if dialect is Dialect.V03 else {"cache": cache}),
    }
    files = bed.client
    context = Material(files.ca.read_text(), files.certificate.read_text(), files.key.read_text()).context()
    address = Address(server.address, server.port, True, server_name(node), node)

    def post() -> None:
        with contextlib.suppress(RmdError):
            Daemon(node, Wire(address, context)).post(body)

    threads = [threading.Thread(target=post) for _number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.faults.enforce_seconds = 0.0


def test_one_uuid_that_is_there_twice_is_made_one(bed: RmdBed) -> None:
    node = bed.nodes[0]
    race(bed, node)
    assert len(bed.workloads()[node]) > 1
    good(bed.workload(**OLD, nodes=[node]))
    (body,) = bed.workloads()[node]
    assert body["uuid"] == "w"
    assert not good(bed.workload(**OLD, nodes=[node]))["changed"]


def by_hand(server: RmdServer, **values: Any) -> None:
    """A record as somebody else's client has made it."""
    made = {"status": "Successful", "cos_name": "COS2", "origin": "REST", "max": 2, "min": 2, **values}
    server.seed(Workload(**made))


def test_a_range_that_somebody_made_is_warned_of(v03: RmdBed) -> None:
    node, server = v03.nodes[0], server_of(v03, 0)
    by_hand(server, uuid="w", core_ids=["1-2"])
    assert not good(v03.workload(**OLD, nodes=[node]))["changed"]
    result = good(v03.workload(**NEW, nodes=[node]))
    assert "which RMD v0.3 does not free when it deletes it" in result["warnings"][0]
    assert v03.workloads()[node][0]["core_ids"] == ["1", "2"]


def test_what_openstack_made_is_not_touched(bed: RmdBed) -> None:
    node, server = bed.nodes[0], server_of(bed, 0)
    by_hand(server, uuid="w", core_ids=["1", "2"], origin="OPENSTACK")
    mark = bed.fleet.mark()
    result = failed(bed.workload(**NEW, nodes=[node]), 'of origin "OPENSTACK"')
    assert result["nodes"][0]["kind"] == "foreign_origin"
    assert "D" not in bed.methods(mark)[node]


def test_a_record_that_failed_is_made_anew(bed: RmdBed) -> None:
    node = bed.nodes[0]
    by_hand(server_of(bed, 0), uuid="w", core_ids=["1", "2"], status="Failed", cos_name="")
    assert good(bed.workload(**OLD, nodes=[node]))["changed"]
    assert [body["status"] for body in bed.workloads()[node]] == ["Successful"]


def test_an_empty_database_is_filled_again(bed: RmdBed) -> None:
    good(bed.workload(workloads=[OLD, OTHER]))
    server_of(bed, 3).restart(empty_database=True)
    server_of(bed, 3).reboot()
    mark = bed.fleet.mark()
    result = good(bed.workload(workloads=[OLD, OTHER]))
    assert outcomes(bed, result) == ["unchanged", "unchanged", "unchanged", "changed", "unchanged"]
    assert {methods for node, methods in bed.methods(mark).items() if node != bed.nodes[3]} == {"G"}


def test_a_post_that_enforces_nothing_is_undone(bed: RmdBed) -> None:
    """As a policy file in YAML makes v0.3 do it: 201, Successful, and no group."""
    node = bed.nodes[0]
    good(bed.workload(**OLD, nodes=[node]))
    before = bed.workloads()
    lie = {**before[node][0], "id": "99", "cos_name": ""}
    server_of(bed, 0).faults.inject(Injection("POST", status=201, text=json.dumps(lie)))
    result = failed(bed.workload(**NEW, nodes=[node]), "but set nothing")
    assert result["nodes"][0]["kind"] == "not_enforced"
    assert bed.workloads() == before


def test_a_write_without_effect_is_noticed(bed: RmdBed) -> None:
    node = bed.nodes[0]
    good(bed.workload(**OLD, nodes=[node]))
    server_of(bed, 0).faults.inject(Injection("DELETE", status=200))
    result = failed(bed.workload(uuid="w", state="absent", nodes=[node]), "w is not as it was asked for")
    assert result["nodes"][0]["kind"] == "no_effect"


# Verified on the node.


def verified(bed: RmdBed, node: str, **params: Any) -> Obj:
    """Post, then compare with what the agent reads in the server's tree."""
    bed.workload(nodes=[node], **params)
    bed.report(node)
    return bed.workload(nodes=[node], verify="resctrl", verify_timeout=0, **params)


def test_a_good_node_is_verified(bed: RmdBed) -> None:
    mark = bed.fleet.mark()
    two_sockets = {"uuid": "w", "core_ids": ["1", "5"], "cache": {"max": 2, "min": 2}}
    assert not good(verified(bed, bed.nodes[0], **two_sockets))["changed"]
    assert bed.methods(mark)[bed.nodes[0]].endswith("G")


def test_the_wrong_socket_is_reported(bed: RmdBed) -> None:
    server_of(bed, 0).faults.wrong_socket = True
    result = failed(verified(bed, bed.nodes[0], **OLD), "workload w has all 11 ways of its cache 0 instead of 2")
    assert result["nodes"][0]["kind"] == "verify"
    assert "workload w restricts cache 1 to 2 ways, and has no core there" in result["msg"]
    server_of(bed, 0).faults.wrong_socket = False
    good(bed.workload(**OLD, nodes=bed.nodes[:1], recreate=True))
    good(verified(bed, bed.nodes[0], **OLD))


def test_nothing_set_is_reported(bed: RmdBed) -> None:
    server_of(bed, 0).faults.silent_noop = True
    result = failed(verified(bed, bed.nodes[0], **OLD))
    assert result["nodes"][0]["kind"] == "verify"


def test_a_ghost_is_reported_and_made_true(bed: RmdBed) -> None:
    """After a restart RMD shows what it has not set again."""
    node, server = bed.nodes[0], server_of(bed, 0)
    good(bed.workload(**OLD, nodes=[node]))
    cos = server.workloads()[0]["cos_name"]
    group = server.node.resctrl.folder / cos  # type: ignore[operator]
    (group / "cpus_list").write_text("\n")
    (group / "schemata").write_text("L3:0=7ff;1=7ff\n")
    bed.report(node)
    failed(bed.workload(**OLD, nodes=[node], verify="resctrl", verify_timeout=0), "recreate: true")


def test_what_a_failed_patch_of_somebody_has_taken_is_reported(v03: RmdBed) -> None:
    """GET still says Successful; the group is gone."""
    node, server = v03.nodes[0], server_of(v03, 0)
    good(v03.workload(**OLD, nodes=[node]))
    server.node.resctrl.remove(server.workloads()[0]["cos_name"])
    v03.report(node)
    failed(v03.workload(**OLD, nodes=[node], verify="resctrl", verify_timeout=0), "has no such group")


def test_memory_bandwidth_is_verified(v03: RmdBed) -> None:
    good(verified(v03, v03.nodes[0], **OLD, mba={"percentage": 50}))


def test_without_an_agent_nothing_is_verified(v03: RmdBed) -> None:
    good(v03.workload(**OLD, nodes=v03.nodes[:1]))
    result = failed(v03.workload(**OLD, nodes=v03.nodes[:1], verify="resctrl", verify_timeout=0))
    assert result["nodes"][0]["kind"] == "unverified"


def test_the_pages_playbook(v03: RmdBed, tmp_path: Path) -> None:
    """docs/admin/rmd-modules.md, on our nodes."""
    page = (REPO / "docs" / "admin" / "rmd-modules.md").read_text()
    text = page.split("```yaml\n")[1].split("```")[0]
    for number, node in enumerate(v03.nodes[:2], start=1):
        text = text.replace(f"worker-node-{number}", node)
    (tmp_path / "cache.yml").write_text(text)
    good(v03.workload(uuid="web", core_ids=["1-3"], cache={"max": 2, "min": 2}, nodes=v03.nodes[:2]))
    for node in v03.nodes[:2]:
        v03.report(node)
    played = v03.runner.play(tmp_path / "cache.yml").unchanged()
    assert f'"msg": "{v03.nodes[0]}: [' in played.output


# Who is trusted.


def test_tls_by_files(v03: RmdBed) -> None:
    files = v03.client
    good(v03.workload(**OLD, rmd_ca=str(files.ca), rmd_cert=str(files.certificate), rmd_key=str(files.key)))


@pytest.mark.parametrize(
    ("spoil", "kind", "words"),
    [
        ("ca", "not_trusted", "the daemon's certificate cannot be verified"),
        ("name", "not_trusted", "certificate is not valid for 'other.example'"),
        ("none", "no_client_certificate", "wants a client certificate, and none was given"),
        ("stranger", "no_client_certificate", "does not accept our client certificate"),
    ],
)
def test_who_is_not_trusted_gets_nothing(v03: RmdBed, spoil: str, kind: str, words: str) -> None:
    files = v03.client
    params: Obj = {"rmd_ca": str(files.ca), "rmd_cert": str(files.certificate), "rmd_key": str(files.key)}
    if spoil == "ca":
        params["rmd_ca"] = str(v03.certificates.clients.certificate_file)
    elif spoil == "name":
        params["tls_server_name"] = "other.example"
    elif spoil == "none":
        params = {"rmd_ca": str(files.ca)}
    else:
        stranger = v03.certificates.client("stranger", authority=v03.certificates.servers)
        params |= {"rmd_cert": str(stranger.certificate), "rmd_key": str(stranger.key)}
    mark = v03.fleet.mark()
    result = failed(v03.workload(**OLD, **params), words)
    assert {entry["kind"] for entry in result["nodes"]} == {kind}
    assert set(v03.methods(mark).values()) == {""}


def test_a_server_without_tls_is_not_spoken_to(v03: RmdBed) -> None:
    server = server_of(v03, 0)
    tls = server.tls
    server.stop()
    server.tls = None
    server.start()
    mark = server.mark()
    try:
        result = failed(v03.workload(**OLD, nodes=v03.nodes[:1]), "speaks no TLS", "nothing is ever sent without TLS")
        assert result["nodes"][0]["kind"] == "no_tls"
        assert server.requests(mark) == []
    finally:
        server.stop()
        server.tls = tls
        server.start()


def test_tls_settings_of_no_use(v03: RmdBed) -> None:
    failed(v03.workload(**OLD, tls_secret="missing"), f"Secret {NAMESPACE}/missing", "there is no such Secret")
    failed(v03.workload(**OLD, rmd_cert=str(v03.client.certificate)), "no CA to trust")


# Which daemon.


def test_nodes_without_a_daemon(v03: RmdBed) -> None:
    (extra,) = v03.cluster.add_nodes(1, profile="cpu-only", prefix="bare")
    v03.cluster.kubectl("label", "node", extra, "bare=yes")
    result = failed(v03.workload(**OLD, nodes=["nowhere", v03.nodes[0]]), "nowhere", "it does not exist")
    assert result["nodes"][0]["kind"] == "no_such_node"
    assert result["nodes"][1]["outcome"] == "withheld"
    v03.cluster.remove_nodes(extra)


def test_a_host_port_that_is_not_there(v03: RmdBed) -> None:
    result = failed(v03.workload(**OLD, nodes=v03.nodes[:1], endpoint="host_port"), "has no hostPort")
    assert result["nodes"][0]["kind"] == "no_daemon"


def test_a_port_forward_that_leads_nowhere(v03: RmdBed) -> None:
    """Simulated nodes have no kubelet that could forward; a real one is asked in tests/integration/kubelet."""
    result = failed(v03.workload(**OLD, nodes=v03.nodes[:1], endpoint="port_forward"), "port-forward to intel-rmd-")
    assert result["nodes"][0]["kind"] == "transport"


def test_the_rights_are_those_of_the_manifest(v03: RmdBed, tmp_path: Path) -> None:
    """Who may only view cannot read the client's Secret, and is told so."""
    with contextlib.suppress(Exception):
        grant(v03.cluster, "viewer", "hardware-enablement-viewer")
    viewer = RmdBed(v03.cluster, Runner(v03.cluster, "viewer", tmp_path), v03.fleet, v03.certificates, v03.client)
    with pytest.raises(Exception, match="secrets"):
        viewer.info()
    files = v03.client
    access = {"rmd_ca": str(files.ca), "rmd_cert": str(files.certificate), "rmd_key": str(files.key)}
    assert all(entry["reachable"] for entry in viewer.info(**access)["nodes"])
    assert good(viewer.workload(check=True, **OLD, **access))["changed"]
    result = failed(
        viewer.workload(**OLD, **access), 'cannot create resource "leases"', "give the run's user this right"
    )
    assert {entry["kind"] for entry in result["nodes"]} == {"api"}
    assert not any(v03.workloads().values())
