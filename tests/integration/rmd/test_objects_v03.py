# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of the operator's v0.3 on RMD v0.3, and runs that are killed, kept out, or undone."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.integration.in_process import Module
from tests.integration.plays import REPO, Runner
from tests.integration.rmd import user_objects
from tests.integration.rmd.objects_bed import ObjectsBed, make_bed
from tests.integration.rmd.user_objects import Obj
from tests.integration.waiting import PATIENTLY
from tests.rmd import Dialect, Injection

pytestmark = pytest.mark.rmd

ONE, TWO, THREE = "worker-node-1", "worker-node-2", "worker-node-3"


@pytest.fixture(scope="module")
def bed(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectsBed]:
    with make_bed(
        cluster, tmp_path_factory.mktemp("rmd"), 3, Dialect.V03, plugins=("pstate",)
    ) as made:
        for node in (ONE, TWO, THREE):
            cluster.kubectl("label", "node", node, "pool=fast")
        cluster.kubectl("label", "node", ONE, TWO, "rdt=true")
        cluster.kubectl("apply", "-f", str(REPO / "manifests" / "rmd-crds.yaml"))
        cluster.kubectl(
            "wait", "--for=condition=Established", "crd", "rmdconfigs.intel.com", PATIENTLY
        )
        made.create(
            {
                "apiVersion": "intel.com/v1alpha1",
                "kind": "RmdConfig",
                "metadata": {"name": "rmdconfig", "namespace": "default"},
                "spec": {"rmdNodeSelector": {"rdt": "true"}},
            }
        )
        yield made


def workload(name: str, **spec: Any) -> Obj:
    return user_objects.workload(name, spec)


def everywhere(bed: ObjectsBed) -> dict[str, list[str]]:
    return {node: bed.uuids(node) for node in bed.fleet}


def in_at_most(runs: int, reconcile: Module) -> None:
    """Run until all is in force: RMD v0.3 mistakes sockets."""
    for _run in range(runs - 1):
        if not reconcile.result().get("failed"):
            return
    reconcile.done()


def a_node_that_boots_with_its_database_has_its_cache_after_one_run(
    bed: ObjectsBed, reconcile: Module
) -> None:
    server = bed.fleet[ONE]
    server.reboot()
    assert server.workloads()[0]["status"] == "Successful"
    states = "/apis/intel.com/v1alpha1/namespaces/default/rmdnodestates"
    boot = {"status": {"bootID": "the-one-before"}}
    bed.cluster.api.patch(f"{states}/rmd-node-state-{ONE}/status", boot)
    server.faults.wrong_socket = 0.0
    reconcile.done()
    cos = server.workloads()[0]["cos_name"]
    assert server.node.resctrl.dump()[cos]["cpus_list"] == "1-3"
    state = bed.get("rmdnodestate", f"rmd-node-state-{ONE}")["status"]
    assert state["bootID"] == bed.get("node", ONE)["status"]["nodeInfo"]["bootID"]
    reconcile.unchanged()


def all_cores_of_selected_nodes_but_the_reserved(bed: ObjectsBed, reconcile: Module) -> None:
    spec: dict[str, Any] = {
        "allCores": True,
        "coreIds": ["5"],
        "reservedCoreIds": ["0", "4-7"],
        "nodes": [THREE],
        "nodeSelector": {"pool": "fast"},
        "rdt": {"cache": {"max": 2, "min": 2}, "mba": {"percentage": 50}},
        "plugins": {"pstate": {"ratio": "1.5", "monitoring": "on"}},
    }
    bed.create(workload("all", **spec))
    in_at_most(3, reconcile)
    assert everywhere(bed) == {ONE: ["all"], TWO: ["all"], THREE: []}
    state = bed.get("rmdworkload", "all")["status"]["workloadStates"][ONE]
    # The sockets that RMD mistakes cost ids.
    assert int(state.pop("id")) >= 1
    assert state.pop("cosName").startswith("COS")
    assert state == {
        "response": "Success: 201",
        "status": "Successful",
        "coreIds": ["1", "2", "3"],
        "rdt": {"cache": {"max": 2, "min": 2}, "mba": {"percentage": 50}},
        "plugins": {"pstate": {"ratio": "1.5", "monitoring": "on"}},
        "enforced": True,
    }
    mark = bed.fleet.mark()
    reconcile.unchanged()
    assert bed.methods(mark) == {node: ["GET /v1/workloads"] for node in (ONE, TWO, THREE)}


def a_node_that_loses_the_label_loses_the_workload(bed: ObjectsBed, reconcile: Module) -> None:
    bed.cluster.kubectl("label", "node", TWO, "rdt-")
    reconcile.done()
    assert everywhere(bed) == {ONE: ["all"], TWO: [], THREE: []}
    bed.cluster.kubectl("delete", "rmdworkload", "all", "--wait=false")
    reconcile.done()
    assert everywhere(bed) == {ONE: [], TWO: [], THREE: []}


