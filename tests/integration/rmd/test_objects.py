# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""RmdWorkload objects, as the operator's README has them, made true on two nodes, shown, changed
and removed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster import Cluster
from tests.integration.in_process import Module
from tests.integration.plays import Runner
from tests.integration.rmd import readme
from tests.integration.rmd.examples_page import prints_what_the_page_says
from tests.integration.rmd.objects_bed import ObjectsBed, make_bed
from tests.integration.rmd.readme import (
    CACHE,
    GUARANTEED_CACHE,
    GUARANTEED_CACHE_PSTATE,
    ONE,
    PSTATE,
    TWO,
    a_second_run_is_one_get_and_one_look_for_each_node_and_no_write,
)
from tests.integration.rmd.user_objects import workload
from tests.integration.waiting import PATIENTLY, wait_until
from tests.rmd import Machine, Pools

pytestmark = pytest.mark.rmd


@pytest.fixture(scope="module")
def bed(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectsBed]:
    # The samples want cores 0 to 7, and RMD v0.2 takes those of the operating system back.
    machine = Machine(cpus=12, ways=12)
    pools = Pools(os_cpus="8", guarantee=8, besteffort=2, shared=1)
    with make_bed(
        cluster,
        tmp_path_factory.mktemp("rmd"),
        2,
        plugins=("pstate",),
        machine=machine,
        pools=pools,
    ) as made:
        yield made


def a_first_run_without_objects_brings_the_kinds(bed: ObjectsBed, runner: Runner) -> None:
    assert runner.play("rmd_workloads", "--check").check().changed == 1
    assert runner.play("rmd_workloads").check().changed == 1
    runner.play("rmd_workloads").unchanged()
    assert bed.get("rmdnodestate", f"rmd-node-state-{ONE}")["status"]["reachable"] is True


def the_samples_are_posted_as_the_readme_says(bed: ObjectsBed, reconcile: Module) -> None:
    for sample in (GUARANTEED_CACHE, GUARANTEED_CACHE_PSTATE):
        bed.create(sample)
    mark = bed.fleet.mark()
    assert reconcile.done()["changed"]
    for node in (ONE, TWO):
        posted = [
            entry.json for entry in bed.fleet[node].requests(mark[node]) if entry.status == 201
        ]
        assert posted == [
            {"uuid": CACHE, "core_ids": ["0", "1", "2", "3"], "cache": {"max": 2, "min": 2}},
            {
                "uuid": PSTATE,
                "core_ids": ["4", "5", "6", "7"],
                "cache": {"max": 2, "min": 2},
                "pstate": {"ratio": 3.0, "monitoring": "on"},
            },
        ]


def a_node_state_is_the_readmes(bed: ObjectsBed) -> None:
    """With both examples, of which the second is on both sockets."""
    group = {"L3": "0=c0;1=fff", "MB": "0=100;1=100"}
    status = readme.a_node_state_is_the_readmes(bed, "0_1_2_3-guarantee", **group)
    common = {"Cache Max": "2", "Cache Min": "2", "Origin": "REST", "Status": "Successful"}
    assert status["workloads"][PSTATE] == {
        **common,
        "Core IDs": "4,5,6,7",
        "Cos Name": "4_5_6_7-guarantee",
        "ID": "2",
        "P-State Monitoring": "on",
        "P-State Ratio": "3.000000",
    }
    assert status["groups"]["4_5_6_7-guarantee"]["L3"] == "0=30;1=180"


def nodes_offer_what_workloads_without_a_pod_leave(bed: ObjectsBed) -> None:
    # Eight guaranteed ways on each socket, four of them taken on the first.
    for field in ("capacity", "allocatable"):
        assert bed.get("node", ONE)["status"][field]["intel.com/l3_cache_ways"] == "4"


def check_mode_tells_and_writes_nothing(bed: ObjectsBed, runner: Runner) -> None:
    bed.apply(workload(CACHE, {**GUARANTEED_CACHE["spec"], "cache": {"max": 3, "min": 3}}))
    mark, before, written = bed.fleet.mark(), bed.fleet.dump(), bed.cluster.mark()
    played = runner.play("rmd_workloads", "--check", "--diff").check()
    assert played.changed == 1
    assert f"-workload {CACHE}: core_ids=0-3 cache=max:2/min:2" in played.output
    assert f"+workload {CACHE}: core_ids=0-3 cache=max:3/min:3" in played.output
    assert "+intel.com/l3_cache_ways: 3" in played.output
    told = runner.play("rmd_workloads", "--check").check().output
    assert f"would change node {ONE}:" in told
    assert f"  + workload {CACHE}: core_ids=0-3 cache=max:3/min:3" in told
    assert {method.split()[0] for node in bed.methods(mark).values() for method in node} == {"GET"}
    assert (bed.fleet.dump(), runner.writes(written)) == (before, [])


