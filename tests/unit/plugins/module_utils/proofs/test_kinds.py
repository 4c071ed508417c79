# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What single kinds of proof say."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.object_shapes import (
    with_mismatch,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    ObjectKey,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.catalog import KINDS
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.feeds import Watched
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.kinds.resource_slices import (
    RESOURCE_SLICES,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.proof import Proof
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.queries import (
    QueryResult,
    ReadLogs,
)
from ansible_collections.hardware.enablement.plugins.module_utils._times import timestamp
from ansible_collections.hardware.enablement.plugins.module_utils._verdicts.verdict import (
    Outcome,
    Verdict,
)
from ansible_collections.hardware.enablement.tests.unit.forged_pods import (
    FORGED,
    forged,
    made_by_daemonset,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.proofs.bench import (
    Bench,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.world import (
    NOW,
)

FPGA = "acme.example/fpga"
JOB = ObjectKey("batch/v1", "Job", "demo", "setup")
CONFIG = {"api_version": "v1", "kind": "ConfigMap", "name": "settings"}
CONFIG_MAPS = Watched("v1", "ConfigMap", "demo")
SERVER = {"api_version": "apps/v1", "kind": "Deployment", "name": "server", "match": "^ready"}


@pytest.mark.parametrize(
    ("spec", "offered", "reason"),
    [
        ({"equals": 8}, 8, "Proven"),
        ({"equals": 8}, 3, "NotAdvertised"),
        ({"equals": 2}, 3, "MoreAdvertised"),
        ({"equals": 0}, 0, "Proven"),
        ({"equals": 0}, 1, "MoreAdvertised"),
        ({"at_least": 2}, 3, "Proven"),
        ({"at_least": 0}, 0, "Proven"),
        ({}, 0, "NotAdvertised"),
    ],
)
def test_allocatable(spec: dict[str, int], offered: int, reason: str) -> None:
    bench = Bench("allocatable", {"resource": FPGA, **spec})
    assert bench.observation(allocatable={FPGA: str(offered)}).reason == reason


@pytest.mark.parametrize(
    ("spec", "capacity", "offered", "reason"),
    [
        ({}, {FPGA: 8}, {FPGA: 8}, "Proven"),
        ({}, {FPGA: 8}, {FPGA: 7}, "DevicesUnhealthy"),
        ({"unhealthy_allowed": 1}, {FPGA: 8}, {FPGA: 7}, "Proven"),
        ({"unhealthy_allowed": 1}, {FPGA: 8}, {FPGA: 6}, "DevicesUnhealthy"),
        ({"equals": 7}, {FPGA: 8}, {FPGA: 7}, "DevicesUnhealthy"),
        ({"at_least": 8, "unhealthy_allowed": 1}, {FPGA: 8}, {FPGA: 7}, "NotAllocatable"),
        # What the plugin served before a change of partitions stays as capacity for five minutes.
        (
            {"resource": f"{FPGA}-*"},
            {f"{FPGA}-a": 8, f"{FPGA}-b": 2},
            {f"{FPGA}-a": 0, f"{FPGA}-b": 2},
            "Proven",
        ),
    ],
)
def test_one_of_eight_that_is_unhealthy_is_seen(
    spec: dict[str, Any], capacity: dict[str, int], offered: dict[str, int], reason: str
) -> None:
    bench = Bench("allocatable", {"resource": FPGA, **spec})
    amounts = {
        "capacity": {name: str(count) for name, count in capacity.items()},
        "allocatable": {name: str(count) for name, count in offered.items()},
    }
    assert bench.observation(**amounts).reason == reason


@pytest.mark.parametrize(
    ("spec", "label", "offered", "reason"),
    [
        ({}, "8", 8, "Proven"),
        ({}, "8", 7, "DevicesMissing"),
        ({"unhealthy_allowed": 1}, "8", 7, "Proven"),
        ({"unhealthy_allowed": 1}, "8", 6, "DevicesMissing"),
        # Shared ones.
        ({}, "8", 28, "Proven"),
        # Of those that the plugin knows too few are healthy, and one is unknown to it.
        ({"unhealthy_allowed": 1, "capacity": 7}, "8", 6, "DevicesMissing"),
        ({"counted_by": ""}, "8", 7, "Proven"),
        ({}, "", 7, "Proven"),
        ({}, "many", 7, "Proven"),
    ],
)
def test_one_of_eight_that_the_plugin_does_not_know_is_missed(
    spec: dict[str, Any], label: str, offered: int, reason: str
) -> None:
    given = {"resource": FPGA, "counted_by": "example.com/count", **spec}
    capacity = given.pop("capacity", offered)
    bench = Bench("allocatable", given)
    labels = {"example.com/count": label} if label else {}
    amounts = {"capacity": {FPGA: str(capacity)}, "allocatable": {FPGA: str(offered)}}
    found = bench.observation(labels=labels, **amounts)
    assert found.reason == reason


def resource_slice(
    name: str,
    generation: int,
    devices: int,
    *,
    expected: int = 1,
    driver: str = "dra.acme.example",
    **more: Any,
) -> dict[str, Any]:
    pool = {"name": "p", "generation": generation, "resourceSliceCount": expected}
    spec = {"driver": driver, "nodeName": "n1", "pool": pool, **more}
    spec["devices"] = [{"name": f"d-{index}"} for index in range(devices)]
    return {"metadata": {"name": name}, "spec": spec}


OLD, NEW = resource_slice("a", 1, 3), resource_slice("b", 2, 1, expected=2)


@pytest.mark.parametrize(
    ("slices", "outcome", "reason"),
    [
        ([], Outcome.TROUBLE, "NotPublished"),
        ([OLD], Outcome.PASS, "Proven"),
        (
            [resource_slice("a", 1, 1), resource_slice("b", 1, 1, nodeName="n2")],
            Outcome.TROUBLE,
            "NotPublished",
        ),
        ([resource_slice("a", 1, 3, driver="other")], Outcome.TROUBLE, "NotPublished"),
        # A generation that is not whole yet: neither it nor the one before counts.
        ([OLD, NEW], Outcome.PENDING, "PoolIncomplete"),
        ([OLD, NEW, resource_slice("c", 2, 1, expected=2)], Outcome.PASS, "Proven"),
        ([OLD, resource_slice("b", 2, 1)], Outcome.TROUBLE, "NotPublished"),
    ],
)
def test_devices_count_that_are_published_in_a_whole_generation(
    slices: list[dict[str, Any]], outcome: Outcome, reason: str
) -> None:
    bench = Bench("resource_slices", {"driver": "dra.acme.example", "at_least": 2})
    assert bench.observation(name="n1").reason == "Reading"
    bench.snapshot.feed(RESOURCE_SLICES).put_all(slices)
    verdict = bench.observation(name="n1")
    assert (verdict.outcome, verdict.reason) == (outcome, reason)


@pytest.mark.parametrize(
    ("effect", "reason"),
    [("None", "Proven"), ("NoSchedule", "DevicesTainted"), ("NoExecute", "DevicesTainted")],
)
def test_a_device_that_its_driver_keeps_pods_off_does_not_count(effect: str, reason: str) -> None:
    bench = Bench("resource_slices", {"driver": "dra.acme.example", "at_least": 3})
    tainted = resource_slice("a", 1, 3)
    tainted["spec"]["devices"][0]["taints"] = [{"key": "acme.example/broken", "effect": effect}]
    bench.snapshot.feed(RESOURCE_SLICES).put_all([tainted])
    assert bench.observation(name="n1").reason == reason


@pytest.mark.parametrize(
    ("slices", "said"),
    [
        ([], "publishes 0 devices of the node, wanted at least 4"),
        ([OLD], "publishes 3 devices of the node (ResourceSlices: a), wanted at least 4"),
        ([OLD, NEW], "has 1 of 2 ResourceSlices of its newest generation (ResourceSlices: b)"),
    ],
)
def test_a_message_names_the_slices_that_it_is_about(
    slices: list[dict[str, Any]], said: str
) -> None:
    bench = Bench("resource_slices", {"driver": "dra.acme.example", "at_least": 4})
    bench.snapshot.feed(RESOURCE_SLICES).put_all(slices)
    assert bench.observation(name="n1").message.endswith(said)


def test_only_the_node_whose_slice_has_changed_looks_again() -> None:
    bench = Bench("resource_slices", {"driver": "dra.acme.example"})
    feed = bench.snapshot.feed(RESOURCE_SLICES)
    feed.put_all([OLD])
    assert bench.observation(name="n1").passed
    assert feed.put(resource_slice("z", 1, 1, nodeName="n2")) == set()
    assert feed.put(NEW) == {"n1"}
    assert feed.put(OLD, deleted=True) == {"n1"}
    assert feed.fail("gone") == {"n1"}
    assert bench.observation(name="n1").reason == "Unreadable"


def job(*conditions: dict[str, str], **status: Any) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "setup", "namespace": "demo", "uid": "uid-setup"},
        "status": {"conditions": list(conditions), **status},
    }


def test_a_job_is_ready_when_it_is_complete() -> None:
    bench = Bench("rollout", workloads=(JOB,))
    assert bench.observation().reason == "NotApplied"
    bench.snapshot.put_workload(job(failed=1))
    assert bench.observation(on_node=False) == Verdict(
        Outcome.PENDING, "Progressing", "Job demo/setup is not complete yet, 1 of its pods failed"
    )
    bench.snapshot.put_workload(job({"type": "Complete", "status": "True"}))
    assert bench.observation().passed
    assert bench.observation(on_node=False).passed


def test_a_job_that_gave_up_fails_at_once_with_its_reason_and_last_line() -> None:
    bench = Bench("rollout", workloads=(JOB,))
    bench.snapshot.put_workload(
        job(
            {
                "type": "Failed",
                "status": "True",
                "reason": "BackoffLimitExceeded",
                "message": "limit reached",
            }
        )
    )
    assert (
        bench.observation().message == "Job demo/setup failed: BackoffLimitExceeded: limit reached"
    )
    failed = world.pod("state", ready=False, exit_code=2)
    failed["metadata"]["ownerReferences"] = [{"uid": "uid-setup", "controller": True}]
    failed["status"]["phase"] = "Failed"
    bench.snapshot.put_pod(failed)
    bench.observation()
    (question,) = bench.wants
    bench.snapshot.answers[question] = QueryResult("starting\nno licence\n", NOW)

    verdict = bench.observation()

    assert (verdict.outcome, verdict.reason, verdict.heals) == (Outcome.TROUBLE, "JobFailed", False)
    assert verdict.message.endswith("limit reached: no licence")


def test_a_job_whose_pod_cannot_start_is_in_trouble() -> None:
    bench = Bench("rollout", workloads=(JOB,))
    bench.snapshot.put_workload(job(active=1))
    pod = world.pod("state", ready=False, waiting={"reason": "ImagePullBackOff"})
    pod["metadata"]["ownerReferences"] = [{"uid": "uid-setup", "controller": True}]
    bench.snapshot.put_pod(pod)
    assert (bench.observation().outcome, bench.observation().reason) == (
        Outcome.TROUBLE,
        "ImagePullBackOff",
    )


def deployment(available: int) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "server", "namespace": "demo", "uid": "uid-server", "generation": 1},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "server"}}},
        "status": {"observedGeneration": 1, "updatedReplicas": 1, "availableReplicas": available},
    }


