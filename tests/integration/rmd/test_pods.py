# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods that ask for cache ways: the operator's README, and what happens to a pod whose workload is
refused."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.cluster import Cluster
from tests.integration.in_process import Module
from tests.integration.plays import Runner
from tests.integration.rmd.objects_bed import ObjectsBed, make_bed
from tests.integration.rmd.readme import (
    OF_POD,
    POD,
    a_second_run_is_one_get_and_one_look_for_each_node_and_no_write,
    deleting_the_pod_deletes_its_workload,
    guaranteed,
    the_pod_gets_its_workload,
)
from tests.integration.rmd.readme import ONE as NODE
from tests.integration.rmd.user_objects import workload
from tests.integration.waiting import wait_until
from tests.rmd import Injection, Machine

pytestmark = pytest.mark.rmd

FAILURE = "hardware-enablement.io/rmd-failure"


@pytest.fixture(scope="module")
def bed(
    cluster: Cluster, reconcile: Module, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ObjectsBed]:
    with make_bed(cluster, tmp_path_factory.mktemp("rmd"), 1, machine=Machine(cpus=96)) as made:
        # Nodes have to offer ways before pods can ask for them.
        reconcile.done()
        yield made


def events(bed: ObjectsBed, pod: str) -> list[str]:
    """The reasons and messages of a pod's events of ours."""
    found = json.loads(bed.cluster.kubectl("get", "events", "-o", "json"))["items"]
    mine = [event for event in found if event["involvedObject"]["name"] == pod]
    return [event["message"] for event in mine if event["reason"] == "CacheWorkloadFailed"]


def nodes_offer_their_guaranteed_ways(bed: ObjectsBed, reconcile: Module) -> None:
    assert bed.get("node", NODE)["status"]["allocatable"]["intel.com/l3_cache_ways"] == "6"
    reconcile.unchanged()


def the_readmes_pod_gets_its_workload(bed: ObjectsBed, runner: Runner, reconcile: Module) -> None:
    bed.start(NODE, guaranteed(POD, nginx1_cache_min="2"), nginx1="1-2,49")
    form = {"hardware_enablement_rmd_pod_form": "v0.1"}
    played = runner.play("rmd_workloads", "--check", "--diff", **form).check()
    assert OF_POD in played.output
    assert bed.uuids(NODE) == []
    state = {"cosName": "1_2_49-guarantee", "id": "1"}
    the_pod_gets_its_workload(bed, reconcile, ["1", "2", "49"], state)


def a_second_run_writes_nothing_and_what_the_pod_holds_is_still_offered(
    bed: ObjectsBed, runner: Runner, reconcile: Module
) -> None:
    # Also in the other form: what is there is kept.
    a_second_run_is_one_get_and_one_look_for_each_node_and_no_write(bed, runner, reconcile, 1)
    assert bed.get("node", NODE)["status"]["allocatable"]["intel.com/l3_cache_ways"] == "6"


def changed_annotations_are_handed_on(bed: ObjectsBed, reconcile: Module) -> None:
    bed.cluster.kubectl("annotate", "--overwrite", "pod", POD, "nginx1_cache_min=1")
    reconcile.done()
    assert bed.fleet[NODE].workloads()[0]["cache"] == {"max": 2, "min": 1}
    reconcile.unchanged()


def a_finished_pod_has_no_workload_any_more(bed: ObjectsBed, reconcile: Module) -> None:
    bed.start(NODE, guaranteed("job"), nginx1="4-6")
    reconcile.done()
    assert bed.uuids(NODE) == ["job-rmd-workload-nginx1"]
    bed.cluster.kubectl(
        "patch", "pod", "job", "--subresource=status", "-p", '{"status":{"phase":"Succeeded"}}'
    )
    reconcile.done()
    assert bed.uuids(NODE) == []
    reconcile.unchanged()
    bed.cluster.kubectl("delete", "pod", "job")


def a_pod_without_cpus_of_its_own_is_told_so_and_kept(bed: ObjectsBed, reconcile: Module) -> None:
    bed.start(NODE, guaranteed("shares"), other="1-3")
    reconcile.failed(failure_policy="evict")
    assert bed.uuids(NODE) == []
    (message,) = events(bed, "shares")
    assert "its CPU manager has given it none of its own" in message
    assert "deletionTimestamp" not in bed.get("pod", "shares")["metadata"]
    # The same reason is told once.
    reconcile.result()
    assert len(events(bed, "shares")) == 1
    bed.cluster.kubectl("delete", "pod", "shares")