def a_change_is_made_and_a_node_that_is_no_longer_named_loses_it(
    bed: ObjectsBed, reconcile: Module
) -> None:
    bed.apply(
        workload(CACHE, {**GUARANTEED_CACHE["spec"], "cache": {"max": 3, "min": 3}, "nodes": [ONE]})
    )
    reconcile.done()
    assert (bed.uuids(ONE), bed.uuids(TWO)) == ([CACHE, PSTATE], [PSTATE])
    assert {found["uuid"]: found["cache"] for found in bed.fleet[ONE].workloads()}[CACHE] == {
        "max": 3,
        "min": 3,
    }
    assert set(bed.get("rmdworkload", CACHE)["status"]["workloadStates"]) == {ONE}
    reconcile.unchanged()


def what_a_daemon_lost_is_posted_again(bed: ObjectsBed, reconcile: Module) -> None:
    bed.fleet[ONE].restart(empty_database=True)
    bed.fleet[ONE].reboot()
    assert bed.uuids(ONE) == []
    reconcile.done()
    assert bed.uuids(ONE) == [CACHE, PSTATE]
    reconcile.unchanged()


def what_the_kernel_has_otherwise_is_made_true_and_nothing_else(
    bed: ObjectsBed, reconcile: Module
) -> None:
    ids = {found["uuid"]: found["id"] for found in bed.fleet[ONE].workloads()}
    tree = bed.fleet[ONE].node.resctrl
    tree.set_masks("4_5_6_7-guarantee", {0: 0xE})
    reconcile.done()
    after = {found["uuid"]: found["id"] for found in bed.fleet[ONE].workloads()}
    assert after[CACHE] == ids[CACHE]
    mask = int(str(dict(tree.dump()["4_5_6_7-guarantee"]["L3"])[0]), 16)  # type: ignore[call-overload]
    assert mask.bit_count() == 2
    reconcile.unchanged()


def what_an_agent_does_not_say_is_not_ready(bed: ObjectsBed, reconcile: Module) -> None:
    bed.reports.mute(TWO)
    told = reconcile.failed()
    assert "There is no report of the agent" in told
    verdicts = {
        entry["type"]: (entry["status"], entry["reason"])
        for entry in bed.get("rmdworkload", PSTATE)["status"]["conditions"]
    }
    assert verdicts["Enforced"] == ("Unknown", "NotSeen")
    assert verdicts["Ready"] == ("False", "Unreachable")
    bed.reports.mute(TWO, silent=False)
    reconcile.done()
    assert bed.get("rmdworkload", PSTATE)["status"]["nodes"] == "2/2"


def a_deleted_object_is_held_until_it_is_gone_from_all_nodes(
    bed: ObjectsBed, runner: Runner, reconcile: Module
) -> None:
    bed.fleet[TWO].stop()
    bed.cluster.kubectl("delete", "rmdworkload", PSTATE, "--wait=false")
    played = runner.play("rmd_workloads")
    assert played.code != 0
    assert set(played.error) == {"changed", "msg"}
    assert "worker-node-2" in played.error["msg"]
    assert bed.uuids(ONE) == [CACHE]
    status = bed.get("rmdworkload", PSTATE)["status"]
    assert set(status["workloadStates"]) == {TWO}
    assert status["workloadStates"][TWO]["cosName"] == "4_5_6_7-guarantee"
    state = bed.get("rmdnodestate", f"rmd-node-state-{TWO}")["status"]
    assert (state["reachable"], list(state["workloads"])) == (False, [PSTATE])

    bed.fleet[TWO].start()
    reconcile.done()
    assert bed.uuids(TWO) == []
    assert PSTATE not in bed.cluster.kubectl("get", "rmdworkloads", "-o", "name")
    reconcile.unchanged()