def a_run_that_is_killed_is_repaired_by_the_next(
    bed: ObjectsBed, runner: Runner, reconcile: Module
) -> None:
    # From here on requests are counted.
    for server in bed.fleet.servers.values():
        server.faults.wrong_socket = 0.0
    nodes = [ONE, TWO, THREE]
    cache = {"cache": {"max": 2, "min": 2}}
    bed.create(workload("web", coreIds=["1"], rdt=cache, nodes=nodes))
    reconcile.done()
    bed.apply(workload("web", coreIds=["1"], rdt={"cache": {"max": 3, "min": 3}}, nodes=nodes))
    bed.apply(workload("new", coreIds=["2"], rdt=cache, nodes=nodes))
    mark = bed.fleet[TWO].mark()
    # The answer to the POST after the DELETE does not come before the run is dead.
    bed.fleet[TWO].faults.inject(Injection("POST", times=1, hang=60))
    killed = runner.start("rmd_workloads")
    bed.fleet[TWO].wait_for(lambda seen: seen.method == "POST", timeout=120, since=mark)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    bed.fleet[TWO].restart()
    assert bed.uuids(TWO) == []
    # Deleted meanwhile, and never told in a status: it is known all the same that this node may
    # have it.
    bed.cluster.kubectl("delete", "rmdworkload", "new", "--wait=false")
    bed.fleet[ONE].stop()
    reconcile.failed()
    assert set(bed.get("rmdworkload", "new")["status"]["workloadStates"]) == {ONE}

    bed.fleet[ONE].start()
    reconcile.done()
    assert everywhere(bed) == {ONE: ["web"], TWO: ["web"], THREE: ["web"]}
    assert all(
        bed.fleet[node].workloads()[0]["rdt"]["cache"] == {"max": 3, "min": 3} for node in nodes
    )
    assert bed.get("rmdworkload", "web")["status"]["nodes"] == "3/3"
    assert "new" not in bed.cluster.kubectl("get", "rmdworkloads", "-o", "name")
    reconcile.unchanged()


def all_nodes_or_none(bed: ObjectsBed, runner: Runner, reconcile: Module) -> None:
    bed.apply(
        workload("web", coreIds=["1"], rdt={"cache": {"max": 1, "min": 1}}, nodes=[ONE, TWO, THREE])
    )
    before = bed.fleet.dump()
    bed.fleet[THREE].faults.inject(
        Injection("POST", times=1, status=500, text="Not enough cache left on cache_id 0")
    )
    played = runner.play("rmd_workloads", hardware_enablement_rmd_on_partial_failure="rollback")
    assert played.code != 0
    assert {
        node: [found["rdt"]["cache"] for found in bed.fleet[node].workloads()] for node in bed.fleet
    } == {
        node: [found["rdt"]["cache"] for found in dump["workloads"]]
        for node, dump in before.items()
    }
    status = bed.get("rmdworkload", "web")["status"]
    assert status["nodes"] == "0/3"
    assert "Not enough cache left" in status["workloadStates"][THREE]["response"]
    reconcile.done()
    assert bed.get("rmdworkload", "web")["status"]["nodes"] == "3/3"


def two_runs_do_not_mix(bed: ObjectsBed, runner: Runner, reconcile: Module) -> None:
    bed.apply(
        workload("web", coreIds=["1"], rdt={"cache": {"max": 2, "min": 2}}, nodes=[ONE, TWO, THREE])
    )
    mark = bed.fleet[ONE].mark()
    bed.fleet[ONE].faults.inject(Injection("POST", times=1, hang=8))
    first = runner.start("rmd_workloads")
    bed.fleet[ONE].wait_for(lambda seen: seen.method == "POST", timeout=120, since=mark)
    # It looks again when the first one is done, and finds nothing to do.
    reconcile.unchanged()
    assert first.wait(timeout=120) == 0
    posts = [entry for entry in bed.fleet[ONE].requests(mark) if entry.method == "POST"]
    assert len(posts) == 1


def test_objects_on_three_nodes_and_runs_that_do_not_end_well(
    bed: ObjectsBed, runner: Runner, reconcile: Module
) -> None:
    """One story: each step goes on from the one before."""
    all_cores_of_selected_nodes_but_the_reserved(bed, reconcile)
    a_node_that_boots_with_its_database_has_its_cache_after_one_run(bed, reconcile)
    a_node_that_loses_the_label_loses_the_workload(bed, reconcile)
    a_run_that_is_killed_is_repaired_by_the_next(bed, runner, reconcile)
    all_nodes_or_none(bed, runner, reconcile)
    two_runs_do_not_mix(bed, runner, reconcile)
