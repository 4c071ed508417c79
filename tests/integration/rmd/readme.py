# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples in the README of Intel's operator, and what it shows of them: the same on both back
ends, but for what these call a group."""

from __future__ import annotations

import itertools
from typing import Any

from tests.integration.in_process import Module
from tests.integration.plays import Runner
from tests.integration.rmd.examples_page import prints_what_the_page_says
from tests.integration.rmd.user_objects import Obj, UserObjects, workload
from tests.integration.waiting import wait_until

ONE, TWO = NODES = ["worker-node-1", "worker-node-2"]
CACHE = "rmdworkload-guaranteed-cache"
PSTATE = "rmdworkload-guaranteed-cache-pstate"
POD = "guaranteed-cache-pod-86676"
OF_POD = f"rmd-workload-{POD}"

# samples/rmd-workload-guaranteed-cache.yaml and samples/rmd-workload-guaranteed-cache-pstate.yaml
GUARANTEED_CACHE = workload(
    CACHE, {"coreIds": ["0", "1", "2", "3"], "cache": {"max": 2, "min": 2}, "nodes": NODES}
)
GUARANTEED_CACHE_PSTATE = workload(
    PSTATE,
    {
        "coreIds": ["4", "5", "6", "7"],
        "cache": {"max": 2, "min": 2},
        "pstate": {"ratio": "3.0", "monitoring": "on"},
        "nodes": NODES,
    },
)


def guaranteed(name: str, **annotations: str) -> Obj:
    """samples/pod-guaranteed-cache.yaml, on the first node."""
    amounts = {"memory": "64Mi", "cpu": 3, "intel.com/l3_cache_ways": 2}
    container = {
        "name": "nginx1",
        "image": "nginx",
        "resources": {"requests": amounts, "limits": amounts},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": {"name": "nginx"},
            "annotations": annotations,
        },
        "spec": {"nodeName": ONE, "containers": [container]},
    }


def describe_shows_what_the_readme_shows(bed: UserObjects, state: str) -> None:
    """state: how it stands on each node, but for what it does so everywhere."""
    assert bed.get("rmdworkload", CACHE)["spec"] == GUARANTEED_CACHE["spec"]
    for words in ("get rmdworkloads", f"describe rmdworkload {CACHE}"):
        prints_what_the_page_says(bed, words)
    described = bed.cluster.kubectl("describe", "rmdworkload", CACHE)
    assert _section(described, "Spec:") == (
        "Cache: Max: 2 Min: 2 Core Ids: 0 1 2 3 Nodes: worker-node-1 worker-node-2"
    )
    node = f"{state} Response: Success: 201 Status: Successful"
    _before, _title, shown = _section(described, "Status:").partition("Workload States: ")
    assert shown == f"worker-node-1: {node} worker-node-2: {node}"
    conditions = bed.get("rmdworkload", CACHE)["status"]["conditions"]
    assert {entry["type"]: entry["status"] for entry in conditions} == {
        "Ready": "True",
        "Enforced": "True",
        "Degraded": "False",
        "Invalid": "False",
    }


def a_node_state_is_the_readmes(bed: UserObjects, cos: str, **group: str) -> Obj:
    """group: what the kernel has of it, but for its CPUs. Its status, for more."""
    for words in ("get rmdnodestates", f"describe rmdnodestate rmd-node-state-{ONE}"):
        prints_what_the_page_says(bed, words)
    state, node = (
        bed.get(*each) for each in (("rmdnodestate", f"rmd-node-state-{ONE}"), ("node", ONE))
    )
    assert (state["spec"]["node"], state["spec"]["nodeUid"]) == (ONE, node["metadata"]["uid"])
    row = {"Cache Max": "2", "Cache Min": "2", "Core IDs": "0,1,2,3", "Cos Name": cos}
    row["Status"] = "Successful"
    status: Obj = state["status"]
    assert row.items() <= status["workloads"][CACHE].items()
    assert status["groups"][cos] == {"CPUs": "0-3", **group}
    assert status["bootID"] == node["status"]["nodeInfo"]["bootID"]
    return status


def a_second_run_is_one_get_and_one_look_for_each_node_and_no_write(
    bed: UserObjects, runner: Runner, reconcile: Module, nodes: int = 2
) -> None:
    mark = bed.cluster.mark()
    result = reconcile.done()
    assert (result["changed"], result["requests"]) == (False, {"GET": nodes})
    assert runner.writes(mark) == []
    logs = [
        event
        for event in bed.cluster.audit(user=runner.user, since=mark)
        if event["requestURI"].partition("?")[0].endswith("/log")
        and event["stage"] == "ResponseComplete"
    ]
    assert len(logs) == nodes


def the_pod_gets_its_workload(
    bed: UserObjects, reconcile: Module, cores: list[str], state: dict[str, Any]
) -> None:
    """state: as above, of the pod's node."""
    reconcile.done(pod_form="v0.1")
    prints_what_the_page_says(bed, f"describe rmdworkload {OF_POD}")
    found = bed.get("rmdworkload", OF_POD)
    assert found["spec"] == {"cache": {"max": 2, "min": 2}, "coreIds": cores, "nodes": [ONE]}
    assert found["status"]["workloadStates"] == {
        ONE: {**state, "enforced": True, "response": "Success: 201", "status": "Successful"}
    }
    uid = bed.get("pod", POD)["metadata"]["uid"]
    assert found["metadata"]["ownerReferences"][0]["uid"] == uid


def deleting_the_pod_deletes_its_workload(bed: UserObjects, reconcile: Module) -> None:
    bed.cluster.kubectl("delete", "pod", POD)
    wait_until(lambda: bed.going("rmdworkload", OF_POD), "the garbage collector")
    reconcile.done()
    assert OF_POD not in bed.cluster.kubectl("get", "rmdworkloads", "-o", "name")
    reconcile.unchanged()


def _section(described: str, title: str) -> str:
    """The words of one section of what `kubectl describe` shows."""
    rest = described.split(f"\n{title}\n")[1].splitlines()
    inside = itertools.takewhile(lambda line: line.startswith(" "), rest)
    return " ".join(word for line in inside for word in line.split())