def an_orphan_of_ours_is_swept_and_what_others_made_stays(
    bed: ObjectsBed, reconcile: Module
) -> None:
    stranger = {"id": "77", "uuid": "stranger", "core_ids": ["6"], "cache": {"max": 0, "min": 0}}
    bed.post(ONE, stranger)
    bed.cluster.kubectl(
        "patch", "rmdworkload", CACHE, "--type=merge", "-p", '{"metadata":{"finalizers":null}}'
    )
    bed.cluster.kubectl("delete", "rmdworkload", CACHE)
    assert bed.uuids(ONE) == [CACHE, "stranger"]
    reconcile.done()
    assert bed.uuids(ONE) == ["stranger"]
    reconcile.unchanged()
    bed.fleet[ONE].reboot().restart(empty_database=True)


def names_of_two_namespaces_are_two_workloads_and_one_name_is_refused(
    bed: ObjectsBed, reconcile: Module
) -> None:
    bed.cluster.kubectl("create", "namespace", "team")
    spec = {"cache": {"max": 1, "min": 1}, "nodes": [ONE]}
    bed.create(workload("web", {**spec, "coreIds": ["1"]}))
    bed.create(workload("web", {**spec, "coreIds": ["2"]}, "team"))
    reconcile.done()
    assert bed.uuids(ONE) == ["team.web", "web"]

    wait_until(lambda: bed.age("rmdworkload", "web", "team") > 1, "a second")
    bed.create(workload("team.web", {**spec, "coreIds": ["3"]}))
    played = reconcile.failed()
    assert "the older RmdWorkload team/web" in played
    conditions = {
        entry["type"]: entry for entry in bed.get("rmdworkload", "team.web")["status"]["conditions"]
    }
    assert conditions["Invalid"]["status"] == "True"
    assert bed.uuids(ONE) == ["team.web", "web"]
    # Nothing was ever sent for it, so nothing holds it.
    bed.cluster.kubectl("delete", "rmdworkload", "team.web", PATIENTLY)
    bed.cluster.kubectl("delete", "rmdworkload", "web", "--wait=false")
    bed.cluster.kubectl("delete", "rmdworkload", "web", "-n", "team", "--wait=false")
    reconcile.done()
    assert bed.uuids(ONE) == []


def what_the_operator_left_under_the_bare_name_is_adopted(
    bed: ObjectsBed, reconcile: Module
) -> None:
    bed.post(ONE, {"uuid": "old", "core_ids": ["1"], "cache": {"max": 1, "min": 1}})
    bed.create(
        workload("old", {"coreIds": ["1"], "cache": {"max": 1, "min": 1}, "nodes": [ONE]}, "team")
    )
    mark = bed.fleet.mark()
    reconcile.done()
    assert not [entry for entry in bed.fleet[ONE].requests(mark[ONE]) if entry.method != "GET"]
    assert (
        bed.get("rmdworkload", "old", "team")["status"]["workloadStates"][ONE]["response"]
        == "Success: 200"
    )
    bed.cluster.kubectl("delete", "rmdworkload", "old", "-n", "team", "--wait=false")
    reconcile.done()
    assert bed.uuids(ONE) == []


INVALID = {
    "min-above-max": (
        {"coreIds": ["1"], "cache": {"max": 1, "min": 2}},
        "at most 1 and at least 2 ways",
    ),
    "no-such-core": (
        {"coreIds": ["99"], "cache": {"max": 1, "min": 1}},
        "names core 99, and the node has 0-11",
    ),
    "not-a-core": ({"coreIds": ["x"], "cache": {"max": 1, "min": 1}}, '"x" is no list of CPUs'),
    "no-min": ({"coreIds": ["1"], "cache": {"max": 2}}, "at most 2 and at least 0 ways"),
    "nothing": ({"coreIds": ["1"], "cache": None}, "it asks for nothing"),
    "no-policy": ({"coreIds": ["1"], "policy": "platinum"}, 'the node has no policy "platinum"'),
    "no-number": (
        {"coreIds": ["1"], "cache": {}, "pstate": {"ratio": "fast"}},
        '"fast" is no number',
    ),
}


