# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with one pod, in words that a person accepts."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.object_shapes import (
    kept_of,
    named_part,
)
from ansible_collections.hardware.enablement.plugins.module_utils._times import seconds
from ansible_collections.hardware.enablement.plugins.module_utils._verdicts.pod_status import (
    SCHEDULER_PATIENCE_S,
    has_crashed,
    judge,
)
from ansible_collections.hardware.enablement.plugins.module_utils._verdicts.verdict import Outcome
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world

EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"


def lean(pod: dict[str, Any]) -> dict[str, Any]:
    """What a list keeps of it."""
    return {"metadata": pod["metadata"], **named_part(pod, kept_of("v1", "Pod"))}


def running(began: str, unready_since: str) -> dict[str, Any]:
    """A pod whose container runs and is not ready."""
    pod = world.pod("plugin", ready=False)
    pod["status"]["containerStatuses"][0]["state"] = {"running": {"startedAt": began}}
    pod["status"]["conditions"][0]["lastTransitionTime"] = unready_since
    return pod


def test_a_pod_that_was_ready_and_runs_on_is_trouble_since_then() -> None:
    verdict = judge(running(began=EARLY, unready_since=LATE))
    assert (verdict.outcome, verdict.reason, verdict.since) == (
        Outcome.TROUBLE,
        "NoLongerReady",
        seconds(LATE),
    )
    assert "container main runs but is no longer ready" in verdict.message


def test_a_pod_that_starts_slowly_may_still_become_ready() -> None:
    assert judge(running(began=EARLY, unready_since=EARLY)).outcome is Outcome.PENDING
    assert judge(running(began=LATE, unready_since=EARLY)).outcome is Outcome.PENDING


def test_what_the_scheduler_says_about_preemption_is_left_out() -> None:
    pod = world.pod("driver", ready=False)
    text = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {a: b}. "
    tail = "no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful."
    unschedulable = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    for more in (tail, "preemption: not eligible"):
        pod["status"] = {
            "phase": "Pending",
            "conditions": [{**unschedulable, "message": text + more}],
        }
        assert judge(pod).message.endswith("1 node(s) had untolerated taint {a: b}")


def test_a_scheduler_that_says_nothing_of_its_pod_is_named() -> None:
    made = "2026-01-01T00:00:00Z"
    pod = {"metadata": {"name": "p", "creationTimestamp": made}, "spec": {}, "status": {}}
    assert judge(pod).reason == "Pending"
    pod["spec"] = {"schedulerName": "mine"}
    verdict = judge(pod)
    assert (verdict.outcome, verdict.reason) == (Outcome.TROUBLE, "NoScheduler")
    assert "waits for the scheduler mine, which has not looked at it" in verdict.message
    # It may come with the pod, and its image has to be pulled.
    assert verdict.since is not None
    assert verdict.open_until - verdict.since == SCHEDULER_PATIENCE_S
    pod["spec"] = {"schedulerName": "mine", "nodeName": "n1"}
    assert judge(pod).reason == "Pending"


def test_a_pod_that_is_going_is_replaced_however_it_ends() -> None:
    for status in (
        {"phase": "Failed"},
        {
            "containerStatuses": [
                {"name": "main", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
            ]
        },
    ):
        pod = world.pod("daemon", ready=False)
        pod["status"] = status
        assert judge(pod).outcome is Outcome.TROUBLE
        pod["metadata"]["deletionTimestamp"] = LATE
        assert (judge(pod).outcome, judge(pod).reason) == (Outcome.PENDING, "Terminating")


@pytest.mark.parametrize(
    ("why", "restarts", "reason", "says"),
    [
        ("Error", 0, "Error", "exit code 3, 0 restarts"),
        ("OOMKilled", 1, "OOMKilled", "OOMKilled, exit code 3, 1 restarts"),
        ("Error", 2, "CrashLoopBackOff", "exit code 3, 2 restarts"),
        (None, 0, "Error", "exit code 3, 0 restarts"),
    ],
)
def test_a_container_that_has_ended_with_an_error_is_trouble_at_once(
    why: str | None, restarts: int, reason: str, says: str
) -> None:
    """Between two tries the kubelet may say only that, never CrashLoopBackOff."""
    pod = world.pod("driver", ready=False, restarts=restarts)
    ended = {"exitCode": 3, "reason": why, "finishedAt": EARLY}
    pod["status"]["containerStatuses"][0]["state"] = {"terminated": ended}
    verdict = judge(pod)
    # Since when is not told: with a reboot all containers end long before they start again.
    assert (verdict.outcome, verdict.reason, verdict.since) == (Outcome.TROUBLE, reason, None)
    assert verdict.message == f"pod demo/driver-n1 container main: {reason} ({says})"


@pytest.mark.parametrize(
    ("pod", "status", "crashed"),
    [
        ({"waiting": {"reason": "CrashLoopBackOff"}}, {}, True),
        # It was started again, and is not ready yet.
        ({"exit_code": 1}, {}, True),
        ({"exit_code": 1, "ready": True}, {}, False),
        ({"exit_code": 0}, {}, False),
        ({"waiting": {"reason": "ImagePullBackOff"}}, {}, False),
        # Whether it is tried again is for whoever made it to say.
        ({"exit_code": 1}, {"phase": "Failed"}, False),
    ],
)
def test_a_pod_has_crashed_until_it_is_ready_again(
    pod: dict[str, Any], status: dict[str, Any], crashed: bool
) -> None:
    made = world.pod("driver", **{"ready": False, **pod})
    made["status"] |= status
    assert has_crashed(lean(made)) is crashed
    made["metadata"]["deletionTimestamp"] = LATE
    assert has_crashed(lean(made)) is False


SET = "LimitRanger plugin set: cpu, memory request for container main; cpu, memory limit for container {}"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (SET.format("main"), "OOMKilledByLimitRange"),
        (SET.format("other"), "OOMKilled"),
        ("LimitRanger plugin set: cpu limit for container main", "OOMKilled"),
        ("", "OOMKilled"),
    ],
)
@pytest.mark.parametrize("backs_off", [False, True])
def test_who_set_the_limit_that_a_container_was_killed_for_is_in_the_reason(
    said: str, reason: str, backs_off: bool
) -> None:
    """One name, whether the kubelet says so or that it backs off."""
    pod = world.pod("driver", ready=False, restarts=4)
    pod["metadata"]["annotations"] = {"kubernetes.io/limit-ranger": said}
    ended = {"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": EARLY}}
    (status,) = pod["status"]["containerStatuses"]
    waiting = {"waiting": {"reason": "CrashLoopBackOff"}}
    status.update({"state": waiting, "lastState": ended} if backs_off else {"state": ended})
    assert judge(pod).reason == reason