def test_a_deployment_whose_newest_pod_crashes_is_in_trouble() -> None:
    key = ObjectKey("apps/v1", "Deployment", "demo", "server")
    bench = Bench("rollout", workloads=(key,))
    bench.snapshot.put_workload(deployment(available=0))
    assert bench.observation(on_node=False).reason == "Progressing"
    pod = world.pod(
        "state", ready=False, waiting={"reason": "CrashLoopBackOff"}, restarts=2, exit_code=3
    )
    owner = {"kind": "ReplicaSet", "name": "server-5d8f", "uid": "rs", "controller": True}
    pod["metadata"]["labels"]["pod-template-hash"] = "5d8f"
    pod["metadata"]["ownerReferences"] = [owner]
    pod["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    bench.snapshot.put_pod(pod)
    assert (bench.observation(on_node=False).outcome, bench.wants) == (
        Outcome.TROUBLE,
        [ReadLogs("demo", "state-n1", "pod-state-n1", "main", 20, True)],
    )
    newer = world.pod("state", node_name="n2", ready=False)
    newer["metadata"] |= {
        "labels": pod["metadata"]["labels"],
        "ownerReferences": [owner],
        "creationTimestamp": "2026-01-02T00:00:00Z",
    }
    bench.snapshot.put_pod(newer)
    assert bench.observation(on_node=False).reason == "Progressing"
    newer["status"]["containerStatuses"][0]["state"] = {"waiting": {"reason": "ContainerCreating"}}
    newer["status"]["conditions"].append({"type": "PodReadyToStartContainers", "status": "True"})
    assert bench.observation(on_node=False).reason == "Pulling"
    bench.snapshot.put_workload(deployment(available=1))
    assert bench.observation(on_node=False).passed


def test_a_container_that_starts_for_long_says_what_it_does_and_again_later() -> None:
    bench = Bench("rollout", deployed=True)
    bench.snapshot.put_workload(world.daemonset("state"))
    pod = world.pod("state", ready=False)
    (container,) = pod["status"]["containerStatuses"]
    container["state"]["running"]["startedAt"] = timestamp(NOW)
    bench.snapshot.put_pod(pod)
    assert (bench.observation(after=24).message, bench.wants) == (
        "pod demo/state-n1 is not ready yet",
        [],
    )
    question = ReadLogs(world.NAMESPACE, "state-n1", "pod-state-n1", "main", 20)
    assert (bench.observation(after=25).outcome, bench.wants) == (Outcome.PENDING, [question])
    bench.snapshot.answers[question] = QueryResult("waiting for its firmware\n", NOW + 25)
    verdict = bench.observation(after=54)
    assert (verdict.message, verdict.outcome, bench.wants) == (
        "pod demo/state-n1 is not ready yet: waiting for its firmware",
        Outcome.PENDING,
        [],
    )
    bench.observation(after=55)
    assert bench.wants == [question]
    container["state"] = {"waiting": {"reason": "ContainerCreating"}}
    assert (bench.observation(after=55).reason, bench.wants) == ("ContainerCreating", [])


@pytest.mark.parametrize(("restarts", "asked"), [(1, False), (2, True)])
def test_a_container_that_keeps_ending_says_why_while_it_tries_again(
    restarts: int, asked: bool
) -> None:
    """Once is what a reboot of the node does to all containers: nobody reads all their logs."""
    bench = Bench("rollout", deployed=True)
    bench.snapshot.put_workload(world.daemonset("state"))
    bench.snapshot.put_pod(world.pod("state", ready=False, restarts=restarts, exit_code=1))
    verdict = bench.observation()
    assert (verdict.outcome, verdict.reason) == (Outcome.PENDING, "Restarted")
    questions = [each for each in bench.wants if isinstance(each, ReadLogs)]
    assert questions == (
        [ReadLogs(world.NAMESPACE, "state-n1", "pod-state-n1", "main", 20, True)] if asked else []
    )
    if asked:
        bench.snapshot.answers[questions[0]] = QueryResult("driver is in use\n", NOW)
        assert bench.observation().message.endswith("exit code 1: driver is in use")


@pytest.mark.parametrize("how", FORGED)
def test_a_pod_that_only_has_the_labels_of_a_state_proves_nothing(how: str) -> None:
    bench = Bench("rollout", deployed=True)
    bench.snapshot.put_workload(world.daemonset("state"))
    own = made_by_daemonset(world.pod("state"), "state", "default", "uid-state")
    bench.snapshot.put_pod(forged(own, how))
    assert bench.observation().reason == "NoPod"
    bench.snapshot.put_pod(own)
    assert bench.observation().passed


def test_the_value_of_a_secret_is_not_told() -> None:
    bench = Bench(
        "resource", {**CONFIG, "kind": "Secret", "field": {"path": "data.key", "equals": "YQ=="}}
    )
    secret = {"metadata": {"name": "settings"}, "data": {"key": "c2VjcmV0"}}
    bench.snapshot.feed(Watched("v1", "Secret", "demo")).put_all([secret])
    verdict = bench.observation()
    assert verdict.reason == "FieldDiffers"
    assert "c2VjcmV0" not in verdict.message


@pytest.mark.parametrize(
    ("equals", "value", "passed"),
    [
        ("16", 16, True),
        ("16", 17, False),
        ("16", "16", True),
        ("True", True, True),
        ("true", False, False),
        (16, "16", False),
    ],
)
def test_a_text_stands_for_the_number_that_it_writes(
    equals: object, value: object, passed: bool
) -> None:
    bench = Bench("resource", {**CONFIG, "field": {"path": "status.functions", "equals": equals}})
    bench.snapshot.feed(CONFIG_MAPS).put_all(
        [{"metadata": {"name": "settings"}, "status": {"functions": value}}]
    )
    assert bench.observation().passed is passed


@pytest.mark.parametrize(
    ("path", "passed"),
    [
        ("attributes[name=policy].value", True),
        ("attributes.1.value", True),
        ("attributes[name=scope].value", False),
        ("attributes[name=none].value", False),
        ("attributes[value=single].name.x", False),
        ("data[name=policy]", False),
        ("attributes.7.value", False),
    ],
)
def test_an_item_of_a_list_is_named_by_number_or_by_a_keys_value(path: str, passed: bool) -> None:
    bench = Bench("resource", {**CONFIG, "field": {"path": path, "equals": "single"}})
    attributes = [{"name": "scope", "value": "pod"}, {"name": "policy", "value": "single"}]
    found = {"metadata": {"name": "settings"}, "attributes": attributes, "data": {"name": "policy"}}
    bench.snapshot.feed(CONFIG_MAPS).put_all([found])
    assert bench.observation().passed is passed


def test_a_resource_is_read_from_what_is_watched() -> None:
    bench = Bench("resource", {**CONFIG, "field": {"path": "data.mode", "equals": "fast"}})
    feed = bench.snapshot.feed(CONFIG_MAPS)
    assert bench.observation().reason == "Reading"
    feed.put_all([])
    assert bench.observation().reason == "NotFound"
    feed.put({"metadata": {"name": "settings"}, "data": {"mode": "slow"}})
    assert bench.observation().reason == "FieldDiffers"
    feed.put({"metadata": {"name": "settings"}, "data": {"mode": "fast"}})
    assert bench.observation().passed
    feed.fail("forbidden")
    assert bench.observation().reason == "Unreadable"
    assert bench.wants == []


def test_an_object_of_other_types_is_unknown_and_its_kind_is_read() -> None:
    bench = Bench("resource", CONFIG)
    odd = with_mismatch({"metadata": {"name": "settings"}}, "spec is text, where a mapping is due")
    bench.snapshot.feed(CONFIG_MAPS).put_all([odd])
    seen = bench.observation()
    assert seen.reason == "Unreadable"
    assert "ConfigMap settings cannot be read: spec is text, where a mapping is due" in seen.message
    bench.snapshot.feed(CONFIG_MAPS).put_all([odd, {"metadata": {"name": "other"}}])
    assert bench.snapshot.feed(CONFIG_MAPS).error == ""


def test_what_was_seen_stays_valid_while_all_is_told_again() -> None:
    bench = Bench("resource", CONFIG)
    feed = bench.snapshot.feed(CONFIG_MAPS)
    feed.put_all([{"metadata": {"name": "settings"}}])
    feed.begin()
    assert bench.observation().passed
    feed.end()
    assert bench.observation().reason == "NotFound"


def test_a_change_concerns_those_who_looked_at_the_object() -> None:
    bench = Bench("resource", CONFIG)
    feed = bench.snapshot.feed(CONFIG_MAPS)
    bench.observation(name="n1")
    bench.observation(on_node=False)
    assert feed.put({"metadata": {"name": "settings"}}) == {"n1", ""}
    assert feed.put({"metadata": {"name": "another"}}) == set()


def server_pod(name: str, node: str = "n1", phase: str = "Running") -> dict[str, Any]:
    metadata = {
        "name": name,
        "namespace": "demo",
        "uid": f"uid-{name}",
        "labels": {"app": "server"},
    }
    return {"metadata": metadata, "spec": {"nodeName": node}, "status": {"phase": phase}}


def log_of(name: str, tail: int = 50) -> ReadLogs:
    return ReadLogs("demo", name, f"uid-{name}", None, tail)


def server_bench(**spec: Any) -> Bench:
    bench = Bench("logs", {**SERVER, **spec})
    server = {
        "metadata": {"name": "server"},
        "spec": {"selector": {"matchLabels": {"app": "server"}}},
    }
    bench.snapshot.feed(Watched("apps/v1", "Deployment", "demo")).put_all([server])
    bench.snapshot.feed(Watched("v1", "Pod", "demo")).put_all(
        [server_pod("a"), server_pod("b", node="n2"), server_pod("old", phase="Failed")]
    )
    return bench


def test_the_logs_of_a_deployment() -> None:
    bench = server_bench()
    assert bench.observation(on_node=False).reason == "ReadingLogs"
    assert bench.wants == [log_of("a")]
    bench.snapshot.answers |= {
        log_of("a"): QueryResult("ready", NOW),
        log_of("b"): QueryResult("starting", NOW),
    }
    assert bench.observation(on_node=False).reason == "LogMismatch"
    bench.snapshot.answers[log_of("b")] = QueryResult("ready", NOW)
    assert bench.observation(on_node=False).passed


def test_a_pod_that_has_not_started_has_no_log_that_could_be_refused() -> None:
    bench = server_bench()
    for pod in bench.snapshot.feed(Watched("v1", "Pod", "demo")).objects.values():
        pod["status"] = {"phase": "Pending"}
    verdict = bench.observation(on_node=False)
    assert (verdict.outcome, verdict.reason) == (Outcome.PENDING, "ReadingLogs")
    assert bench.wants == []


def test_the_logs_of_a_node_are_those_of_its_own_pods() -> None:
    bench = server_bench(scope="node")
    bench.snapshot.answers[log_of("b")] = QueryResult("ready", NOW)
    assert bench.observation(name="n2").passed
    assert bench.observation(name="n1").reason == "ReadingLogs"
    assert bench.observation(name="n3").reason == "NoPod"


def test_an_old_answer_stays_valid_while_the_next_is_read() -> None:
    bench = server_bench()
    bench.snapshot.answers |= {
        log_of("a"): QueryResult("ready", NOW),
        log_of("b"): QueryResult("ready", NOW),
    }
    assert bench.observation(on_node=False, after=60).passed
    assert bench.wants == [log_of("a"), log_of("b")]


def test_without_its_deployment_there_are_no_logs() -> None:
    bench = server_bench(name="other")
    assert bench.observation(on_node=False).reason == "NotFound"


def test_pods_that_may_not_be_listed_are_no_missing_pods() -> None:
    bench = server_bench()
    bench.snapshot.feed(Watched("v1", "Pod", "demo")).fail("forbidden")
    verdict = bench.observation(on_node=False)
    assert (verdict.outcome, verdict.message) == (
        Outcome.BLOCKED,
        "the pods in demo cannot be read: forbidden",
    )


def test_the_newest_build_of_a_buildconfig_counts() -> None:
    bench = Bench("build", {"name": "kmod"})
    configs = bench.snapshot.feed(Watched("build.openshift.io/v1", "BuildConfig", "demo"))
    builds = bench.snapshot.feed(Watched("build.openshift.io/v1", "Build", "demo"))

    def seen(number: int, **phases: str) -> tuple[str, bool]:
        configs.put_all([{"metadata": {"name": "kmod"}, "status": {"lastVersion": number}}])
        builds.put_all(
            [
                {
                    "metadata": {"name": name.replace("_", "-")},
                    "status": {"phase": phase, "message": "no space left"},
                }
                for name, phase in phases.items()
            ]
        )
        verdict = bench.observation(on_node=False)
        return verdict.reason, verdict.passed

    assert seen(0) == ("NotBuilt", False)
    assert seen(2, kmod_1="Complete") == ("NotBuilt", False)
    assert seen(2, kmod_1="Complete", kmod_2="Running") == ("Building", False)
    assert seen(2, kmod_1="Failed", kmod_2="Complete")[1]
    assert seen(2, kmod_1="Complete", kmod_2="Failed") == ("BuildFailed", False)
    failed = bench.observation(on_node=False)
    assert not failed.heals
    assert failed.message == "build kmod-2 is Failed: no space left"


@pytest.mark.parametrize(
    ("settings", "nodes", "at_once"),
    [({}, 3, 50), ({}, 509, 50), ({}, 5000, 500), ({"parallel": 1}, 5000, 1)],
)
def test_a_share_of_the_nodes_runs_validation_pods_at_once(
    settings: dict[str, int], nodes: int, at_once: int
) -> None:
    pod = KINDS["workload"].pod_of(Proof("workload", {"pod": "pod.yaml.j2", **settings}))
    assert pod
    assert pod.at_once(nodes) == at_once


def test_the_pull_of_an_image_is_no_time_of_a_validation_pod() -> None:
    bench = Bench("workload", {"pod": "pod.yaml.j2", "timeout": 100}, slots=1)
    bench.observation()
    pod = world.validator(bench.wants[0].name, "state", phase="Pending")
    pod["metadata"]["creationTimestamp"] = timestamp(NOW)
    waiting = {"name": "look", "state": {"waiting": {"reason": "ContainerCreating"}}}
    sandbox = {"type": "PodReadyToStartContainers", "status": "True"}
    pod["status"] |= {"conditions": [sandbox], "containerStatuses": [waiting]}
    bench.snapshot.put_pod(pod)
    assert bench.observation(after=400).reason == "Pulling"
    running = {"name": "look", "state": {"running": {"startedAt": timestamp(NOW + 400)}}}
    pod["status"]["containerStatuses"] = [running]
    bench.snapshot.put_pod(pod)
    assert bench.observation(after=499).outcome is Outcome.PENDING
    assert bench.observation(after=501).reason == "ValidationTimeout"