def what_rmd_would_refuse_is_invalid_and_never_sent_and_does_not_hold_up_the_rest(
    bed: ObjectsBed, reconcile: Module
) -> None:
    for name, (spec, _why) in INVALID.items():
        bed.create(workload(name, {**spec, "nodes": [ONE]}))
    bed.create(workload("good", {"coreIds": ["2"], "cache": {"max": 1, "min": 1}, "nodes": [ONE]}))
    mark = bed.fleet.mark()
    reconcile.failed()
    bodies = [entry.json for entry in bed.fleet[ONE].requests(mark[ONE]) if entry.method == "POST"]
    # The one without a uuid is how the dialect is told.
    assert {body.get("uuid") for body in bodies} == {"good", None}
    for name, (_spec, why) in INVALID.items():
        conditions = {
            entry["type"]: entry for entry in bed.get("rmdworkload", name)["status"]["conditions"]
        }
        assert (conditions["Invalid"]["status"], conditions["Ready"]["status"]) == (
            "True",
            "False",
        ), name
        assert why in conditions["Invalid"]["message"]
        bed.cluster.kubectl("delete", "rmdworkload", name, "--wait=false")
    bed.cluster.kubectl("delete", "rmdworkload", "good", "--wait=false")
    reconcile.done()
    assert bed.uuids(ONE) == []
    assert bed.cluster.kubectl("get", "rmdworkloads", "-A", "-o", "name") == ""


def a_refusal_of_one_node_is_told_and_the_other_has_it(bed: ObjectsBed, reconcile: Module) -> None:
    bed.post(TWO, {"uuid": "stranger", "core_ids": ["2"], "cache": {"max": 1, "min": 1}})
    bed.create(
        workload(
            "shared-core", {"coreIds": ["2"], "cache": {"max": 1, "min": 1}, "nodes": [ONE, TWO]}
        )
    )
    reconcile.failed()
    status = bed.get("rmdworkload", "shared-core")["status"]
    assert status["workloadStates"][ONE]["response"] == "Success: 201"
    assert (
        "core 2 of workload shared-core belongs to workload stranger"
        in status["workloadStates"][TWO]["response"]
    )
    assert status["nodes"] == "1/2"


def a_node_that_has_left_counts_as_removed(bed: ObjectsBed, reconcile: Module) -> None:
    bed.apply(
        workload(
            "shared-core", {"coreIds": ["3"], "cache": {"max": 1, "min": 1}, "nodes": [ONE, TWO]}
        )
    )
    reconcile.done()
    bed.cluster.remove_nodes(TWO)
    bed.cluster.kubectl("delete", "rmdworkload", "shared-core", "--wait=false")
    reconcile.done()
    assert bed.cluster.kubectl("get", "rmdworkloads", "-A", "-o", "name") == ""
    wait_until(
        lambda: TWO not in bed.cluster.kubectl("get", "rmdnodestates", "-o", "name"),
        "the node state's end",
    )
    reconcile.unchanged()


def test_objects_from_the_first_run_to_a_node_that_has_left(
    bed: ObjectsBed, runner: Runner, reconcile: Module
) -> None:
    """One story: each step goes on from the one before."""
    a_first_run_without_objects_brings_the_kinds(bed, runner)
    the_samples_are_posted_as_the_readme_says(bed, reconcile)
    state = "Cos Name: 0_1_2_3-guarantee Enforced: true Id: 1"
    readme.describe_shows_what_the_readme_shows(bed, state)
    prints_what_the_page_says(bed, f"describe rmdworkload {PSTATE}")
    a_node_state_is_the_readmes(bed)
    a_second_run_is_one_get_and_one_look_for_each_node_and_no_write(bed, runner, reconcile)
    nodes_offer_what_workloads_without_a_pod_leave(bed)
    check_mode_tells_and_writes_nothing(bed, runner)
    a_change_is_made_and_a_node_that_is_no_longer_named_loses_it(bed, reconcile)
    what_a_daemon_lost_is_posted_again(bed, reconcile)
    what_the_kernel_has_otherwise_is_made_true_and_nothing_else(bed, reconcile)
    what_an_agent_does_not_say_is_not_ready(bed, reconcile)
    a_deleted_object_is_held_until_it_is_gone_from_all_nodes(bed, runner, reconcile)
    an_orphan_of_ours_is_swept_and_what_others_made_stays(bed, reconcile)
    names_of_two_namespaces_are_two_workloads_and_one_name_is_refused(bed, reconcile)
    what_the_operator_left_under_the_bare_name_is_adopted(bed, reconcile)
    what_rmd_would_refuse_is_invalid_and_never_sent_and_does_not_hold_up_the_rest(bed, reconcile)
    a_refusal_of_one_node_is_told_and_the_other_has_it(bed, reconcile)
    a_node_that_has_left_counts_as_removed(bed, reconcile)