def what_rmd_refuses_is_told_annotated_and_forgotten_when_it_is_well(
    bed: ObjectsBed, reconcile: Module
) -> None:
    bed.start(NODE, guaranteed("refused"), nginx1="1-3")
    bed.fleet[NODE].faults.inject(
        Injection("POST", after=1, status=500, text="Not enough cache left on cache_id 0")
    )
    reconcile.failed(failure_policy="annotate")
    annotations = bed.get("pod", "refused")["metadata"]["annotations"]
    assert "Not enough cache left on cache_id 0" in annotations[FAILURE]
    assert "Not enough cache left on cache_id 0" in events(bed, "refused")[0]
    reconcile.done(failure_policy="annotate")
    assert FAILURE not in bed.get("pod", "refused")["metadata"].get("annotations", {})
    assert bed.uuids(NODE) == ["refused-rmd-workload-nginx1"]
    bed.cluster.kubectl("delete", "pod", "refused")
    reconcile.done()


def eviction_only_of_the_pod_that_owns_the_workload(
    bed: ObjectsBed, runner: Runner, reconcile: Module
) -> None:
    """The operator removed a pod because a workload that somebody had declared had a name like the
    pod's."""
    bed.start(NODE, guaranteed("nginx"), nginx1="1-3")
    reconcile.done()
    spec = {"coreIds": ["2"], "cache": {"max": 1, "min": 1}, "nodes": [NODE]}
    for name in ("rmd-workload-nginx", "nginx"):
        bed.create(workload(name, spec))
    reconcile.failed(failure_policy="evict")
    assert "deletionTimestamp" not in bed.get("pod", "nginx")["metadata"]
    for name in ("rmd-workload-nginx", "nginx"):
        bed.cluster.kubectl("delete", "rmdworkload", name, "--wait=false")

    bed.cluster.kubectl("annotate", "pod", "nginx", "nginx1_cache_min=9")
    bed.cluster.kubectl("label", "pod", "nginx", "app=nginx")
    bed.cluster.kubectl(
        "create", "poddisruptionbudget", "nginx", "--selector=app=nginx", "--min-available=1"
    )
    wait_until(
        lambda: (
            bed.get("poddisruptionbudget", "nginx").get("status", {}).get("currentHealthy") == 1
        ),
        "the budget",
    )
    played = runner.play("rmd_workloads", hardware_enablement_rmd_failure_policy="evict")
    assert played.code != 0
    assert "violate the pod's disruption budget" in played.output, played.output
    assert "deletionTimestamp" not in bed.get("pod", "nginx")["metadata"]
    bed.cluster.kubectl("delete", "poddisruptionbudget", "nginx")
    reconcile.failed(failure_policy="evict")
    assert "at most 2 and at least 9 ways" in events(bed, "nginx")[0]
    wait_until(
        lambda: "pod/nginx" not in bed.cluster.kubectl("get", "pods", "-o", "name"),
        "the eviction",
    )
    wait_until(
        lambda: bed.going("rmdworkload", "nginx-rmd-workload-nginx1"),
        "the garbage collector",
    )
    reconcile.done()
    assert bed.uuids(NODE) == []


def test_pods_and_their_workloads_from_offer_to_eviction(
    bed: ObjectsBed, runner: Runner, reconcile: Module
) -> None:
    """One story: each step goes on from the one before."""
    nodes_offer_their_guaranteed_ways(bed, reconcile)
    the_readmes_pod_gets_its_workload(bed, runner, reconcile)
    a_second_run_writes_nothing_and_what_the_pod_holds_is_still_offered(bed, runner, reconcile)
    changed_annotations_are_handed_on(bed, reconcile)
    deleting_the_pod_deletes_its_workload(bed, reconcile)
    assert bed.uuids(NODE) == []
    a_finished_pod_has_no_workload_any_more(bed, reconcile)
    a_pod_without_cpus_of_its_own_is_told_so_and_kept(bed, reconcile)
    what_rmd_refuses_is_told_annotated_and_forgotten_when_it_is_well(bed, reconcile)
    eviction_only_of_the_pod_that_owns_the_workload(bed, runner, reconcile)