def test_the_end_of_a_pod_that_starts_once_is_for_its_maker_to_judge() -> None:
    """The kubelet says of the pod that it has failed only when all is cleaned up."""
    pod = world.pod("check", ready=False)
    pod["spec"]["restartPolicy"] = "Never"
    pod["status"]["containerStatuses"][0]["state"] = {"terminated": {"exitCode": 3}}
    # As a run that watches thousands of them keeps it.
    pod = lean(pod)
    verdict = judge(pod)
    assert (verdict.outcome, verdict.reason) == (Outcome.PENDING, "Ending")
    assert verdict.message.endswith("container main has ended (exit code 3, 0 restarts)")
    pod["status"]["phase"] = "Failed"
    assert judge(pod).outcome is Outcome.TROUBLE


def test_a_container_that_did_what_it_had_to_is_no_trouble() -> None:
    pod = world.pod("driver", ready=False)
    pod["status"]["initContainerStatuses"] = [
        {"name": "setup", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
    ]
    assert judge(pod).outcome is Outcome.PENDING


def starting(*inits: dict[str, Any], specs: tuple[str, ...] = (), **main: Any) -> dict[str, Any]:
    """A pod whose sandbox is there; specs: init containers that run beside the others."""
    pod = world.pod("driver", ready=False, waiting={"reason": "ContainerCreating"})
    pod["spec"]["initContainers"] = [{"name": each, "restartPolicy": "Always"} for each in specs]
    pod["status"]["conditions"].append({"type": "PodReadyToStartContainers", "status": "True"})
    pod["status"]["initContainerStatuses"] = list(inits)
    pod["status"]["containerStatuses"][0].update({"image": "r.test/driver:1", **main})
    return pod


def test_what_a_pod_with_a_sandbox_waits_for_is_its_image() -> None:
    verdict = judge(starting())
    assert (verdict.outcome, verdict.reason) == (Outcome.PENDING, "Pulling")
    assert verdict.message.endswith("container main: r.test/driver:1 is being pulled")


def test_without_a_sandbox_or_with_the_image_it_waits_for_something_else() -> None:
    assert judge(starting(imageID="sha256:1")).reason == "ContainerCreating"
    pod = starting()
    pod["status"]["conditions"][-1]["status"] = "False"
    assert judge(pod).reason == "ContainerCreating"


def test_an_image_that_cannot_be_pulled_is_trouble() -> None:
    waiting = {"state": {"waiting": {"reason": "ErrImagePull", "message": "no progress"}}}
    assert judge(starting(**waiting)).outcome is Outcome.TROUBLE


@pytest.mark.parametrize(
    ("state", "specs", "reason"),
    [
        ({"waiting": {"reason": "PodInitializing"}}, (), "Pulling"),
        ({"running": {"startedAt": EARLY}}, (), "ContainerCreating"),
        ({"running": {"startedAt": EARLY}}, ("first",), "Pulling"),
        ({"terminated": {"exitCode": 0}}, (), "Pulling"),
    ],
)
def test_an_init_container_that_works_is_no_pull(
    state: dict[str, Any], specs: tuple[str, ...], reason: str
) -> None:
    assert judge(starting({"name": "first", "state": state}, specs=specs)).reason == reason
